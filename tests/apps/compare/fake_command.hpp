#pragma once

#include "apps/compare/settings.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

namespace cairn::test {

/// Ignores SIGPIPE, as the command does, during a test.
class IgnoresSigpipe : public testing::Test {
protected:
    void SetUp() override { before_ = std::signal(SIGPIPE, SIG_IGN); }
    void TearDown() override { std::signal(SIGPIPE, before_); }

private:
    void (*before_)(int) = SIG_DFL;
};

/// The command of a shell or Python script that is written into a folder.
inline std::vector<std::string> shell_script(const std::string& text) { return {"sh", "-c", text}; }
inline std::vector<std::string> python_script(const TempFolder& folder, const std::string& text) {
    return {"python3", folder.write("command.py", text).string()};
}

/// A Python program that reads requests and prints `reply`, an expression of `request`, for each.
inline std::string python_replies(const std::string& reply) {
    return "import json, sys\nfor line in sys.stdin:\n    request = json.loads(line)\n    print(json.dumps(" + reply +
           "), flush=True)\n";
}

}  // namespace cairn::test
