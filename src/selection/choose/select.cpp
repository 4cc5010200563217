#include "selection/choose/select.hpp"

#include "cairn/error.hpp"
#include "selection/choose/constrained_selection.hpp"
#include "selection/search/decomposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace cairn::selection {
namespace {

/// Optimum of the problem with every run-time cost at its lower bound and all others 0: a lower bound for all covers.
double lower_bound_of(const Memo& memo, std::span<const Bucket> buckets, const std::stop_token& stop) {
    search::SearchProblem optimistic = memo.problem;
    for (int choice = 0; choice < optimistic.alternatives(); ++choice) {
        const Memo::Request& request = memo.goals[static_cast<std::size_t>(optimistic.goal_of(choice))];
        const Bucket& bucket = buckets[static_cast<std::size_t>(request.bucket)];
        const Candidate& candidate = memo.candidate(choice);
        const bool once = bucket.candidates.bound()[request.goal.value];
        optimistic.set_cost(
            choice, once ? 0 : (candidate.estimate.low + candidate.estimate.cross_core_transfer) * bucket.weight);
    }
    const search::Exploration found = explore_or_throw(optimistic, memo.subproblem_of, {.stop = stop});
    return found.dag.cost(found.paths);
}

/// Sets the devices of all buckets and restores the former ones at the end of its scope.
class ScopedDevices {
public:
    ScopedDevices(std::span<const Bucket> buckets, const std::function<Devices(const Devices&)>& changed)
        : buckets_(buckets) {
        for (const Bucket& bucket : buckets) former_.push_back(bucket.candidates.devices());
        for (std::size_t b = 0; b < buckets.size(); ++b) buckets[b].candidates.set_devices(changed(former_[b]));
    }
    ~ScopedDevices() {
        for (std::size_t b = 0; b < buckets_.size(); ++b) buckets_[b].candidates.set_devices(std::move(former_[b]));
    }
    ScopedDevices(const ScopedDevices&) = delete;
    ScopedDevices& operator=(const ScopedDevices&) = delete;

private:
    std::span<const Bucket> buckets_;
    std::vector<Devices> former_;
};

/// The cost of the cheapest covers if all devices shared one memory; 0 if the search was cut off.
double cost_with_shared_memory(std::span<const Bucket> buckets, const Options& options) {
    const ScopedDevices shared(
        buckets, [](const Devices& devices) { return Devices{.all = devices.all, .share_memory = true}; });
    const Memo memo = memo_of(buckets, Breadth::cheapest, options.stop, options.seconds_per_kept_byte);
    const search::Exploration found = explore_or_throw(memo.problem, memo.subproblem_of, {.stop = options.stop});
    return found.exact ? found.dag.cost(found.paths) : 0;
}

/// The cheapest covers of a memo without inexact choices; whether their kernels can prepare is not checked.
Selections cheapest_of(const Memo& memo, std::span<const Bucket> buckets, const Options& options) {
    const search::Exploration found = explore_or_throw(memo.problem, memo.subproblem_of, {.stop = options.stop});
    Selections selections = covers_of(memo, buckets, found.dag.cheapest(found.paths).choices);
    selections.states = found.states;
    selections.regions = found.regions;
    selections.regions_solved = found.regions_solved;
    selections.exact = found.exact;
    selections.cost = found.dag.cost(found.paths);
    if (!found.exact) selections.lower_bound_cost = std::max(found.low, 0.0);
    return selections;
}

/// The cheapest covers; empty if a kernel of them cannot prepare its problem.
std::optional<Selections> cheapest_that_prepare(std::span<const Bucket> buckets, const Options& options) {
    Memo memo = memo_of(buckets, options.search ? Breadth::cheapest : Breadth::first, options.stop,
                        options.seconds_per_kept_byte);
    const double low = options.search && options.find_lower_bounds ? lower_bound_of(memo, buckets, options.stop) : 0;
    std::optional<Selections> selections = cheapest_covers(std::move(memo), buckets, options);
    if (!selections) return std::nullopt;
    selections->low = low;
    const bool has_devices = !buckets.empty() && buckets[0].candidates.devices().all.size() > 1;
    if (options.search && options.find_lower_bounds && has_devices)
        selections->lower_bound_free_transfers = cost_with_shared_memory(buckets, options);
    return selections;
}

/// True if there are states, and several devices that may hold them.
bool has_state_device_choice(std::span<const Bucket> buckets) {
    return buckets[0].candidates.devices().all.size() > 1 &&
           std::any_of(buckets.begin(), buckets.end(),
                       [](const Bucket& bucket) { return !bucket.graph.states().empty(); });
}

search::Exploration throw_if_not_found(search::Exploration found) {
    switch (found.status) {
        case search::Status::found: break;
        case search::Status::unreachable:
            throw Error(ErrorKind::unsupported, "select", fmt::format("goal {} cannot be reached", found.unreachable));
        case search::Status::impossible:
            throw Error(ErrorKind::unsupported, "select", "each goal can be reached, but not all of them at once");
        case search::Status::stopped: throw Cancelled("select");
        case search::Status::too_large:
            throw Error(ErrorKind::unsupported, "select", "an exact search is too much work");
    }
    return found;
}

}  // namespace

