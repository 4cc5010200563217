#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cairn/types.hpp"

/// Reading the text forms of sizes, shapes and tensors. Every fault is an Error(argument) that names the part and the
/// column:
/// `[problem] column 14: expected ']', got 'x' in 'f32[N,768x'`.
namespace cairn::types {

/// A place in a one-line text. Spaces between words are skipped by all functions but those that say otherwise.
class TextCursor {
public:
    /// `part` is the bracketed word of messages; `text` and `part` must outlive the cursor.
    TextCursor(std::string_view text, std::string_view part) noexcept : text_(text), part_(part) {}

    bool at_end() noexcept;
    /// The next character after spaces, '\0' at the end.
    char peek() noexcept;
    /// The character at the place itself, spaces included; '\0' at the end.
    char here() const noexcept { return place_ < text_.size() ? text_[place_] : '\0'; }
    /// Passes `word` if it comes next.
    bool accept(std::string_view word) noexcept;
    /// Passes a word of letters, only if no letter, digit or underscore follows it.
    bool accept_keyword(std::string_view word) noexcept;
    void expect(std::string_view word);
    /// `[A-Za-z_][A-Za-z0-9_]*`, with `.` allowed after the first letter where `dots` says so; empty if there is none.
    std::string_view name(bool dots = false) noexcept;
    /// An integer, with a minus sign or without; `negative` says that a minus sign was read already.
    std::int64_t integer(bool negative = false);
    /// A floating-point number in any form that std::from_chars reads, `inf` and `nan` among them.
    double number();
    bool at_digit() noexcept;

    std::size_t place() const noexcept { return place_; }
    void move_to(std::size_t place) noexcept { place_ = place; }
    /// Throws Error(argument) that names the current column, or that of `place`.
    [[noreturn]] void fail(std::string_view what);
    [[noreturn]] void fail(std::string_view what, std::size_t place);
    /// The same for a fault that came of what was read.
    [[noreturn]] void fail(const Error& fault, std::size_t place);
    /// `what`, and what came instead.
    [[noreturn]] void fail_expected(std::string_view what);

private:
    void skip() noexcept;
    std::string_view text_, part_;
    std::size_t place_ = 0;
};

/// What to do with a symbol that the table does not know.
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

/// The names of the symbols in a Dim, each once, appended to `names` in order of name.
void collect_symbols(const Dim& dim, std::vector<Symbols::Symbol>& symbols);

/// The shortest text that reads back as the same double: `1e-05`, `inf`, `nan`.
std::string number_text(double value);
/// `(1,N)`
std::string dims_text(const std::vector<Dim>& dims, std::string_view open, std::string_view close);

}  // namespace cairn::types
