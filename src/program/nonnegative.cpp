#include "program/nonnegative.hpp"

#include "graph/types/dim_table.hpp"
#include "graph/types/polynomial_division.hpp"
#include "program/maximum.hpp"
#include "program/peak_memory.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace cairn::program {
namespace {

using detail::Atom;
using detail::AtomKind;
using detail::DimTable;
using detail::Term;

constexpr std::int64_t max_classes = 256;
constexpr std::size_t max_factors = 32;
constexpr int max_divisions = 4096;
constexpr int max_boxes = 512;

/// Per symbol, the modulus whose residue determines the rounding of all quotients and remainders of a size.
class Moduli {
public:
    explicit Moduli(std::size_t symbols) : of_(symbols, 1) {}

    /// Extends the moduli so that `size` mod `unit` depends on residues alone. False if no moduli suffice, or one is
    /// too large.
    bool add(const Polynomial& size, std::int64_t unit) {
        return std::all_of(size.terms.begin(), size.terms.end(), [&](const Term& term) {
            const std::int64_t shared = std::gcd(unit, term.coefficient % unit);
            return std::all_of(term.factors.begin(), term.factors.end(),
                               [&](const Atom* atom) { return add(*atom, unit / shared); });
        });
    }

    /// Number of residue classes; nullopt if there are too many.
    std::optional<std::int64_t> classes() const {
        std::int64_t count = 1;
        for (const std::int64_t modulus : of_)
            if ((count *= modulus) > max_classes) return std::nullopt;
        return count;
    }
    const std::vector<std::int64_t>& all() const noexcept { return of_; }

private:
    bool add(const Atom& atom, std::int64_t unit) {
        if (atom.kind == AtomKind::symbol) {
            std::int64_t& modulus = of_[atom.index];
            modulus = std::lcm(modulus, unit);
            return modulus <= max_classes;
        }
        if (atom.kind == AtomKind::floordiv || atom.kind == AtomKind::mod) {
            if (!atom.args[1].is_constant()) return false;
            const std::int64_t divisor = atom.args[1].constant_term();
            if (divisor <= 0 || divisor > max_classes) return false;
            unit = atom.kind == AtomKind::mod ? std::lcm(unit, divisor) : unit * divisor;
            return unit <= max_classes && add(atom.args[0], unit);
        }
        return std::all_of(atom.args.begin(), atom.args.end(),
                           [&](const Polynomial& argument) { return add(argument, unit); });
    }

    std::vector<std::int64_t> of_;
};

/// Substitutes s = modulus * n + residue for every symbol; nullopt if the class holds no value of some symbol.
std::optional<Dim> in_class(const Dim& size, const std::vector<Symbols::Symbol>& symbols,
                            const std::vector<std::int64_t>& moduli, const std::vector<std::int64_t>& residues) {
    const std::shared_ptr<Symbols> table = Symbols::create();
    std::vector<Dim> replacements;
    for (std::size_t s = 0; s < symbols.size(); ++s) {
        // Symbols are nonnegative, hence also the dividend of this division that rounds up.
        const std::int64_t modulus = moduli[s], residue = residues[s];
        const std::int64_t low = (symbols[s].low - residue + modulus - 1) / modulus;
        if (symbols[s].high < residue) return std::nullopt;
        const std::int64_t high = (symbols[s].high - residue) / modulus;
        if (low > high) return std::nullopt;
        const Dim multiple = low == high ? Dim(low) : table->add(symbols[s].name, low, high);
        replacements.push_back(multiple * modulus + residue);
    }
    return table->substitute(size, replacements);
}

bool next_class(std::vector<std::int64_t>& residues, const std::vector<std::int64_t>& moduli) {
    for (std::size_t s = 0; s < residues.size(); ++s) {
        if (++residues[s] < moduli[s]) return true;
        residues[s] = 0;
    }
    return false;
}

}  // namespace

bool is_nonnegative_by_residues(const Dim& size) {
    if (size.is_constant()) return size.constant() >= 0;
    try {
        const std::vector<Symbols::Symbol> symbols = size.symbols()->list();
        Moduli moduli(symbols.size());
        if (!moduli.add(DimTable::polynomial(size), 1)) return false;
        if (const auto classes = moduli.classes(); !classes || *classes == 1) return false;
        std::vector<std::int64_t> residues(symbols.size(), 0);
        do {
            const std::optional<Dim> part = in_class(size, symbols, moduli.all(), residues);
            if (part && !provably_le(0, *part)) return false;
        } while (next_class(residues, moduli.all()));
        return true;
    } catch (const Error&) { return false; }  // a number that does not fit into 64 bits
}

bool is_nonnegative(const Dim& size, const Program& program) {
    if (provably_le(0, size) || is_nonnegative_by_residues(size)) return true;
    const Quantity below{
        {DimTable::polynomial(Dim(0) - size)}, 1, [](std::span<const Wide> sizes) { return sizes[0]; }};
    const Maximum most = maximum_of(below, *program.symbols, limits_of(program), {max_boxes, 0});
    return most.bound <= 0;
}

bool NonnegativeProver::has_proved_factors(const Dim& size) {
    const Polynomial whole = DimTable::polynomial(size);
    for (std::size_t f = 0; f < factors_.size() && divisions_ < max_divisions; ++f) {
        ++divisions_;
        try {
            const detail::Division division = detail::divide(whole, DimTable::polynomial(factors_[f]));
            if (division.remainder.is_zero() && proved_by_algebra(DimTable::dim(symbols(), division.quotient)))
                return true;
        } catch (const detail::SizeOverflow&) { continue; }
    }
    return false;
}

bool NonnegativeProver::proved_by_algebra(const Dim& size) {
    if (size.is_constant()) return size.constant() >= 0;
    const auto [known, is_new] = by_algebra_.try_emplace(size.node());
    Attempt& attempt = known->second;  // the reference stays valid while entries are added
    if (attempt.is_proved || (!is_new && attempt.factors == factors_.size())) return attempt.is_proved;
    attempt.factors = factors_.size();
    attempt.is_proved = (is_new && provably_le(0, size)) || has_proved_factors(size);
    return attempt.is_proved;
}

bool NonnegativeProver::proved(const Dim& size) {
    if (size.is_constant()) return size.constant() >= 0;
    const auto [known, is_new] = by_all_.try_emplace(size.node());
    if (!is_new) return known->second;
    known->second = proved_by_algebra(size) || is_nonnegative(size, program_);
    if (known->second && factors_.size() < max_factors) factors_.push_back(size);
    return known->second;
}

}  // namespace cairn::program
