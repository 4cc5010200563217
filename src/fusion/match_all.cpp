#include "fusion/match_all.hpp"

#include "fusion/repeat_finder.hpp"

#include <algorithm>
#include <utility>

namespace cairn::fusion {
namespace {

using ir::NodeId;

/// The matches and traces of the nodes passed.
class PassedNodes {
public:
    explicit PassedNodes(Matcher& matcher)
        : matches(matcher.graph().nodes().size()),
          matcher_(matcher),
          repeats_(matcher.graph(), matcher.classes(), matcher.forms()) {}

    void pass(NodeId node) {
        const bool repeats = repeats_.pass(node);
        NodeTrace& trace = traces_.emplace_back();
        if (repeats && may_repeat(node - repeats_.shift())) {
            const NodeId earlier = node - repeats_.shift();
            trace.found = traces_[earlier].found;
            for (Matcher::FoundMatch& find : trace.found)
                for (NodeId& operand : find.operands) operand = repeats_.counterpart_of(operand);
            trace.is_repeated = matcher_.match_like(node, trace.found, matches[earlier], matches[node]);
        }
        if (!trace.is_repeated) static_cast<Matcher::MatchTrace&>(trace) = matcher_.match_at(node, matches[node]);
    }

    std::vector<std::vector<Match>> matches;  ///< by node

private:
    struct NodeTrace : Matcher::MatchTrace {
        bool is_repeated = false;
    };

    /// True if every node inspected for `earlier` is in the stretch, or is read by it from before. The nodes `shift`
    /// before those were compared too, so that forms are alike deeper than a search inspects. A node that repeated
    /// another one in this stretch was checked then, and its operands have advanced with it.
    bool may_repeat(NodeId earlier) const {
        const auto has_counterpart = [&](NodeId id) { return repeats_.has_counterpart(id); };
        const NodeTrace& trace = traces_[earlier];
        return earlier >= repeats_.begin() && std::all_of(trace.at.begin(), trace.at.end(), has_counterpart) &&
               std::all_of(trace.found.begin(), trace.found.end(), [&](const Matcher::FoundMatch& find) {
                   return std::all_of(find.operands.begin(), find.operands.end(), has_counterpart);
               });
    }

    Matcher& matcher_;
    RepeatFinder repeats_;
    std::vector<NodeTrace> traces_;
};

}  // namespace

std::vector<std::vector<Match>> match_all(Matcher& matcher, const std::stop_token& stop) {
    PassedNodes passed(matcher);
    for (NodeId id = 0; id < passed.matches.size(); ++id) {
        if (stop.stop_requested()) throw Cancelled("fuse");
        passed.pass(id);
    }
    return std::move(passed.matches);
}

}  // namespace cairn::fusion
