#include "fusion/solve_numbers.hpp"

#include "graph/ir/op_table.hpp"
#include "rewrite/normal_form/terms.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace cairn::fusion {
namespace {

using normal_form::Normalizer;
using normal_form::ScaledTerm;
using normal_form::Term;
using normal_form::TermKind;
using PairTable = std::vector<CoefficientPair>;

constexpr int max_depth = 64;

/// Walks two forms of the same structure in parallel. The factor that the normal form takes out of a sum, a maximum or
/// a linear op depends on the numbers, so each is divided by the coefficient of the same part in both forms.
class Alignment {
public:
    explicit Alignment(const Normalizer& normalizer) : normalizer_(normalizer) {}

    /// The coefficients of the two forms; the pairs within the forms are appended to `pairs`. Nothing if the structures
    /// differ.
    std::optional<CoefficientPair> coefficients(const ScaledTerm& made, const ScaledTerm& wanted) {
        if (made.core == wanted.core) return CoefficientPair{made.factor, wanted.factor};
        if (depth_ == max_depth || normalizer_.structure(made.core) != normalizer_.structure(wanted.core))
            return std::nullopt;
        const Term &x = normalizer_.term(made.core), &y = normalizer_.term(wanted.core);
        if (x.kind != y.kind || x.op != y.op || x.parts.size() != y.parts.size() || x.parts.empty())
            return std::nullopt;
        ++depth_;
        auto inner = add_attributes(x, y) ? of_parts(x, y) : std::nullopt;
        --depth_;
        if (!inner) return std::nullopt;
        return CoefficientPair{made.factor * inner->made, wanted.factor * inner->wanted};
    }

    PairTable pairs;

private:
    bool add_attributes(const Term& x, const Term& y) {
        if (x.attributes->size() != y.attributes->size()) return false;
        for (std::size_t i = 0; i < x.attributes->size(); ++i) {
            const auto *a = std::get_if<double>(&(*x.attributes)[i].value),
                       *b = std::get_if<double>(&(*y.attributes)[i].value);
            if (a != nullptr && b != nullptr) pairs.push_back({*a, *b});
        }
        return true;
    }

    // For each part of y its counterpart in x: the same core if there is one, else the first of the same structure.
    std::optional<std::vector<ScaledTerm>> partners(const Term& x, const Term& y) const {
        std::vector<ScaledTerm> left(x.parts.begin(), x.parts.end());
        if (y.kind == TermKind::op && !ir::info(y.op).has(ir::OpTrait::commutes)) return left;
        std::vector<std::optional<ScaledTerm>> found(y.parts.size());
        const auto take = [&](std::size_t i, const auto& fits) {
            const auto it = std::find_if(left.begin(), left.end(), fits);
            if (found[i] || it == left.end()) return;
            found[i] = *it;
            left.erase(it);
        };
        for (std::size_t i = 0; i < found.size(); ++i)
            take(i, [&](const ScaledTerm& part) { return part.core == y.parts[i].core; });
        for (std::size_t i = 0; i < found.size(); ++i)
            take(i, [&](const ScaledTerm& part) {
                return normalizer_.structure(part.core) == normalizer_.structure(y.parts[i].core);
            });
        std::vector<ScaledTerm> result;
        for (const auto& part : found) {
            if (!part) return std::nullopt;
            result.push_back(*part);
        }
        return result;
    }

    std::optional<CoefficientPair> of_parts(const Term& x, const Term& y) {
        const auto parts = partners(x, y);
        if (!parts) return std::nullopt;
        const bool is_product = y.kind == TermKind::product;
        PairTable inner;
        for (std::size_t i = 0; i < parts->size(); ++i) {
            const ScaledTerm &a = (*parts)[i], &b = y.parts[i];
            const auto found = is_product ? coefficients({1, a.core}, {1, b.core}) : coefficients(a, b);
            if (!found) return std::nullopt;
            inner.push_back(*found);
        }
        if (is_product) return of_powers(*parts, y.parts, inner);
        if (y.kind == TermKind::sum || y.op == ir::Op::max || y.op == ir::Op::concat) return of_terms(y, inner);
        return of_operands(y, inner);
    }