search::Exploration explore_or_throw(const search::SearchProblem& problem, const search::Options& options) {
    return throw_if_not_found(search::explore(problem, options));
}

search::Exploration explore_or_throw(const search::SearchProblem& problem, std::span<const int> subproblem_of,
                                     const search::Options& options) {
    return options.only_cheapest ? throw_if_not_found(search::explore_decomposed(problem, subproblem_of, options))
                                 : explore_or_throw(problem, options);
}

double seconds_of(std::span<const Bucket> buckets, const Selections& covers) {
    double sum = 0;
    for (std::size_t b = 0; b < buckets.size(); ++b) sum += buckets[b].weight * covers.buckets[b].seconds;
    return sum;
}

std::optional<Selections> cheapest_covers(Memo memo, std::span<const Bucket> buckets, const Options& options) {
    if (memo.errors.empty()) {
        Selections selections = cheapest_of(memo, buckets, options);
        if (!can_prepare(buckets, selections, options.stop)) return std::nullopt;
        selections.memo = std::make_shared<const Memo>(std::move(memo));
        return selections;
    }
    std::optional<ConstrainedSelection> traded = select_constrained(std::move(memo), buckets, options);
    if (!traded) return std::nullopt;
    if (!traded->selections)
        throw Error(ErrorKind::unsupported, "select",
                    "each error budget can be kept alone, but no selection was found that "
                    "keeps all");
    return std::move(traded->selections);
}

Selections covers_of(const Memo& memo, std::span<const Bucket> buckets, std::span<const int> path) {
    Selections selections;
    selections.buckets.resize(buckets.size());
    selections.kept_bytes = memo.always_kept_bytes;
    selections.path.assign(path.begin(), path.end());
    for (std::size_t b = 0; b < buckets.size(); ++b)
        for (const accuracy::ErrorBudget& bound : buckets[b].bounds)
            selections.buckets[b].errors.push_back({bound.name, bound.rounding, bound.tolerance()});
    for (const Memo::ErrorTerms& errors : memo.errors) {
        double& error = selections.buckets[static_cast<std::size_t>(errors.bucket)]
                            .errors[static_cast<std::size_t>(errors.bound)]
                            .error;
        error = accuracy::combined_error(error, total_error(path, errors));
    }
    for (const int choice : path) {
        const Memo::Request& request = memo.goals[static_cast<std::size_t>(memo.problem.goal_of(choice))];
        if (request.goal.kept) {
            selections.kept_bytes += request.bytes;
            selections.kept_price += request.price;
            continue;
        }
        Selection& selection = selections.buckets[static_cast<std::size_t>(request.bucket)];
        const Candidate& candidate = memo.candidate(choice);
        const Candidates& all = buckets[static_cast<std::size_t>(request.bucket)].candidates;
        if (!all.bound()[request.goal.value])
            selection.seconds += candidate.estimate.seconds + candidate.estimate.cross_core_transfer;
        if (candidate.kernel != nullptr) selection.chosen.push_back({request.goal, candidate, choice});
    }
    return selections;
}

