// Error messages of the headers for unsupported compilers and machines, which predefined macros simulate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>

namespace cairn {
namespace {

/// Messages of the preprocessor for cairn/version.hpp.
std::string preprocess(const std::string& flags) {
    const std::string command = std::string(CAIRN_CXX) + " -w -E -o /dev/null -x c++ " + flags +
                                " " CAIRN_SOURCE_DIR "/include/cairn/version.hpp 2>&1";
    const auto close = [](std::FILE* pipe) { ::pclose(pipe); };
    const std::unique_ptr<std::FILE, decltype(close)> pipe(::popen(command.c_str(), "r"), close);
    std::string text;
    std::array<char, 4096> part;
    while (pipe != nullptr && std::fgets(part.data(), part.size(), pipe.get()) != nullptr) text += part.data();
    return text;
}

std::string as_if(const std::string& macros) { return preprocess("-std=c++20 -U__clang__ " + macros); }

TEST(Platform, CurrentPlatformIsSupported) { EXPECT_EQ(preprocess("-std=c++20"), ""); }

TEST(Platform, ErrorsNameTheRequirements) {
    using testing::HasSubstr;
    EXPECT_THAT(as_if("-U__GNUC__ -D__GNUC__=11"), HasSubstr("Cairn needs gcc 12 or later"));
    EXPECT_THAT(as_if("-U__GNUC__ -D_MSC_VER=1940"), HasSubstr("gcc 12 or later, or clang 16 or later"));
    EXPECT_THAT(as_if("-D__clang__=1 -U__clang_major__ -D__clang_major__=15"), HasSubstr("clang 16 or later"));
    EXPECT_THAT(preprocess("-std=c++17"), HasSubstr("Cairn needs C++20"));
    EXPECT_THAT(as_if("-U__unix__ -U__APPLE__"), HasSubstr("Cairn needs a POSIX system"));
    EXPECT_THAT(as_if("-U__SIZEOF_POINTER__ -D__SIZEOF_POINTER__=4"), HasSubstr("64-bit little-endian"));
    EXPECT_THAT(as_if("-U__BYTE_ORDER__ -D__BYTE_ORDER__=4321"), HasSubstr("64-bit little-endian"));
}

TEST(Platform, OldestSupportedCompilersAreAccepted) {
    EXPECT_EQ(as_if("-U__GNUC__ -D__GNUC__=12"), "");
    EXPECT_EQ(as_if("-D__clang__=1 -U__clang_major__ -D__clang_major__=16"), "");
}

}  // namespace
}  // namespace cairn