    CoefficientPair of_powers(std::span<const ScaledTerm> made, std::span<const ScaledTerm> wanted,
                              const PairTable& inner) {
        CoefficientPair outer{1, 1};
        for (std::size_t i = 0; i < inner.size(); ++i) {
            pairs.push_back({made[i].factor, wanted[i].factor});
            outer.made *= std::pow(inner[i].made, made[i].factor);
            outer.wanted *= std::pow(inner[i].wanted, wanted[i].factor);
        }
        return outer;
    }

    // Divides by the coefficient of one part, of a number only if there is nothing else.
    CoefficientPair of_terms(const Term& y, const PairTable& inner) {
        std::size_t at = 0;
        while (at + 1 < inner.size() && normalizer_.term(y.parts[at].core).kind == TermKind::one) ++at;
        CoefficientPair outer{std::fabs(inner[at].made), std::fabs(inner[at].wanted)};
        if (!std::isnormal(outer.made) || !std::isnormal(outer.wanted)) outer = {1, 1};
        for (const CoefficientPair& pair : inner) pairs.push_back({pair.made / outer.made, pair.wanted / outer.wanted});
        return outer;
    }

    // f(c x, y) = c f(x, y) for c > 0, and for both sides of a product; in other ops the numbers stay.
    CoefficientPair of_operands(const Term& y, const PairTable& inner) {
        const bool is_linear = y.op == ir::Op::abs || y.op == ir::Op::matmul || y.op == ir::Op::sum ||
                               y.op == ir::Op::max_reduce || ir::info(y.op).has(ir::OpTrait::linear);
        CoefficientPair outer{1, 1};
        for (std::size_t i = 0; i < inner.size(); ++i) {
            CoefficientPair pair = inner[i];
            const bool is_factored_out = is_linear && (i == 0 || y.op == ir::Op::matmul) && std::isnormal(pair.made) &&
                                         std::isnormal(pair.wanted);
            if (is_factored_out) {
                outer.made *= std::fabs(pair.made);
                outer.wanted *= std::fabs(pair.wanted);
                pair = {std::copysign(1.0, pair.made), std::copysign(1.0, pair.wanted)};
            }
            pairs.push_back(pair);
        }
        return outer;
    }

    const Normalizer& normalizer_;
    int depth_ = 0;
};

bool near(double a, double b, double tolerance) {
    return std::fabs(a - b) <= tolerance * std::max(std::fabs(a), std::fabs(b));
}

/// A number s, and the values at one place for s, 2 s and 4 s.
struct Samples {
    double number, value[3];

    bool is_constant() const { return near(value[0], value[1], 1e-13) && near(value[1], value[2], 1e-13); }
    // The number for which the value at the place is `wanted`.
    std::optional<double> solved_for(double wanted) const {
        for (const bool of_logarithm : {true, false})
            for (const bool to_logarithm : {true, false})
                if (is_straight(of_logarithm, to_logarithm)) return by_law(of_logarithm, to_logarithm, wanted);
        return std::nullopt;
    }

private:
    static double scaled(double value, bool to_logarithm) { return to_logarithm ? std::log(std::fabs(value)) : value; }
    // The slope between samples `at` and `at` + 1.
    double slope(bool of_logarithm, bool to_logarithm, int at) const {
        const double step = of_logarithm ? std::log(2) : number * (1 << at);
        return (scaled(value[at + 1], to_logarithm) - scaled(value[at], to_logarithm)) / step;
    }
    // True if the values, or their logarithms, are linear in the number, or in its logarithm.
    bool is_straight(bool of_logarithm, bool to_logarithm) const {
        const bool has_one_sign = std::all_of(std::begin(value), std::end(value), [&](double v) {
            return std::isnormal(v) && std::signbit(v) == std::signbit(value[0]);
        });
        if (to_logarithm && !has_one_sign) return false;
        const double first = slope(of_logarithm, to_logarithm, 0);
        return std::isfinite(first) && first != 0 && near(first, slope(of_logarithm, to_logarithm, 1), straight);
    }
    std::optional<double> by_law(bool of_logarithm, bool to_logarithm, double wanted) const {
        const double line = slope(of_logarithm, to_logarithm, 0), power = std::round(line);
        const bool is_reflected = to_logarithm && std::signbit(wanted) != std::signbit(value[0]);
        // An odd power of a negative number.
        const bool may_reflect = of_logarithm && near(line, power, straight) && std::fmod(power, 2) != 0;
        if ((to_logarithm && wanted == 0) || (is_reflected && !may_reflect)) return std::nullopt;
        const double at =
            scaled(number, of_logarithm) + (scaled(wanted, to_logarithm) - scaled(value[0], to_logarithm)) / line;
        return of_logarithm ? (is_reflected ? -1 : 1) * std::exp(at) : at;
    }

