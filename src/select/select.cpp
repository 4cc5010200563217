#include "select/select.hpp"

#include "cairn/error.hpp"
#include "search/explore.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::select {
namespace {

/// All ways, of which one of the cheapest is looked for. Throws where there is none, or on a stop.
search::Exploration explored(const search::Problem& problem, const std::stop_token& stop) {
    search::Options options;
    options.stop = stop;
    search::Exploration found = search::explore(problem, options);
    switch (found.status) {
        case search::Status::found: break;
        case search::Status::unreachable:
            throw Error(ErrorKind::unsupported, "select", fmt::format("goal {} cannot be reached", found.unreachable));
        case search::Status::impossible:
            throw Error(ErrorKind::unsupported, "select", "each goal can be reached, but not all of them at once");
        case search::Status::stopped: throw Cancelled("select");
    }
    return found;
}

/// The same problem with every time in a run at its lower bound, and nothing else counted: its optimum bounds all
/// covers from below.
double lower_bound_of(const Memo& memo, const std::vector<bool>& bound, const std::stop_token& stop) {
    search::Problem optimistic = memo.problem;
    for (int choice = 0; choice < optimistic.alternatives(); ++choice) {
        const GoalKey& key = memo.keys[static_cast<std::size_t>(optimistic.goal_of(choice))];
        optimistic.set_cost(choice,
                            bound[key.first] ? 0 : memo.candidates[static_cast<std::size_t>(choice)].estimate.low);
    }
    const search::Exploration found = explored(optimistic, stop);
    return found.space.cost(found.paths);
}

/// The cheapest cover, whether or not its kernels can prepare what they are to do.
Selection select_freely(const ir::GraphData& graph, const std::vector<fuse::Tile>& tiles, Candidates& candidates,
                        const Options& options) {
    const Memo memo = memo_of(graph, tiles, candidates, !options.search, options.stop);
    const search::Exploration found = explored(memo.problem, options.stop);
    Selection selection;
    selection.states = found.states;
    selection.regions = found.regions;
    selection.regions_solved = found.regions_solved;
    selection.exact = found.exact;
    for (const int choice : found.space.cheapest(found.paths).choices) {
        const GoalKey& key = memo.keys[static_cast<std::size_t>(memo.problem.goal_of(choice))];
        if (is_residence(key)) {
            selection.resident.push_back(key);
            continue;
        }
        const Candidate& candidate = memo.candidates[static_cast<std::size_t>(choice)];
        if (!candidates.bound()[key.first]) selection.seconds += candidate.estimate.seconds;
        selection.chosen.push_back({key, candidate});
    }
    if (options.search && options.find_low) selection.low = lower_bound_of(memo, candidates.bound(), options.stop);
    return selection;
}

}  // namespace

Selection select(const ir::GraphData& graph, const std::vector<fuse::Tile>& tiles, Candidates& candidates,
                 const Options& options) {
    while (true) {
        Selection selection = select_freely(graph, tiles, candidates, options);
        bool prepared = true;
        for (const Choice& choice : selection.chosen) {
            if (options.stop.stop_requested()) throw Cancelled("select");
            prepared = candidates.can_prepare(choice.candidate) && prepared;
        }
        if (!prepared) continue;
        for (const GoalKey& residence : selection.resident) candidates.keep(residence);
        return selection;
    }
}

std::string to_string(const Selection& selection) {
    std::string text =
        fmt::format("expected {:.4g} s, at least {:.4g} s, {} frontiers, {} regions of which {} differ{}\n",
                    selection.seconds, selection.low, selection.states, selection.regions, selection.regions_solved,
                    selection.exact ? "" : ", limit reached: not exact");
    for (const auto& [goal, candidate] : selection.chosen)
        text += fmt::format("{} {:.4g} s{} | {}\n", candidate.kernel->id, candidate.estimate.seconds,
                            candidate.estimate.measured ? " (measured)" : "", cairn::to_string(*candidate.problem));
    return text;
}

}  // namespace cairn::inline v0::select
