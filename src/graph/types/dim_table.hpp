#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cairn/types.hpp"
#include "graph/types/polynomial.hpp"

namespace cairn::inline v0::detail {

/// A polynomial interned in a table. A Dim that is not constant points to one. Immutable, so it is read without a lock.
struct DimNode {
    const Polynomial* polynomial = nullptr;
    Symbols* table = nullptr;
    std::int64_t low = 0, high = 0;    ///< bounds; INT64_MIN and INT64_MAX mean unbounded
    std::uint32_t symbols_needed = 0;  ///< number of symbol values that evaluate() needs
};

/// Intern table for the symbols, atoms and polynomials of one Symbols: equal content has an equal address. It only
/// grows. The rules of the algebra are elsewhere (dim_divide, dim_minmax); this class is storage only.
class DimTable {
public:
    static DimTable& of(Symbols& symbols) noexcept { return *symbols.table_; }
    /// The polynomial as a Dim of `symbols`; a constant one belongs to no table.
    static Dim dim(Symbols& symbols, const Polynomial& polynomial);
    /// The polynomial of any Dim.
    static Polynomial polynomial(const Dim& dim);
    /// The table of `a` or `b`; null if both are constant. Throws Error(graph) if they have different tables.
    static std::shared_ptr<Symbols> shared(const Dim& a, const Dim& b);

    /// The symbol of that name, created if needed; null if it exists with other bounds.
    const Atom* symbol(std::string_view name, std::int64_t low, std::int64_t high);
    const Atom* find(std::string_view name) const;
    std::vector<Symbols::Symbol> list() const;
    /// The atom for a function of polynomials, without simplification: the caller has applied all rules.
    const Atom* function(AtomKind kind, std::vector<Polynomial> args);

private:
    struct HashAtom {
        std::size_t operator()(const Atom& atom) const noexcept;
    };
    struct EqualAtom {
        bool operator()(const Atom& a, const Atom& b) const noexcept { return a.kind == b.kind && a.args == b.args; }
    };
    struct HashPolynomial {
        std::size_t operator()(const Polynomial& polynomial) const noexcept;
    };

    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Atom>> symbols_;
    std::unordered_map<std::string_view, const Atom*> by_name_;
    std::unordered_set<Atom, HashAtom, EqualAtom> functions_;
    std::unordered_map<Polynomial, DimNode, HashPolynomial> dims_;
};

/// Runs `work`. Converts SizeOverflow into an Error(graph) that shows the operands: `[size] N * 9223372036854775807
/// does not fit into 64 bits`.
Dim without_overflow(std::string_view operation, const Dim& a, const Dim& b, const std::function<Dim()>& work);

}  // namespace cairn::inline v0::detail
