#include "device/cpu/tile_permission.hpp"

#include "device/cpu/cpu_features.hpp"

#include <gtest/gtest.h>

#if defined(__x86_64__) && defined(__linux__)
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#endif

namespace cairn::device {
namespace {

#if defined(__x86_64__) && defined(__linux__)
/// Calls f in a child process, and returns what it returns.
template <typename F>
std::string in_child(F f) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        const std::string text = f();
        const bool is_written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
        _exit(is_written ? 0 : 1);
    }
    close(ends[1]);
    std::string text(1000, ' ');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(read(ends[0], text.data(), text.size()), 0)));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    return text;
}

// Each in a process of its own, since a permission lasts until the process ends.
TEST(TilePermission, IsRefusedWithAReasonWhereASignalStackIsTooSmall) {
    static std::array<char, 8192> small;
    const std::string refusal = in_child([] {
        stack_t stack{};
        stack.ss_sp = small.data();
        stack.ss_size = small.size();
        return sigaltstack(&stack, nullptr) == 0 ? request_tiles() : std::string("no such stack");
    });
    const std::string granted = in_child([] { return request_tiles() + request_tiles(); });
    const bool has_tiles = detect_features().has(Feature::amx_tile);
    EXPECT_EQ(granted.empty(), has_tiles) << granted;
    EXPECT_EQ(refusal.find("the operating system refuses the tile registers: "), 0u) << refusal;
    EXPECT_EQ(refusal.find("signal stack") != refusal.npos, has_tiles) << refusal;
}
#endif

}  // namespace
}  // namespace cairn::device
