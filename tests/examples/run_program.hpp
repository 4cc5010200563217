#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Runs an example program as a shell would, and judges what came of it.
namespace cairn::test {

struct Outcome {
    int exit_code = -1;  ///< -1 where a signal ended it
    int signal = 0;
    std::string out, err;
};

/// What the program's standard output is.
enum class Output {
    kept,        ///< a file, read at the end
    first_line,  ///< a pipe whose reader leaves after one line
    full_disk,   ///< a device without room
};

struct RunOptions {
    std::string input{};  ///< standard input
    Output output = Output::kept;
    bool ignores_sigpipe = false;  ///< the disposition that the program inherits
};

/// The user's cache folder is an empty one for each run.
Outcome run(const std::string& program, const std::vector<std::string>& arguments, const RunOptions& options = {});

/// Exit code 2, one sentence on standard error that holds each of `words`, and `out` on standard output.
testing::AssertionResult refuses(const Outcome& outcome, const std::vector<std::string>& words,
                                 std::string_view out = "");

/// Exit code 0 without a word on standard error but for the lines `noise`.
testing::AssertionResult succeeds(const Outcome& outcome, std::string_view noise = "");

std::string read_file(const std::filesystem::path& path);

/// Without the newlines.
std::vector<std::string> lines_of(const std::string& text);

bool is_utf8(std::string_view text);

}  // namespace cairn::test
