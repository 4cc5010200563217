#include "select/select.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::inline v0::select {
namespace {

/// The same problem with every time in a run at its lower bound, and nothing else counted: its optimum bounds all
/// covers from below.
double lower_bound_of(const Memo& memo, const std::vector<bool>& bound, const SearchOptions& options) {
    SearchProblem optimistic = memo.problem;
    for (std::size_t g = 0; g < optimistic.goals.size(); ++g)
        for (std::size_t a = 0; a < optimistic.goals[g].size(); ++a)
            optimistic.goals[g][a].cost = bound[memo.keys[g].first] ? 0 : memo.candidates[g][a].estimate.low;
    return search(optimistic, options).cost;
}

/// The cheapest cover, whether or not its kernels can prepare what they are to do.
Selection select_freely(const ir::GraphData& graph, const std::vector<fuse::Tile>& tiles, Candidates& candidates,
                        const Options& options) {
    const Memo memo = memo_of(graph, tiles, candidates, !options.search, options.stop);
    SearchOptions search_options;
    search_options.stop = options.stop;
    const SearchResult found = search(memo.problem, search_options);
    Selection selection;
    selection.states = found.states;
    selection.regions = found.regions;
    selection.regions_solved = found.regions_solved;
    selection.exact = found.exact;
    for (std::size_t goal = 0; goal < found.choice.size(); ++goal) {
        if (found.choice[goal] < 0) continue;
        const Candidate& candidate = memo.candidates[goal][static_cast<std::size_t>(found.choice[goal])];
        if (is_residence(memo.keys[goal])) {
            selection.resident.push_back(memo.keys[goal]);
            continue;
        }
        if (!candidates.bound()[memo.keys[goal].first]) selection.seconds += candidate.estimate.seconds;
        selection.chosen.push_back({memo.keys[goal], candidate});
    }
    if (options.search && options.find_low) selection.low = lower_bound_of(memo, candidates.bound(), search_options);
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
