#pragma once

#include <gtest/gtest.h>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <functional>
#include <string>

namespace cairn::device {

/// The text that a function returns in a child process; "no text" if the child does not get so far.
inline std::string in_child(const std::function<std::string()>& work) {
    std::array<int, 2> ends = {-1, -1};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        const std::string text = work();
        const bool is_written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
        _exit(is_written ? 0 : 1);
    }
    close(ends[1]);
    std::string text(4096, '\0');
    const ssize_t bytes = read(ends[0], text.data(), text.size());
    close(ends[0]);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || bytes < 0) return "no text";
    text.resize(static_cast<std::size_t>(bytes));
    return text;
}

}  // namespace cairn::device
