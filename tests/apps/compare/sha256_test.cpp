#include "apps/compare/sha256.hpp"

#include "tests/errors/message.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace cairn::compare {
namespace {

const char* const of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const char* const of_nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST(Sha256, KnownDigests) {
    EXPECT_EQ(sha256_of_text("abc"), of_abc);
    EXPECT_EQ(sha256_of_text(""), of_nothing);
    const test::TempFolder temp;
    EXPECT_EQ(sha256_of_path(temp.write("abc", "abc")), of_abc);
    EXPECT_EQ(sha256_of_path(temp.write("empty", "")), of_nothing);
}

TEST(Sha256, AFolderIsTheListOfItsFiles) {
    const test::TempFolder temp;
    std::filesystem::create_directory(temp / "b");
    temp.write("b/c", "abc");
    temp.write("a", "");
    EXPECT_EQ(sha256_of_path(temp.path()),
              sha256_of_text(std::string(of_nothing) + "  a\n" + std::string(of_abc) + "  b/c\n"));
}

TEST(Sha256, WhatCannotBeReadIsNamed) {
    EXPECT_THAT(test::message([] { sha256_of_path("no/such/file"); }), testing::HasSubstr("[read] no/such/file: "));
}

}  // namespace
}  // namespace cairn::compare
