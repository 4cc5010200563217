#include "graph/types/dim_inequality.hpp"

#include <algorithm>

#include "graph/types/dim_table.hpp"

namespace cairn::inline v0 {

namespace detail {

namespace {

constexpr int max_steps = 64;         // replacements tried in one proof
constexpr std::size_t max_atoms = 4;  // n atoms are shifted in 2^n combinations
constexpr std::size_t max_terms_shifted = 64;

std::vector<const Atom*> atoms_of(const Polynomial& a) {
    std::vector<const Atom*> atoms;
    for (const auto& term : a.terms) {
        for (const auto* atom : term.factors) {
            if (std::find(atoms.begin(), atoms.end(), atom) == atoms.end()) atoms.push_back(atom);
        }
    }
    return atoms;
}

bool no_negative_coefficient(const Polynomial& a) {
    return std::all_of(a.terms.begin(), a.terms.end(), [](const Term& term) { return term.coefficient >= 0; });
}

// An atom that is a factor of every term and never negative; null if there is none.
const Atom* common_factor(const Polynomial& a) {
    if (a.terms.empty()) return nullptr;
    const auto in = [](const Term& term, const Atom* atom) {
        return std::find(term.factors.begin(), term.factors.end(), atom) != term.factors.end();
    };
    for (const Atom* atom : a.terms[0].factors)
        if (atom->bounds.low >= 0 &&
            std::all_of(a.terms.begin(), a.terms.end(), [&](const Term& term) { return in(term, atom); }))
            return atom;
    return nullptr;
}

Polynomial divided(Polynomial a, const Atom* factor) {
    for (Term& term : a.terms) term.factors.erase(std::find(term.factors.begin(), term.factors.end(), factor));
    return a;
}

bool fits(Wide bound) { return bound == Wide(to_int64(bound)) && bound < infinity && bound > -infinity; }

// Replaces the atom by its distance from a bound, which is not negative.
Polynomial shifted(const Polynomial& a, const Atom* atom, bool from_above) {
    const auto bound = Polynomial::constant(to_int64(from_above ? atom->bounds.high : atom->bounds.low));
    return replace(a, atom, add(bound, scale(Polynomial::atom(atom), from_above ? -1 : 1)));
}

bool prove_by_shift(const Polynomial& a, const std::vector<const Atom*>& atoms, std::size_t next) {
    if (next == atoms.size()) return no_negative_coefficient(a);
    const auto* atom = atoms[next];
    if (fits(atom->bounds.low) && prove_by_shift(shifted(a, atom, false), atoms, next + 1)) return true;
    return atoms.size() <= max_atoms && fits(atom->bounds.high) &&
           prove_by_shift(shifted(a, atom, true), atoms, next + 1);
}

// `a` is in distances of the atoms from their lower bounds. In an atom in which it is concave (all terms of higher
// power are subtracted) it is least at one of the two ends.
bool prove_by_endpoints(const Polynomial& a, const std::vector<const Atom*>& atoms, std::size_t next) {
    if (no_negative_coefficient(a)) return true;
    if (next == atoms.size()) return false;
    const auto* atom = atoms[next];
    const Wide width = atom->bounds.high - atom->bounds.low;
    const bool is_concave = std::all_of(a.terms.begin(), a.terms.end(), [&](const Term& term) {
        return term.coefficient < 0 || std::count(term.factors.begin(), term.factors.end(), atom) < 2;
    });
    if (!is_concave || !fits(atom->bounds.high) || !fits(width)) return prove_by_endpoints(a, atoms, next + 1);
    return prove_by_endpoints(replace(a, atom, {}), atoms, next + 1) &&
           prove_by_endpoints(replace(a, atom, Polynomial::constant(to_int64(width))), atoms, next + 1);
}

bool prove_by_endpoints(Polynomial a, const std::vector<const Atom*>& atoms) {
    if (atoms.size() > max_atoms) return false;
    for (const auto* atom : atoms) {
        if (!fits(atom->bounds.low)) return false;
        a = shifted(a, atom, false);
    }
    return prove_by_endpoints(a, atoms, 0);
}

class NonnegativityProver {
public:
    bool nonnegative(const Polynomial& a) {
        const Interval range = bounds(a);
        if (range.low >= 0) return true;
        if (range.high < 0 || ++steps_ > max_steps) return false;
        if (const auto* factor = common_factor(a)) return nonnegative(divided(a, factor));
        const auto atoms = atoms_of(a);
        if (a.terms.size() <= max_terms_shifted && (prove_by_shift(a, atoms, 0) || prove_by_endpoints(a, atoms)))
            return true;
        for (const auto* atom : atoms) {
            switch (atom->kind) {
                case AtomKind::min:
                case AtomKind::max: return prove_by_min_max_operands(a, atom);
                case AtomKind::floordiv:
                    if (prove_by_floordiv_bounds(a, atom)) return true;
                    break;
                default: break;
            }
        }
        return false;
    }

private:
    // A min or max equals one of its arguments, so `a` is nonnegative if it is for each argument. If `a` falls with a
    // min, or grows with a max, any argument bounds `a` from below, and one is enough.
    bool prove_by_min_max_operands(const Polynomial& a, const Atom* atom) {
        const bool any = sign_of(a, atom) == (atom->kind == AtomKind::min ? -1 : 1);
        const auto holds = [&](const Polynomial& arg) { return nonnegative(replace(a, atom, arg)); };
        return any ? std::any_of(atom->args.begin(), atom->args.end(), holds)
                   : std::all_of(atom->args.begin(), atom->args.end(), holds);
    }

