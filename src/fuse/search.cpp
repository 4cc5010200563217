#include "fuse/search.hpp"

#include "fuse/numbers.hpp"
#include "fuse/sizes.hpp"

#include <algorithm>

namespace cairn::inline v0::fuse {
namespace {

using ir::NodeId;

// Guesses for one pattern at one node; the right one is among the first few.
constexpr int most_guesses = 160;
constexpr std::size_t most_candidates = 8;

class Search {
public:
    Search(Matcher& matcher, const Pattern& pattern, NodeId root)
        : matcher_(matcher), graph_(matcher.graph()), pattern_(pattern), skeleton_(*pattern.skeleton.graph), root_(root) {
        overlays_.push_back({pattern.skeleton.outputs[pattern.main], root});
    }

    std::optional<Tile> run() {
        lay(0, 0);
        return std::move(found_);
    }

private:
    bool done() const { return found_.has_value() || guesses_ >= most_guesses; }

    // Finds a partner for each mark on the rim of overlay `at`, from the `next`-th node of its region on; then goes on to the next overlay.
    void lay(std::size_t at, std::size_t next) {
        if (done()) return;
        if (at == overlays_.size()) return choose_operands();
        const Overlay overlay = overlays_[at];
        const std::vector<NodeId>& nodes = pattern_.regions->from(overlay.skeleton).nodes;
        while (next < nodes.size() && !is_new_mark(nodes[next])) ++next;
        if (next == nodes.size()) return lay(at + 1, 0);

        const ir::Node& mark = skeleton_.node(nodes[next]);
        for (const NodeId candidate : matcher_.regions().from(overlay.graph).nodes) {
            const ir::Node& node = graph_.node(candidate);
            if (node.op != mark.op || node.operands.size() != mark.operands.size()) continue;
            const std::size_t size = overlays_.size();
            marks_.push_back(nodes[next]);
            for (std::size_t i = 0; i < mark.operands.size(); ++i) overlays_.push_back({mark.operands[i], node.operands[i]});
            lay(at, next + 1);
            overlays_.resize(size);
            marks_.pop_back();
            if (done()) return;
        }
    }

    bool is_new_mark(NodeId id) const {
        const ir::Node& node = skeleton_.node(id);
        return !is_arithmetic(node) && !node.operands.empty() && std::find(marks_.begin(), marks_.end(), id) == marks_.end();
    }

    // The nodes that may be operand `index`: those in all regions laid over the operand. Where it stands alone in one of them, what has
    // the same core comes first, the plainest of it in front, so that a scale outside is not taken into the operand.
    std::vector<NodeId> candidates(std::size_t index) {
        std::vector<NodeId> result;
        bool first = true;
        std::optional<CanonId> alone;
        const NodeId input = pattern_.skeleton.inputs[index];
        const CanonId leaf = (*pattern_.forms)[input].core;
        for (const Overlay& overlay : overlays_) {
            const std::vector<NodeId>& there = pattern_.regions->from(overlay.skeleton).nodes;
            if (std::find(there.begin(), there.end(), input) == there.end()) continue;
            const std::vector<NodeId>& here = matcher_.regions().from(overlay.graph).nodes;
            if (pattern_.forms->unmoved((*pattern_.forms)[overlay.skeleton].core) == leaf)
                alone = matcher_.forms().unmoved(matcher_.forms()[overlay.graph].core);
            if (first)
                result = here;
            else
                std::erase_if(result, [&](NodeId id) { return std::find(here.begin(), here.end(), id) == here.end(); });
            first = false;
        }
        const auto fits = [&](NodeId id) {
            return id != root_ && Sizes(pattern_).bind(index, graph_.node(id).dtype, graph_.node(id).shape);
        };
        std::erase_if(result, [&](NodeId id) { return !fits(id); });
        if (alone) {
            const auto rest = std::stable_partition(result.begin(), result.end(), [&](NodeId id) {
                return matcher_.forms().unmoved(matcher_.forms()[id].core) == *alone;
            });
            std::reverse(result.begin(), rest);
        }
        if (result.size() > most_candidates) result.resize(most_candidates);
        return result;
    }

    void choose_operands() {
        std::vector<std::vector<NodeId>> choices;
        for (std::size_t i = 0; i < pattern_.skeleton.inputs.size(); ++i) {
            choices.push_back(candidates(i));
            if (choices.back().empty()) return;
        }
        numbers_ = numbers_for(matcher_, pattern_, overlays_);
        std::vector<NodeId> operands;
        choose_operand(choices, operands, Sizes(pattern_));
    }

    void choose_operand(const std::vector<std::vector<NodeId>>& choices, std::vector<NodeId>& operands, const Sizes& sizes) {
        const std::size_t index = operands.size();
        if (index == choices.size()) return guess(operands, sizes);
        for (const NodeId id : choices[index]) {
            if (done()) return;
            Sizes more = sizes;
            if (!more.bind(index, graph_.node(id).dtype, graph_.node(id).shape)) continue;
            operands.push_back(id);
            choose_operand(choices, operands, more);
            operands.pop_back();
        }
    }

    void guess(const std::vector<NodeId>& operands, const Sizes& sizes) {
        std::vector<TensorDesc> types;
        for (const NodeId id : operands) types.push_back({graph_.node(id).dtype, graph_.node(id).shape, {}, {}, false});
        if (!sizes.complete(types, graph_.symbols())) return;
        if (pattern_.holes.empty()) {
            attempt(operands, pattern_.problem.attributes);
            return;
        }
        for (const Attributes& known : std::vector<Attributes>(matcher_.known_attributes(pattern_)))
            if (attempt(operands, known)) return;
        std::vector<std::vector<double>> numbers = numbers_;
        add_table_numbers(matcher_, pattern_, overlays_, types, numbers);
        fill(operands, pattern_.problem.attributes, numbers, 0);
    }

    void fill(const std::vector<NodeId>& operands, const Attributes& attributes, const std::vector<std::vector<double>>& numbers,
              std::size_t hole) {
        if (hole == numbers.size()) {
            if (attempt(operands, attributes)) matcher_.known_attributes(pattern_).push_back(attributes);
            return;
        }
        for (const double number : numbers[hole]) {
            if (done()) return;
            Attributes filled = attributes;
            filled[pattern_.holes[hole].attribute].value = number;
            fill(operands, filled, numbers, hole + 1);
        }
    }

    bool attempt(const std::vector<NodeId>& operands, const Attributes& attributes) {
        ++guesses_;
        found_ = matcher_.prove({&pattern_, root_, operands, attributes});
        return found_.has_value();
    }

    Matcher& matcher_;
    const ir::GraphData& graph_;
    const Pattern& pattern_;
    const ir::GraphData& skeleton_;
    NodeId root_;
    std::vector<Overlay> overlays_;
    std::vector<NodeId> marks_;  // of the skeleton, already laid
    std::vector<std::vector<double>> numbers_;
    std::optional<Tile> found_;
    int guesses_ = 0;
};

}  // namespace

std::optional<Tile> search(Matcher& matcher, const Pattern& pattern, NodeId root) {
    return Search(matcher, pattern, root).run();
}

}  // namespace cairn::inline v0::fuse
