#include "device/cpu/tile_permission.hpp"

#include "device/cpu/cpu_features.hpp"
#include "tests/device/in_child.hpp"

#include <gtest/gtest.h>

#if defined(__x86_64__) && defined(__linux__)
#include <signal.h>

#include <array>
#include <string>
#endif

namespace cairn::device {
namespace {

#if defined(__x86_64__) && defined(__linux__)
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