std::optional<Selections> with_cheapest_state_device(std::span<const Bucket> buckets,
                                                     const std::function<std::optional<Selections>()>& select) {
    if (!has_state_device_choice(buckets)) return select();
    const auto put = [&](Device device) {
        for (const Bucket& bucket : buckets) {
            Devices devices = bucket.candidates.devices();
            devices.of_states = device;
            bucket.candidates.set_devices(std::move(devices));
        }
    };
    std::optional<Selections> best;
    Device best_device = Device::cpu;
    const std::vector<Device> all = buckets[0].candidates.devices().all;
    for (const Device device : all) {
        put(device);
        try {
            std::optional<Selections> selections = select();
            if (selections && (!best || selections->cost < best->cost))
                best = std::move(selections), best_device = device;
        } catch (const Cancelled&) { throw; } catch (const Error& error) {
            if (error.kind() != ErrorKind::unsupported || device == Device::cpu) throw;
        }
    }
    put(best_device);
    return best;
}

Selections select_with_state_device(std::span<const Bucket> buckets, const Options& options) {
    return *with_cheapest_state_device(buckets, [&] { return std::optional(select(buckets, options)); });
}

void choose_state_device(std::span<const Bucket> buckets, const Options& options) {
    if (has_state_device_choice(buckets)) select_with_state_device(buckets, options);
}

bool can_prepare(std::span<const Bucket> buckets, const Selections& selections, const std::stop_token& stop) {
    bool all = true;
    for (std::size_t b = 0; b < buckets.size(); ++b)
        for (const Choice& choice : selections.buckets[b].chosen) {
            if (stop.stop_requested()) throw Cancelled("select");
            all = buckets[b].candidates.can_prepare(choice.candidate) && all;
        }
    return all;
}

Selections select(std::span<const Bucket> buckets, const Options& options) {
    while (true)
        if (std::optional<Selections> selections = cheapest_that_prepare(buckets, options))
            return *std::move(selections);
}

std::string to_string(const Selections& selections, std::size_t bucket) {
    const Selection& selection = selections.buckets[bucket];
    std::string text = fmt::format(
        "expected {:.4g} s; all together at least {:.4g} s, {:.4g} bytes kept, {} search states, {} regions of "
        "which {} differ{}\n",
        selection.seconds, selections.low, selections.kept_bytes, selections.states, selections.regions,
        selections.regions_solved, selections.exact ? "" : ", limit reached: not exact");
    if (selections.lower_bound_cost > 0)
        text += fmt::format("cost {:.6g}, no less than {:.6g}\n", selections.cost, selections.lower_bound_cost);
    if (selections.lower_bound_free_transfers > 0)
        text += fmt::format("cost {:.4g}, at least {:.4g} with free transfers\n", selections.cost,
                            selections.lower_bound_free_transfers);
    for (const auto& [bound, error, limit] : selection.errors)
        text += fmt::format("{}: combined error {:.4g} of {:.4g}\n", bound, error, limit);
    for (const auto& [goal, candidate, number] : selection.chosen) {
        const Estimate& estimate = candidate.estimate;
        text += fmt::format("{} {:.4g} s{}{} | {}\n", candidate.kernel->id, estimate.seconds,
                            estimate.measured ? " (measured)" : "",
                            candidate.error() > 0 ? fmt::format(" error {:.4g}", candidate.error()) : "",
                            cairn::to_string(*candidate.problem));
    }
    return text;
}

}  // namespace cairn::selection
