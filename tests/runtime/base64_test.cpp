#include "runtime/base64.hpp"

#include <gmock/gmock.h>

#include <random>

namespace cairn::runtime {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

// RFC 4648, section 10.
TEST(Base64, EncodesThePublishedVectors) {
    const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                           {"f", "Zg==\n"},
                                                           {"fo", "Zm8=\n"},
                                                           {"foo", "Zm9v\n"},
                                                           {"foob", "Zm9vYg==\n"},
                                                           {"fooba", "Zm9vYmE=\n"},
                                                           {"foobar", "Zm9vYmFy\n"}};
    for (const auto& [plain, text] : vectors) {
        EXPECT_EQ(to_base64(bytes_of(plain)), text);
        EXPECT_EQ(from_base64(text), bytes_of(plain));
    }
}

TEST(Base64, RoundTripsBytesOfAnySize) {
    std::mt19937 random(1);
    for (std::size_t size : {1, 2, 3, 89, 90, 91, 92, 180, 270, 1000, 4097}) {
        std::vector<std::byte> bytes(size);
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
        const std::string text = to_base64(bytes);
        EXPECT_EQ(from_base64(text), bytes) << size;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find('\n', at);
            ASSERT_NE(end, std::string::npos);
            EXPECT_TRUE(end - at == 120 || (end + 1 == text.size() && end > at && end - at < 120)) << size;
            at = end + 1;
        }
    }
}

TEST(Base64, RefusesWhatIsNoBase64) {
    for (const char* wrong : {"Z", "Zg", "Zg=", "Zg=v", "Z===", "====", "Zg==Zg==", "Zm9v Zm9v", "Zm9*",
                              "Zh==", "Zm9=", "Zg==\nA", "\xC3\xA9==", "Zm9v\r\n"})
        EXPECT_EQ(from_base64(wrong), std::nullopt) << wrong;
    EXPECT_EQ(from_base64("Zm\n9v\n\nYg=\n="), bytes_of("foob")) << "lines may end anywhere";
}

}  // namespace
}  // namespace cairn::runtime
