#include "program/memory_plan/ceiling_search.hpp"

#include "program/memory_plan/placement_orders.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace cairn::memory_plan {
namespace {

// Rules by which buffers have priority in searches.
constexpr OrderRule rules[] = {OrderRule::area,   OrderRule::creation, OrderRule::contention,
                               OrderRule::ending, OrderRule::duration, OrderRule::size};
constexpr int rule_count = static_cast<int>(std::size(rules));

// Largest changes of ranks, relative to the number of buffers.
constexpr double perturbations[] = {0.01, 0.03, 0.1, 0.3};

// Expected steps of a descent in the largest section that is a core as a whole, in the first core of others, and in the
// largest core.
constexpr std::int64_t whole_core = 750'000, first_core = 100'000, largest_core = 4'000'000;

// Expected steps of a descent: a search that places each buffer once. Each node visits the unplaced buffers and their
// ticks.
std::int64_t steps_of_descent(std::int64_t buffers, std::int64_t ticks) { return buffers * (ticks + 4 * buffers) / 2; }

std::int64_t ticks_of(const Section& section, int buffer) { return section.last[buffer] - section.first[buffer] + 1; }

// Number of placements of the buffers outside the core, for each placement of the core.
constexpr int completion_rounds = 4;

// The element of the Luby sequence 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ... at `index`, from 1.
std::int64_t luby(std::int64_t index) {
    std::int64_t period = 1;
    while (period < index) period = 2 * period + 1;
    return period == index ? (period + 1) / 2 : luby(index - period / 2);
}

}  // namespace

CeilingSearch::CeilingSearch(const PackingProblem& problem, const LiveIntervals& intervals, const Sizes& sizes,
                             int column, std::span<const int> order, Placer& placer)
    : problem_(&problem), intervals_(&intervals), sizes_(&sizes), column_(column), placer_(&placer) {
    std::vector<int> section_of(problem.buffers.size(), -1);
    for (Section& section : sections_of(problem, intervals, sizes, column)) {
        for (const int b : section.buffers) section_of[b] = static_cast<int>(plans_.size());
        lower_bound_ = std::max(lower_bound_, section.lower_bound);
        plans_.emplace_back().section = std::move(section);
    }
    place(order);
    for (const int b : order) {
        if (section_of[b] < 0) {
            without_bytes_.push_back(b);
            continue;
        }
        SectionPlan& plan = plans_[section_of[b]];
        plan.order.push_back(b);
        plan.height = std::max(plan.height, end(b));
    }
}

std::int64_t CeilingSearch::place(std::span<const int> order) {
    steps_ += placer_->place(order, *sizes_, column_, GapFit::first);
    std::int64_t height = 0;
    for (const int b : order) height = std::max(height, end(b));
    return height;
}

std::int64_t CeilingSearch::end(int buffer) const { return placer_->offsets()[buffer] + sizes_->at(buffer, column_); }

bool CeilingSearch::attempt(std::int64_t steps, const std::stop_token& stop) {
    if (plans_.empty()) return false;
    SectionPlan& highest = *std::max_element(
        plans_.begin(), plans_.end(), [](const SectionPlan& a, const SectionPlan& b) { return a.height < b.height; });
    steps_ += static_cast<std::int64_t>(plans_.size());
    if (highest.height <= lower_bound_) return false;
    if (highest.by_rule.empty()) order_by_rules();
    if (highest.core == 0) choose_core(highest);
    lower(highest, steps, stop);
    return true;
}

void CeilingSearch::order_by_rules() {
    std::vector<std::pair<SectionPlan*, int>> number(problem_->buffers.size());
    for (SectionPlan& plan : plans_)
        for (int i = 0; i < plan.section.count(); ++i) number[plan.section.buffers[i]] = {&plan, i};
    for (const OrderRule rule : rules) {
        for (SectionPlan& plan : plans_) plan.by_rule.emplace_back();
        for (const int b : order_by(rule, *intervals_, *sizes_, column_))
            if (const auto [plan, i] = number[b]; plan != nullptr) plan->by_rule.back().push_back(i);
    }
    for (const int b : order_by(OrderRule::pressure, *intervals_, *sizes_, column_))
        if (const auto [plan, i] = number[b]; plan != nullptr) plan->core_first.push_back(i);
    steps_ += static_cast<std::int64_t>(number.size()) * rule_count;
}

void CeilingSearch::choose_core(SectionPlan& plan) {
    const int count = plan.section.count();
    std::int64_t ticks = 0;
    for (int i = 0; i < count; ++i) {
        ticks += ticks_of(plan.section, plan.core_first[i]);
        const std::int64_t steps = steps_of_descent(i + 1, ticks);
        if (i == 0 || steps <= first_core || (i + 1 == count && steps <= whole_core)) plan.core = i + 1;
        if (steps > whole_core) break;
    }
    plan.failed = lower_bound_ - 1;
}

