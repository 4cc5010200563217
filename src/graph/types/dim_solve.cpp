#include "graph/types/dim_solve.hpp"

#include "graph/types/dim_table.hpp"

#include <algorithm>
#include <array>

namespace cairn::inline v0::detail {
namespace {

constexpr int max_boxes = 1 << 14;

bool is_in(const Polynomial& polynomial, std::size_t symbol) noexcept;

bool is_in(const Atom& atom, std::size_t symbol) noexcept {
    if (atom.kind == AtomKind::symbol) return atom.index == symbol;
    return std::any_of(atom.args.begin(), atom.args.end(),
                       [&](const Polynomial& argument) { return is_in(argument, symbol); });
}

bool is_in(const Polynomial& polynomial, std::size_t symbol) noexcept {
    for (const Term& term : polynomial.terms)
        for (const Atom* factor : term.factors)
            if (is_in(*factor, symbol)) return true;
    return false;
}

/// a mod b; exact if the quotient is a single number.
Interval remainder(Interval a, Interval b) noexcept {
    const Interval bound = remainder_bounds(a, b), quotient = quotient_bounds(a, b);
    if (quotient.low != quotient.high) return bound;
    const Interval exact = add(a, multiply({-quotient.low, -quotient.low}, b));
    return {std::max(bound.low, exact.low), std::min(bound.high, exact.high)};
}

/// A search node: an interval of the unknown, with the bounds of sizes over it.
class SearchBox {
public:
    SearchBox(const Unknown& unknown, std::int64_t low, std::int64_t high) noexcept
        : unknown_(unknown), range_{low, high} {}

    bool is_point() const noexcept { return range_.low == range_.high; }
    std::int64_t low() const noexcept { return to_int64(range_.low); }
    SearchBox lower_half() const noexcept { return {unknown_, low(), to_int64(middle())}; }
    SearchBox upper_half() const noexcept { return {unknown_, to_int64(middle() + 1), to_int64(range_.high)}; }

    /// Empty if a divisor is 0 in the whole box.
    std::optional<Interval> bounds(std::span<const Dim> factors) const noexcept {
        divides_by_zero_ = false;
        Interval product{1, 1};
        for (const Dim& factor : factors) product = multiply(product, bounds(factor));
        return divides_by_zero_ ? std::nullopt : std::optional(product);
    }

private:
    Wide middle() const noexcept { return range_.low + (range_.high - range_.low) / 2; }

    Interval bounds(const Dim& size) const noexcept {
        if (size.node() != nullptr) return bounds(*size.node()->polynomial);
        const Wide value = size.lower_bound();
        return {value, value};
    }
    Interval bounds(const Polynomial& polynomial) const noexcept {
        Interval sum{0, 0};
        for (const Term& term : polynomial.terms) {
            Interval product{term.coefficient, term.coefficient};
            for (const Atom* factor : term.factors) product = multiply(product, bounds(*factor));
            sum = add(sum, product);
        }
        return sum;
    }
    Interval bounds(const Atom& atom) const noexcept {
        if (atom.kind == AtomKind::symbol) {
            if (atom.index == unknown_.symbol) return range_;
            const Wide value = unknown_.values[atom.index];
            return {value, value};
        }
        Interval result = bounds(atom.args[0]);
        for (std::size_t i = 1; i < atom.args.size(); ++i) {
            const Interval next = bounds(atom.args[i]);
            const bool divides = atom.kind == AtomKind::floordiv || atom.kind == AtomKind::mod;
            divides_by_zero_ = divides_by_zero_ || (divides && next.low == 0 && next.high == 0);
            switch (atom.kind) {
                case AtomKind::floordiv: result = quotient_bounds(result, next); break;
                case AtomKind::mod: result = remainder(result, next); break;
                case AtomKind::min: result = interval_min(result, next); break;
                case AtomKind::max: result = interval_max(result, next); break;
                case AtomKind::symbol: break;
            }
        }
        return result;
    }

