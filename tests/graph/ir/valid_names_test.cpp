#include "graph/ir/valid_names.hpp"

#include "graph/ir/json_string.hpp"

#include <gtest/gtest.h>

namespace cairn::ir {
namespace {

std::string read(std::string_view text) {
    types::TextCursor cursor(text, "test");
    return read_json_string(cursor);
}

TEST(ValidNames, AcceptReadableText) {
    for (const char* name :
         {"x", "h.0.attn.c_attn.weight", "a b", "\"", "\\", "naïve", "重み", "\xF4\x8F\xBF\xBF", "\xEE\x80\x80"})
        EXPECT_EQ(verify_name(name), "") << name;
    EXPECT_EQ(verify_name(std::string(1024, 'a')), "");
}

TEST(ValidNames, RefuseInvalidText) {
    EXPECT_EQ(verify_name(""), "is empty");
    EXPECT_EQ(verify_name(std::string(1025, 'a')), "has more than 1024 bytes");
    EXPECT_EQ(verify_name("a\nb"), "holds a control character");
    EXPECT_EQ(verify_name(std::string_view("a\0b", 3)), "holds a control character");
    EXPECT_EQ(verify_name("\x7F"), "holds a control character");
    for (const char* name : {"\x80", "\xC0\x80", "\xC2", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                             "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
                             "\xC2"
                             "a"})
        EXPECT_EQ(verify_name(name), "is not valid UTF-8") << name;
}

TEST(ValidNames, QuotedTextRoundTrips) {
    EXPECT_EQ(quoted("a\"b\\c"), "\"a\\\"b\\\\c\"");
    for (const char* name : {"x", "a\"b\\c", "重み"}) EXPECT_EQ(read(quoted(name)), name);
    EXPECT_EQ(read(R"("\u0041\u00e9\u91cd\ud83d\ude00\n\t\/\b\f\r")"), "Aé重😀\n\t/\b\f\r");
}

TEST(ValidNames, RefuseBrokenQuotes) {
    for (const char* text : {"x", "\"x", "\"\\", "\"\\q\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\udc00\"",
                             "\"\\ud800\\u0041\"", ""})
        EXPECT_THROW(read(text), Error) << text;
}

}  // namespace
}  // namespace cairn::ir