    static constexpr double straight = 1e-7;
};

/// The samples of each unknown number, at each place.
using Table = std::vector<std::vector<Samples>>;

std::optional<Table> sampled(const PairsOf& pairs_of, const std::vector<double>& numbers, const PairTable& pairs,
                             const std::vector<bool>& is_known) {
    Table table(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (is_known[i]) continue;
        for (const CoefficientPair& pair : pairs) table[i].push_back({numbers[i], {pair.made, 0, 0}});
        for (const int step : {1, 2}) {
            std::vector<double> moved = numbers;
            moved[i] *= 1 << step;
            const auto moved_pairs = pairs_of(moved);
            if (!moved_pairs || moved_pairs->size() != pairs.size()) return std::nullopt;
            for (std::size_t at = 0; at < pairs.size(); ++at) table[i][at].value[step] = (*moved_pairs)[at].made;
        }
    }
    return table;
}

// The only unknown number on which the value at this place depends.
std::optional<std::size_t> depends_on(const Table& table, const std::vector<bool>& is_known, std::size_t at) {
    std::optional<std::size_t> alone;
    for (std::size_t i = 0; i < is_known.size(); ++i) {
        if (is_known[i] || table[i][at].is_constant()) continue;
        if (alone) return std::nullopt;
        alone = i;
    }
    return alone;
}

}  // namespace

std::optional<std::vector<CoefficientPair>> coefficient_pairs(const Normalizer& normalizer, const ScaledTerm& made,
                                                              const ScaledTerm& wanted) {
    Alignment alignment(normalizer);
    const auto outer = alignment.coefficients(made, wanted);
    if (!outer) return std::nullopt;
    alignment.pairs.push_back(*outer);
    return std::move(alignment.pairs);
}

std::vector<std::vector<double>> solve_numbers(const PairsOf& pairs_of, std::vector<double> start) {
    constexpr std::size_t max_solutions = 4;
    std::vector<double> numbers = std::move(start);
    std::vector<bool> is_known(numbers.size(), false);
    std::vector<std::vector<double>> solutions;
    for (std::size_t left = numbers.size(); left > 0; --left) {
        const auto pairs = pairs_of(numbers);
        const auto table = pairs ? sampled(pairs_of, numbers, *pairs, is_known) : std::nullopt;
        if (!table) return {};
        // If no place depends on one number alone, any value serves for one of them.
        auto next = static_cast<std::size_t>(std::find(is_known.begin(), is_known.end(), false) - is_known.begin());
        double solution = 1;
        bool is_found = false;
        for (std::size_t at = 0; at < pairs->size() && (!is_found || left == 1); ++at) {
            const std::optional<std::size_t> alone = depends_on(*table, is_known, at);
            const auto found = alone ? (*table)[*alone][at].solved_for((*pairs)[at].wanted) : std::nullopt;
            if (!found || !std::isfinite(*found)) continue;
            if (!std::exchange(is_found, true)) next = *alone, solution = *found;
            std::vector<double> last = numbers;
            last[*alone] = *found;
            const bool is_known_solution = std::any_of(solutions.begin(), solutions.end(), [&](const auto& known) {
                return near(known[*alone], *found, 1e-6);
            });
            if (left == 1 && !is_known_solution && solutions.size() < max_solutions)
                solutions.push_back(std::move(last));
        }
        numbers[next] = solution;
        is_known[next] = true;
    }
    if (solutions.empty()) solutions.push_back(std::move(numbers));
    return solutions;
}

}  // namespace cairn::fusion