// The buffers of the core, by one of the rules.
std::vector<int> CeilingSearch::priority_of_core(const SectionPlan& plan) {
    const int turn = plan.attempts / 2;
    const bool is_plain = turn < rule_count;
    const std::vector<int>& by_rule = plan.by_rule[is_plain ? turn : static_cast<int>(random_.below(rule_count))];
    const double perturbation = is_plain ? 0 : perturbations[random_.below(std::size(perturbations))] * plan.core;
    std::vector<char> in_core(by_rule.size(), 0);
    for (int i = 0; i < plan.core; ++i) in_core[plan.core_first[i]] = 1;
    std::vector<std::pair<double, int>> ranked;
    for (const int b : by_rule)
        if (in_core[b])
            ranked.emplace_back(static_cast<double>(ranked.size()) + perturbation * random_.below(1 << 16) / (1 << 16),
                                b);
    std::sort(ranked.begin(), ranked.end());
    std::vector<int> priority;
    for (const auto& [rank, b] : ranked) priority.push_back(b);
    return priority;
}

void CeilingSearch::lower(SectionPlan& plan, std::int64_t steps, const std::stop_token& stop) {
    const bool bisects = plan.attempts % 2 == 1;
    const std::int64_t ceiling =
        bisects ? std::max(plan.failed + (plan.height - plan.failed) / 2, lower_bound_) : lower_bound_;
    std::vector<int> core = priority_of_core(plan);
    std::int64_t ticks = 0;
    for (int& b : core) {
        ticks += ticks_of(plan.section, b);
        b = plan.section.buffers[b];
    }
    const Section section = section_of(*problem_, *intervals_, *sizes_, column_, core);
    std::vector<int> numbers(core.size());
    std::iota(numbers.begin(), numbers.end(), 0);

    const double descent = static_cast<double>(steps_of_descent(section.count(), ticks));
    const double share = 2 * plan.steps_per_descent * descent * static_cast<double>(luby(plan.attempts++ / 2 + 1));
    CanonicalSearch search(section, numbers);
    const std::int64_t height = plan.height;
    const SearchResult result =
        search.run(ceiling, share < static_cast<double>(steps) ? static_cast<std::int64_t>(share) : steps, stop);
    steps_ += search.steps();
    if (result == SearchResult::none) lower_bound_ = align_up(ceiling + 1, section.unit);
    if (result == SearchResult::found) {
        plan.steps_per_descent = std::clamp(static_cast<double>(search.steps()) / descent, 0.25, 4.0);
        numbers = search.order();
        for (int& number : numbers) number = core[number];
        complete(plan, numbers, ceiling);
    }
    if (bisects && plan.height == height) plan.failed = ceiling;
    if (plan.height - plan.failed <= lower_bound_ / 256) plan.failed = lower_bound_ - 1;
}

// Places the other buffers after those of the core, which are given in order of offset. Those that end above the
// ceiling are placed first in the next round; those of the last round join the core.
void CeilingSearch::complete(SectionPlan& plan, std::span<const int> core, std::int64_t ceiling) {
    const std::vector<int>& buffers = plan.section.buffers;
    const auto others = plan.core_first.begin() + plan.core;
    int above = 0;
    for (int round = 0; round < completion_rounds; ++round) {
        std::vector<int> order(core.begin(), core.end());
        std::transform(others, plan.core_first.end(), std::back_inserter(order), [&](int b) { return buffers[b]; });
        const std::int64_t height = place(order);
        if (height < plan.height) {
            plan.height = height;
            plan.order = std::move(order);
        }
        if (height <= ceiling) return;
        const auto below =
            std::stable_partition(others, plan.core_first.end(), [&](int b) { return end(buffers[b]) > ceiling; });
        above = static_cast<int>(below - others);
    }
    const int grown = std::min(plan.core + std::max(above, plan.core / 4 + 1), plan.section.count());
    std::int64_t ticks = 0;
    for (int i = 0; i < grown; ++i) {
        ticks += ticks_of(plan.section, plan.core_first[i]);
        if (steps_of_descent(i + 1, ticks) > largest_core) break;
        plan.core = std::max(plan.core, i + 1);
    }
}

std::vector<int> CeilingSearch::order() const {
    std::vector<int> order = without_bytes_;
    for (const SectionPlan& plan : plans_) order.insert(order.end(), plan.order.begin(), plan.order.end());
    return order;
}

}  // namespace cairn::memory_plan
