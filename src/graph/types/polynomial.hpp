#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/types/interval.hpp"

/// Integer polynomials over atoms: the arithmetic of Dim. An atom is a symbol, or a function of polynomials that no
/// rule could simplify. Terms are sorted and distinct, so two polynomials of one table are equal exactly when their
/// terms are equal.
///
///     (N + 1) * (N - 1)   ->   terms {-1, []}, {1, [N, N]}
///
/// The order depends on names, not on the order in which symbols were created: two tables print the same size alike.
namespace cairn::inline v0::detail {

/// Thrown by the arithmetic when a number exceeds 64 bits or a polynomial becomes unreasonably large. Callers that know
/// the operands convert it into an Error.
struct SizeOverflow {};

enum class AtomKind : std::uint8_t { symbol, floordiv, mod, min, max };

struct Atom;

/// A product of atoms, sorted, each atom repeated for its power. Empty: one.
using Monomial = std::vector<const Atom*>;

struct Term {
    std::int64_t coefficient = 0;
    Monomial factors;
    friend bool operator==(const Term&, const Term&) = default;
};

struct Polynomial {
    std::vector<Term> terms;

    static Polynomial constant(std::int64_t value);
    static Polynomial atom(const Atom* atom);
    bool is_zero() const noexcept { return terms.empty(); }
    bool is_constant() const noexcept { return terms.empty() || (terms.size() == 1 && terms[0].factors.empty()); }
    /// The term without symbols; 0 if there is none.
    std::int64_t constant_term() const noexcept;
    friend bool operator==(const Polynomial&, const Polynomial&) = default;
};

/// A symbol or a function of polynomials, interned in a table: the same address means the same atom.
struct Atom {
    AtomKind kind = AtomKind::symbol;
    std::string name;              ///< of a symbol
    std::uint32_t index = 0;       ///< of a symbol: its index in Symbols::list()
    std::vector<Polynomial> args;  ///< of a function: dividend and divisor, or the operands of min or max
    Interval bounds{0, 0};
    std::uint32_t depth = 0;           ///< nesting depth of functions
    std::uint32_t symbols_needed = 0;  ///< one more than the largest index of a symbol in it
};

std::strong_ordering compare(const Atom& a, const Atom& b);
/// By degree, then by atoms. The order is compatible with multiplication, as polynomial division requires.
std::strong_ordering compare(const Monomial& a, const Monomial& b);
std::strong_ordering compare(const Polynomial& a, const Polynomial& b);

Polynomial add(const Polynomial& a, const Polynomial& b);
Polynomial subtract(const Polynomial& a, const Polynomial& b);
Polynomial multiply(const Polynomial& a, const Polynomial& b);
Polynomial scale(const Polynomial& a, std::int64_t factor);
/// `a` with `atom` replaced by `value` in every term (not inside other atoms).
Polynomial replace(const Polynomial& a, const Atom* atom, const Polynomial& value);

/// Bounds by interval arithmetic over the atoms' bounds.
Interval bounds(const Polynomial& a);
Interval bounds(const Monomial& factors);

std::int64_t checked_add(std::int64_t a, std::int64_t b);
std::int64_t checked_multiply(std::int64_t a, std::int64_t b);
/// Rounded towards minus infinity; b is not 0.
std::int64_t checked_floordiv(std::int64_t a, std::int64_t b);

}  // namespace cairn::inline v0::detail
