#include "graph/types/siphash.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cairn {
namespace {

// Bytes 00 01 02 ... under the key 00 01 ... 0f: the authors' published outputs, checked with `openssl mac ... SIPHASH`
// (size:16).
TEST(Digest, SipHashGivesThePublishedOutputs) {
    const std::pair<std::size_t, Digest> rows[] = {
        {0, {0x930255c71472f66d, 0xe6a825ba047f81a3}},  {1, {0x45fc229b11597634, 0x44af996bd8c187da}},
        {7, {0x3982f01fa64ab8c0, 0x53c1dbd8beebf1a1}},  {8, {0xb49714f364e2830f, 0x61f55862baa9623b}},
        {15, {0xd9c3cf970fec087e, 0x11a8b03399e99354}}, {63, {0x7cbd3f979a063e50, 0x4a83502f77d15051}}};
    for (const auto& [length, expected] : rows) {
        std::vector<std::byte> data;
        for (std::size_t i = 0; i < length; ++i) data.push_back(static_cast<std::byte>(i));
        EXPECT_EQ(to_string(types::siphash128(data, 0x0706050403020100, 0x0f0e0d0c0b0a0908)), to_string(expected))
            << length;
    }
}

TEST(Digest, OfATextNeverChanges) {
    EXPECT_EQ(to_string(digest("")), "f4f2ced447ab02427de0a38047d74950");
    EXPECT_EQ(to_string(digest("cairn")),
              "d9e0aa62f2755988"
              "98848cb177ba73ac");
    EXPECT_EQ(to_string(Digest{1, 0xabc}), "00000000000000010000000000000abc");
    EXPECT_NE(digest("ab"), digest("ba"));
    EXPECT_NE(digest(std::string(8, '\0')), digest(std::string(9, '\0')));
}

}  // namespace
}  // namespace cairn
