#include "graph/types/text_cursor.hpp"
#include "graph/types/identifier_chars.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace cairn::types {

namespace {

// The text around `position`; long and binary texts would make a message unreadable.
std::string excerpt(std::string_view text, std::size_t position) {
    constexpr std::size_t around = 40;
    const std::size_t begin = position > around ? position - around : 0;
    std::string result = begin > 0 ? "..." : "";
    for (const char c : text.substr(begin, 2 * around)) result += c >= ' ' && c <= '~' ? c : '?';
    return begin + 2 * around < text.size() ? result + "..." : result;
}

}  // namespace

void TextCursor::skip() noexcept {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
}

bool TextCursor::at_end() noexcept {
    skip();
    return position_ == text_.size();
}

char TextCursor::peek() noexcept {
    skip();
    return current();
}

bool TextCursor::accept(std::string_view word) noexcept {
    skip();
    if (!text_.substr(position_).starts_with(word)) return false;
    position_ += word.size();
    return true;
}

bool TextCursor::accept_keyword(std::string_view word) noexcept {
    const std::size_t before = position_;
    if (accept(word) && !is_letter(current()) && !is_digit(current())) return true;
    position_ = before;
    return false;
}

void TextCursor::expect(std::string_view word) {
    if (!accept(word)) fail_expected("'" + std::string(word) + "'");
}

std::string_view TextCursor::name(bool dots) noexcept {
    skip();
    std::size_t end = position_;
    if (end < text_.size() && is_letter(text_[end])) {
        while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || (dots && text_[end] == '.')))
            ++end;
    }
    const auto result = text_.substr(position_, end - position_);
    position_ = end;
    return result;
}

bool TextCursor::at_digit() noexcept { return is_digit(peek()); }

std::int64_t TextCursor::integer(bool negative) {
    skip();
    const std::size_t start = position_;
    if (!negative && accept("-")) negative = true;
    std::uint64_t magnitude = 0;
    const auto rest = text_.substr(position_);
    const auto [end, fault] = std::from_chars(rest.data(), rest.data() + rest.size(), magnitude);
    if (fault == std::errc::invalid_argument) fail_expected("an integer");
    const std::uint64_t limit = (std::uint64_t{1} << 63) - (negative ? 0 : 1);
    if (fault != std::errc{} || magnitude > limit) fail("the integer does not fit into 64 bits", start);
    position_ += static_cast<std::size_t>(end - rest.data());
    return static_cast<std::int64_t>(negative ? std::uint64_t{0} - magnitude : magnitude);
}

double TextCursor::number() {
    skip();
    const auto rest = text_.substr(position_);
    double value = 0;
    const auto [end, fault] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (fault == std::errc::invalid_argument) fail_expected("a number");
    if (fault != std::errc{}) fail("the number is outside the range of a double");
    position_ += static_cast<std::size_t>(end - rest.data());
    return value;
}

void TextCursor::fail(std::string_view what) { fail(what, position_); }

void TextCursor::fail(std::string_view what, std::size_t position) {
    throw Error(
        ErrorKind::argument, part_,
        "column " + std::to_string(position + 1) + ": " + std::string(what) + " in '" + excerpt(text_, position) + "'");
}

void TextCursor::fail(const Error& fault, std::size_t position) {
    const std::string_view what = fault.what();
    const auto part_end = what.starts_with('[') ? what.find("] ") : std::string_view::npos;
    fail(part_end == std::string_view::npos ? what : what.substr(part_end + 2), position);
}

void TextCursor::fail_expected(std::string_view what) {
    skip();
    const std::string got =
        position_ == text_.size() ? "the end of the text" : "'" + excerpt(text_.substr(position_, 1), 0) + "'";
    fail("expected " + std::string(what) + ", got " + got);
}

std::string number_text(double value) {
    if (std::isnan(value)) return "nan";
    std::array<char, 32> buffer;
    const auto [end, fault] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return fault == std::errc{} ? std::string(buffer.data(), end) : std::string();
}

std::string dims_text(const std::vector<Dim>& dims, std::string_view open, std::string_view close) {
    std::string text(open);
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (i > 0) text += ",";
        text += to_string(dims[i]);
    }
    return text.append(close);
}

void parse_tensor_type(TextCursor& cursor, Symbols& symbols, UnknownSymbol unknown, DType& dtype, Shape& shape) {
    cursor.peek();
    const std::size_t position = cursor.position();
    const auto name = cursor.name();
    if (name.empty()) cursor.fail_expected("a dtype");
    const auto known = parse_dtype(name);
    if (!known) cursor.fail("unknown dtype '" + std::string(name) + "'", position);
    dtype = *known;
    const std::size_t sizes = cursor.position();
    shape = parse_dims(cursor, symbols, unknown, "[", "]");
    for (const auto& size : shape) {
        if (size.upper_bound() < 0) cursor.fail("the size " + to_string(size) + " is negative", sizes);
    }
}

}  // namespace cairn::types
