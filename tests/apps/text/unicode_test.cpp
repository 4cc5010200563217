#include "apps/text/unicode.hpp"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>
#include <initializer_list>
#include <random>
#include <string>

namespace cairn::text {
namespace {

using Status = Utf8Step::Status;

void expect_step(std::string_view bytes, char32_t code, std::size_t length, Status status) {
    const Utf8Step step = read_utf8(bytes);
    EXPECT_EQ(step.code, code) << bytes;
    EXPECT_EQ(step.length, length) << bytes;
    EXPECT_EQ(step.status, status) << bytes;
}

TEST(Unicode, ReadsEveryCodePointThatItWrites) {
    for (char32_t code = 0; code <= 0x10FFFF; ++code) {
        if (code >= 0xD800 && code < 0xE000) continue;
        std::string bytes;
        append_utf8(bytes, code);
        const Utf8Step step = read_utf8(bytes);
        ASSERT_EQ(step.code, code);
        ASSERT_EQ(step.length, bytes.size());
        ASSERT_EQ(step.status, Status::valid);
    }
}

TEST(Unicode, InvalidBytesAreReadBySequences) {
    expect_step("\x80", 0xFFFD, 1, Status::invalid);              // a continuation alone
    expect_step("\xC0\x80", 0xFFFD, 1, Status::invalid);          // overlong NUL
    expect_step("\xE0\x80\x80", 0xFFFD, 1, Status::invalid);      // overlong
    expect_step("\xED\xA0\x80", 0xFFFD, 1, Status::invalid);      // surrogate
    expect_step("\xF4\x90\x80\x80", 0xFFFD, 1, Status::invalid);  // above U+10FFFF
    expect_step("\xF5", 0xFFFD, 1, Status::invalid);
    expect_step("\xE2\x82x", 0xFFFD, 2, Status::invalid);
    expect_step("\xF0\x9F\x98x", 0xFFFD, 3, Status::invalid);
    expect_step("\xC3", 0xFFFD, 1, Status::truncated);
    expect_step("\xF0\x9F\x98", 0xFFFD, 3, Status::truncated);
}

TEST(Unicode, Classes) {
    for (const char32_t code : std::initializer_list<char32_t>{0x09, 0x0B, 0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x2003,
                                                               0x2028, 0x202F, 0x205F, 0x3000})
        EXPECT_TRUE(is_white_space(code)) << std::uint32_t{code};
    for (const char32_t code : std::initializer_list<char32_t>{0x08, 0x1F, 0x180E, 0x200B, 0xFEFF, 0x41})
        EXPECT_FALSE(is_white_space(code)) << std::uint32_t{code};
    using Kind = CharacterKind;
    for (const auto& [code, kind] : std::initializer_list<std::pair<char32_t, Kind>>{
             {'A', Kind::upper},       {0x1C5, Kind::upper},     {'z', Kind::lower},        {0xDF, Kind::lower},
             {0x4E2D, Kind::caseless}, {0x2B0, Kind::caseless},  {0x300, Kind::mark},       {0x903, Kind::mark},
             {0x20DD, Kind::mark},     {'7', Kind::number},      {0xBD, Kind::number},      {0x2167, Kind::number},
             {'_', Kind::punctuation}, {'%', Kind::punctuation}, {0xAB, Kind::punctuation}, {'$', Kind::symbol},
             {'`', Kind::symbol},      {0x1F600, Kind::symbol},  {' ', Kind::space},        {'\n', Kind::space},
             {0x85, Kind::space},      {0x3000, Kind::space},    {0, Kind::other},          {0x200B, Kind::other},
             {0x10FFFF, Kind::other}})
        EXPECT_EQ(kind_of(code), kind) << static_cast<std::uint32_t>(code);
    EXPECT_TRUE(is_punctuation(0xBF) && is_punctuation(0x3002) && is_punctuation('_'));
    EXPECT_FALSE(is_punctuation('$'));
    EXPECT_TRUE(is_nonspacing_mark(0x301));
    EXPECT_FALSE(is_nonspacing_mark(0x903));  // spacing
    EXPECT_TRUE(is_control(0x07) && is_control(0xAD) && is_control(0xE000));
    EXPECT_FALSE(is_control(0x378));  // unassigned
}

TEST(Unicode, LowerCaseIsContextFree) {
    std::u32string lower;
    for (const char32_t code : std::u32string_view(U"ÀΣİẞß5")) append_lower(lower, code);
    EXPECT_EQ(lower, U"àσi\u0307ßß5");
}

/// The result of utf8proc's own, quadratic, ordering.
std::u32string reference_decomposition(std::u32string_view text) {
    std::string bytes;
    for (const char32_t code : text) append_utf8(bytes, code);
    utf8proc_uint8_t* out = nullptr;
    const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(bytes.data()),
                                   static_cast<utf8proc_ssize_t>(bytes.size()), &out, UTF8PROC_DECOMPOSE);
    std::string_view rest(reinterpret_cast<const char*>(out), static_cast<std::size_t>(size));
    std::u32string codes;
    for (; !rest.empty(); rest.remove_prefix(read_utf8(rest).length)) codes += read_utf8(rest).code;
    std::free(out);
    return codes;
}

TEST(Unicode, DecomposesAsInTheStandard) {
    for (char32_t code = 1; code <= 0x10FFFF; ++code) {
        if (code >= 0xD800 && code < 0xE000) continue;
        ASSERT_EQ(canonical_decomposition(std::u32string(1, code)), reference_decomposition(std::u32string(1, code)));
    }
    std::mt19937 random(7);
    constexpr char32_t blocks[] = {0x300, 0x5A0, 0x1DC0, 0xC0, 0x1E00, 0xAC00, 0x1D160, 0x302A, 0x900};
    for (int round = 0; round < 5000; ++round) {
        std::u32string text;
        for (auto length = random() % 12; length > 0; --length)
            text += blocks[random() % 9] + static_cast<char32_t>(random() % 64);
        ASSERT_EQ(canonical_decomposition(text), reference_decomposition(text));
    }
}

TEST(Unicode, OrdersAMillionMarks) {
    std::u32string marks;
    for (int i = 0; i < 500000; ++i) marks += U"\u0301\u0323";  // above (230), below (220)
    const std::u32string sorted = canonical_decomposition(marks);
    EXPECT_EQ(sorted, std::u32string(500000, U'\u0323') + std::u32string(500000, U'\u0301'));
}

}  // namespace
}  // namespace cairn::text
