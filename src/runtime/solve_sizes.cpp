#include "runtime/solve_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cairn::runtime {
namespace {

using detail::Solution;
using detail::SolutionCount;

std::size_t axes_of(const ProgramSet& set) {
    std::size_t axes = 0;
    for (const program::Port& port : set.inputs) axes += port.desc.shape.size();
    return axes;
}

std::span<const Dim> factors_of(const GivenSize& given) {
    const std::span<const Dim> shape = given.desc->shape;
    return given.axis == GivenSize::elements ? shape : shape.subspan(static_cast<std::size_t>(given.axis), 1);
}

/// `input "x" is f32[1,3,32*h,32*w]`.
std::string type_text(const GivenSize& given) {
    return fmt::format("{} \"{}\" is {}", given.kind, given.name, to_string(*given.desc));
}

/// `64 on axis 2`, `384 elements`.
std::string location_text(const GivenSize& given, std::int64_t size) {
    return given.axis == GivenSize::elements ? fmt::format("{} elements", size)
                                             : fmt::format("{} on axis {}", size, given.axis);
}

std::string expression_text(const GivenSize& given) {
    std::string text;
    for (const Dim& factor : factors_of(given)) {
        if (factor == Dim(1)) continue;
        const std::string one = to_string(factor);
        const bool is_sum = one.find(' ') != std::string::npos && given.axis == GivenSize::elements;
        text += (text.empty() ? "" : " * ") + (is_sum ? "(" + one + ")" : one);
    }
    return text;
}

std::string suggestion_text(const detail::Attainable& nearest) {
    if (nearest.below && nearest.above)
        return fmt::format(": the nearest that fit are {} and {}", *nearest.below, *nearest.above);
    if (!nearest.below && !nearest.above) return {};
    return fmt::format(": the nearest that fits is {}", nearest.below ? *nearest.below : *nearest.above);
}

}  // namespace

detail::SizeEquation GivenSize::equation() const noexcept { return {factors_of(*this), size}; }

SizeSolver::SizeSolver(const ProgramSet& set) : SizeSolver(set.symbols->list(), axes_of(set) + 1) {}

SizeSolver::SizeSolver(std::vector<Symbols::Symbol> symbols, std::size_t max_given)
    : symbols_(std::move(symbols)), values_(symbols_.size(), 0), known_(symbols_.size(), 0) {
    given_.reserve(max_given);
    gathered_.reserve(max_given);
    equations_.reserve(max_given);
}

void SizeSolver::begin() {
    std::fill(values_.begin(), values_.end(), 0);
    std::fill(known_.begin(), known_.end(), 0);
    given_.clear();
}

void SizeSolver::set_known(std::size_t symbol, std::int64_t value) {
    values_[symbol] = value;
    known_[symbol] = 1;
}

bool SizeSolver::depends_on(const GivenSize& given, std::size_t symbol) const noexcept {
    const std::span<const Dim> factors = factors_of(given);
    return std::any_of(factors.begin(), factors.end(),
                       [&](const Dim& factor) { return detail::depends_on(factor, symbol); });
}

int SizeSolver::count_unknown(const GivenSize& given, std::size_t& symbol) const noexcept {
    int count = 0;
    for (std::size_t s = 0; s < symbols_.size() && count < 2; ++s)
        if (!is_known(s) && depends_on(given, s)) symbol = s, ++count;
    return count;
}

void SizeSolver::gather(std::size_t symbol) {
    gathered_.clear();
    equations_.clear();
    for (const GivenSize& given : given_)
        if (std::size_t only = 0; count_unknown(given, only) == 1 && only == symbol) {
            gathered_.push_back(given);
            equations_.push_back(given.equation());
        }
}

detail::Unknown SizeSolver::unknown(std::size_t symbol) const noexcept {
    return {values_, symbol, symbols_[symbol].low, symbols_[symbol].high};
}

std::string SizeSolver::solve() {
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t s = 0; s < symbols_.size(); ++s) {
            if (is_known(s)) continue;
            gather(s);
            if (equations_.empty()) continue;
            const Solution solution = detail::solve(equations_, unknown(s));
            if (solution.count == SolutionCount::none) return fault(s);
            if (solution.count != SolutionCount::one) continue;
            set_known(s, solution.value);
            changed = true;
        }
    }
    return {};
}

std::string SizeSolver::others_text(const GivenSize& given, std::size_t symbol) const {
    std::string text;
    for (std::size_t s = 0; s < symbols_.size(); ++s)
        if (s != symbol && depends_on(given, s))
            text += fmt::format("{}{} = {}", text.empty() ? " at " : ", ", symbols_[s].name, values_[s]);
    return text;
}

std::string SizeSolver::fault(std::size_t symbol) const {
    const Symbols::Symbol& name = symbols_[symbol];
    for (std::size_t e = 0; e < equations_.size(); ++e)
        if (const GivenSize& given = gathered_[e];
            detail::solve({&equations_[e], 1}, unknown(symbol)).count == SolutionCount::none)
            return fmt::format("{}, got {}, which is {} for no {} in {}..{}{}{}", type_text(given),
                               location_text(given, given.size), expression_text(given), name.name, name.low, name.high,
                               others_text(given, symbol),
                               suggestion_text(detail::nearest_attainable(equations_[e], unknown(symbol))));
    const GivenSize &first = gathered_.front(), &last = gathered_.back();
    const std::string of_last = first.desc == last.desc ? "" : fmt::format(" of {} \"{}\"", last.kind, last.name);
    return fmt::format("{}, got {} and {}{}, which are {} and {} for no {} in {}..{}", type_text(first),
                       location_text(first, first.size), location_text(last, last.size), of_last,
                       expression_text(first), expression_text(last), name.name, name.low, name.high);
}

std::string SizeSolver::check() const {
    constexpr auto none = static_cast<std::size_t>(-1);
    for (const GivenSize& given : given_) {
        std::size_t unknown = none;
        if (given.axis == GivenSize::elements || count_unknown(given, unknown) > 0) continue;
        const std::int64_t wanted = factors_of(given).front().evaluate(values_);
        if (wanted != given.size)
            return fmt::format("{}, got {}, expected {} = {}{}", type_text(given), location_text(given, given.size),
                               expression_text(given), wanted, others_text(given, none));
    }
    return {};
}

std::string SizeSolver::ambiguity(std::size_t symbol) {
    gather(symbol);
    if (equations_.empty()) return {};
    const Solution solution = detail::solve(equations_, unknown(symbol));
    if (solution.count != SolutionCount::several) return {};
    const GivenSize& given = gathered_.front();
    return fmt::format("{} \"{}\" has {}, which is {} for {} = {} and for {}", given.kind, given.name,
                       location_text(given, given.size), expression_text(given), symbols_[symbol].name, solution.value,
                       solution.second);
}

}  // namespace cairn::runtime