    Unknown unknown_;
    Interval range_;
    mutable bool divides_by_zero_ = false;
};

/// Stack of the boxes still to be searched. Each step halves one box, so a search of 64-bit numbers never holds more
/// than 65.
class SearchStack {
public:
    explicit SearchStack(const SearchBox& first) noexcept { push(first); }
    bool empty() const noexcept { return count_ == 0; }
    void push(const SearchBox& box) noexcept { boxes_[count_++] = box; }
    SearchBox pop() noexcept { return *boxes_[--count_]; }

private:
    std::array<std::optional<SearchBox>, 72> boxes_;
    std::size_t count_ = 0;
};

bool holds(const SearchBox& box, std::span<const SizeEquation> equations) noexcept {
    return std::all_of(equations.begin(), equations.end(), [&](const SizeEquation& equation) {
        const std::optional<Interval> bounds = box.bounds(equation.factors);
        // At a point the interval is a single number, unless the number is beyond the range of intervals.
        return bounds && bounds->low <= equation.value && equation.value <= bounds->high &&
               (!box.is_point() || bounds->low == bounds->high);
    });
}

/// The largest value of `factors` that is at most `limit`. With `above`, values are negated: then the smallest value
/// that is at least -limit.
std::optional<std::int64_t> nearest(std::span<const Dim> factors, const Unknown& unknown, Wide limit,
                                    bool above) noexcept {
    const auto seen = [&](const SearchBox& box) {
        const std::optional<Interval> bounds = box.bounds(factors);
        if (!bounds) return Interval{infinity, infinity};  // beyond the limit
        return above ? Interval{-bounds->high, -bounds->low} : *bounds;
    };
    std::optional<Wide> best;
    SearchStack boxes({unknown, unknown.low, unknown.high});
    for (int steps = 0; !boxes.empty(); ++steps) {
        if (steps == max_boxes) return std::nullopt;
        const SearchBox box = boxes.pop();
        const Interval bounds = seen(box);
        if (bounds.low > limit || (best && bounds.high <= *best)) continue;
        if (box.is_point()) {
            if (bounds.low == bounds.high && (above || bounds.low >= 0)) best = bounds.low;
            continue;
        }
        // Search first the half whose values are nearer to the limit without all being beyond it.
        const SearchBox lower = box.lower_half(), upper = box.upper_half();
        const Wide of_lower = seen(lower).low, of_upper = seen(upper).low;
        const bool upper_first = of_upper <= limit && (of_upper > of_lower || of_lower > limit);
        boxes.push(upper_first ? lower : upper);
        boxes.push(upper_first ? upper : lower);
    }
    if (!best) return std::nullopt;
    const Wide value = above ? -*best : *best;
    return Wide(to_int64(value)) == value ? std::optional(to_int64(value)) : std::nullopt;
}

}  // namespace

bool depends_on(const Dim& size, std::size_t symbol) noexcept {
    return size.node() != nullptr && is_in(*size.node()->polynomial, symbol);
}

Solution solve(std::span<const SizeEquation> equations, const Unknown& unknown) noexcept {
    Solution solution;
    SearchStack boxes({unknown, unknown.low, unknown.high});
    for (int steps = 0; !boxes.empty(); ++steps) {
        if (steps == max_boxes) {
            solution.count = SolutionCount::undecided;
            return solution;
        }
        const SearchBox box = boxes.pop();
        if (!holds(box, equations)) continue;
        if (!box.is_point()) {
            boxes.push(box.upper_half());
            boxes.push(box.lower_half());
        } else if (solution.count == SolutionCount::none) {
            solution.count = SolutionCount::one;
            solution.value = box.low();
        } else {
            solution.count = SolutionCount::several;
            solution.second = box.low();
            return solution;
        }
    }
    return solution;
}

Attainable nearest_attainable(const SizeEquation& equation, const Unknown& unknown) noexcept {
    return {nearest(equation.factors, unknown, equation.value, false),
            nearest(equation.factors, unknown, -Wide(equation.value), true)};
}

}  // namespace cairn::inline v0::detail
