#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cairn/types.hpp"

/// Parsing of the text forms of sizes, shapes and tensors. Every fault is an Error(argument) that names the part and
/// the column: `[problem] column 14: expected ']', got 'x' in 'f32[N,768x'`.
namespace cairn::types {

/// A position in a one-line text. All functions skip spaces between words, unless they say otherwise.
class TextCursor {
public:
    /// `part` is the bracketed word of messages; `text` and `part` must outlive the cursor.
    TextCursor(std::string_view text, std::string_view part) noexcept : text_(text), part_(part) {}

    bool at_end() noexcept;
    /// The next character after spaces, '\0' at the end.
    char peek() noexcept;
    /// The character at the position itself, spaces included; '\0' at the end.
    char current() const noexcept { return position_ < text_.size() ? text_[position_] : '\0'; }
    /// Consumes `word` if it comes next.
    bool accept(std::string_view word) noexcept;
    /// Consumes a word of letters if it comes next and no letter, digit or underscore follows it.
    bool accept_keyword(std::string_view word) noexcept;
    void expect(std::string_view word);
    /// `[A-Za-z_][A-Za-z0-9_]*`; with `dots`, `.` is allowed after the first letter. Empty if there is none.
    std::string_view name(bool dots = false) noexcept;
    /// An integer, with or without a minus sign; `negative`: a minus sign was read already.
    std::int64_t integer(bool negative = false);
    /// A floating-point number in any form that std::from_chars reads, including `inf` and `nan`.
    double number();
    bool at_digit() noexcept;

    std::size_t position() const noexcept { return position_; }
    void seek(std::size_t position) noexcept { position_ = position; }
    /// Throws Error(argument) that names the current column, or that of `position`.
    [[noreturn]] void fail(std::string_view what);
    [[noreturn]] void fail(std::string_view what, std::size_t position);
    /// The same for an error caused by what was read.
    [[noreturn]] void fail(const Error& fault, std::size_t position);
    /// Fails with `what` as the expected text, and what was found instead.
    [[noreturn]] void fail_expected(std::string_view what);

private:
    void skip() noexcept;
    std::string_view text_, part_;
    std::size_t position_ = 0;
};

/// How to treat a symbol that the table does not contain.
enum class UnknownSymbol : std::uint8_t {
    refuse,  ///< Error(argument)
    make,    ///< a new symbol in 1..1048576
};

/// A size: `3 + 2*N`, `floordiv(N, 2)`.
Dim parse_dim(TextCursor& cursor, Symbols& symbols, UnknownSymbol unknown);
/// `(1, N)`: sizes between brackets of the two given kinds; may be empty.
std::vector<Dim> parse_dims(TextCursor& cursor, Symbols& symbols, UnknownSymbol unknown, std::string_view open,
                            std::string_view close);
/// `f32[N,768]`.
void parse_tensor_type(TextCursor& cursor, Symbols& symbols, UnknownSymbol unknown, DType& dtype, Shape& shape);

/// Inserts the symbols of a Dim into `symbols`, each once, in order of name.
void collect_symbols(const Dim& dim, std::vector<Symbols::Symbol>& symbols);

/// The shortest text that reads back as the same double: `1e-05`, `inf`, `nan`.
std::string number_text(double value);
/// `(1,N)`
std::string dims_text(const std::vector<Dim>& dims, std::string_view open, std::string_view close);

}  // namespace cairn::types
