#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Runs an example program as a child process and checks its exit code and output.
namespace cairn::test {

struct Outcome {
    int exit_code = -1;  ///< -1 if a signal ended the program
    int signal = 0;
    std::string out, err;
};

/// Kind of the program's standard output.
enum class Output {
    kept,        ///< a file, read at the end
    first_line,  ///< a pipe that the reader closes after one line
    full_disk,   ///< /dev/full
};

struct RunOptions {
    std::string input{};  ///< contents of standard input
    Output output = Output::kept;
    bool ignores_sigpipe = false;  ///< the program inherits SIGPIPE as ignored
    std::vector<std::string> variables{};  ///< of the environment, `name=value`, in place of those of this process
};

/// Runs the program to its end with an empty user cache folder.
Outcome run(const std::string& program, const std::vector<std::string>& arguments, const RunOptions& options = {});

/// Expects exit code 2, one line on standard error that contains each of `words`, and `out` on standard output.
testing::AssertionResult refuses(const Outcome& outcome, const std::vector<std::string>& words,
                                 std::string_view out = "");

/// Expects exit code 0 and `noise` on standard error.
testing::AssertionResult succeeds(const Outcome& outcome, std::string_view noise = "");

std::string read_file(const std::filesystem::path& path);

/// The lines of a text, without newlines.
std::vector<std::string> lines_of(const std::string& text);

bool is_utf8(std::string_view text);

}  // namespace cairn::test