    // d * floordiv(p, d) lies in p - (d - 1) .. p.
    bool prove_by_floordiv_bounds(const Polynomial& a, const Atom* atom) {
        if (!atom->args[1].is_constant()) return false;
        const std::int64_t divisor = atom->args[1].constant_term();
        const int sign = sign_of(a, atom);
        if (sign == 0) return false;
        const auto& above = atom->args[0];
        const auto below = subtract(above, Polynomial::constant(divisor - 1));
        Polynomial scaled;
        for (const auto& term : a.terms) {
            const bool has = std::find(term.factors.begin(), term.factors.end(), atom) != term.factors.end();
            const Polynomial one{{term}};
            scaled = add(scaled, has ? replace(one, atom, sign > 0 ? below : above) : scale(one, divisor));
        }
        return nonnegative(scaled);
    }

    // 1: `a` grows with the atom, -1: it falls, 0: unknown.
    static int sign_of(const Polynomial& a, const Atom* atom) {
        int sign = 0;
        for (const auto& term : a.terms) {
            const auto powers = std::count(term.factors.begin(), term.factors.end(), atom);
            if (powers == 0) continue;
            Monomial rest = term.factors;
            std::erase(rest, atom);
            const int own = term.coefficient > 0 ? 1 : -1;
            if (powers > 1 || bounds(rest).low < 0 || sign == -own) return 0;
            sign = own;
        }
        return sign;
    }

    int steps_ = 0;
};

}  // namespace

bool provably_nonnegative(const Polynomial& a) {
    try {
        return NonnegativityProver().nonnegative(a);
    } catch (const SizeOverflow&) { return false; }
}

namespace {

bool provably_at_most(const Dim& a, const Dim& b, std::int64_t gap) {
    try {
        const auto difference = subtract(DimTable::polynomial(b), DimTable::polynomial(a));
        return provably_nonnegative(subtract(difference, Polynomial::constant(gap)));
    } catch (const SizeOverflow&) { return false; }
}

}  // namespace

}  // namespace detail

bool provably_le(const Dim& a, const Dim& b) {
    if (a.is_constant() && b.is_constant()) return a.constant() <= b.constant();
    detail::DimTable::shared(a, b);
    return a == b || detail::provably_at_most(a, b, 0);
}

bool provably_ne(const Dim& a, const Dim& b) {
    if (a.is_constant() && b.is_constant()) return a.constant() != b.constant();
    detail::DimTable::shared(a, b);
    return detail::provably_at_most(a, b, 1) || detail::provably_at_most(b, a, 1);
}

}  // namespace cairn::inline v0
