#include "fuse/match.hpp"

#include "fuse/search.hpp"
#include "ir/op_table.hpp"
#include "types/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cairn::inline v0::fuse {
namespace {

using ir::NodeId;

// `sum axes=(-1)` of f32[2,5,1].
std::string described(const ir::GraphData& graph, NodeId id) {
    const ir::Node& node = graph.node(id);
    Problem problem;
    problem.definition = ir::info(node.op).name;
    problem.attributes = node.attributes;
    const std::string text = to_string(problem);
    return fmt::format("`{}` to {}", text.substr(0, text.find(" |")), to_string(node.dtype, node.shape));
}

// The axes that sums go along, each list once.
std::vector<std::vector<Dim>> summed_axes(const ir::GraphData& graph) {
    std::vector<std::vector<Dim>> lists;
    for (const ir::Node& node : graph.nodes()) {
        if (node.op != ir::Op::sum) continue;
        const std::vector<Dim>& axes = node.attributes.dims("axes");
        if (std::find(lists.begin(), lists.end(), axes) == lists.end()) lists.push_back(axes);
    }
    return lists;
}

}  // namespace

Matcher::Matcher(const ir::GraphData& graph, const Classes& classes, std::span<const Pattern> patterns,
                 const std::stop_token& stop)
    : graph_(graph),
      classes_(classes),
      patterns_(patterns),
      outlines_(outlines_among(patterns, graph)),
      stop_(stop),
      forms_(graph, Laws::of_definitions() | classes.laws(), stop),
      stems_(forms_.canon()),
      features_(forms_.canon()),
      known_terms_(forms_.canon().size()),
      seen_(graph.nodes().size(), 0),
      entered_(graph.nodes().size(), 0),
      passed_(graph.nodes().size(), 0),
      instances_(graph.symbols()),
      types_(graph),
      calls_(patterns.size()),
      known_(patterns.size()),
      kept_(attempts_kept) {
    forms_.canon().keep_results();
    for (const ir::Node& node : graph.nodes()) marks_.push_back(mark_of(node.op));
    read(0);
    for (CanonId id = 0; id < known_terms_; ++id) {
        if (stop.stop_requested()) throw Cancelled("fuse");
        const std::size_t structure = forms_.canon().structure(id);
        if (!is_known_structure(structure)) known_structures_.add(structure, id);
    }
}

// Of those that values of so many axes and the sums of a graph leave possible. A pattern can only stand where the form
// has the same outermost op.
std::vector<Matcher::Outline> Matcher::outlines_among(std::span<const Pattern> patterns, const ir::GraphData& graph) {
    std::vector<Outline> result;
    const std::size_t axes = axes_in(graph);
    const auto there = summed_axes(graph);
    for (const Pattern& pattern : patterns) {
        const auto wanted = summed_axes(*pattern.skeleton.graph);
        if (pattern.most_axes > axes || !std::all_of(wanted.begin(), wanted.end(), [&](const auto& list) {
                return std::find(there.begin(), there.end(), list) != there.end();
            }))
            continue;
        const NodeId root = pattern.skeleton.outputs[pattern.main];
        const Term& outermost = pattern.forms->canon().term((*pattern.forms)[root].core);
        // Where exponentials open, what is marked may be anywhere.
        const bool is_anywhere = pattern.is_opened && pattern.skeleton.inputs.size() == 1;
        result.push_back({&pattern, outermost.kind, outermost.op,
                          is_anywhere ? 0 : pattern.regions->from(root).marks & ~pattern.vanishing});
    }
    return result;
}

Calls& Matcher::calls(const Pattern& pattern) {
    std::optional<Calls>& calls = calls_[static_cast<std::size_t>(&pattern - patterns_.data())];
    if (!calls) calls.emplace(pattern, graph_, types_, instances_);
    return *calls;
}

const std::vector<Attributes>& Matcher::known_attributes(const Pattern& pattern) const {
    return known_[static_cast<std::size_t>(&pattern - patterns_.data())];
}

void Matcher::read(std::size_t number) {
    while (regions_.size() <= number) regions_.emplace_back(graph_, Reading(graph_, classes_, regions_.size()));
    reading_ = number;
    ++entry_;
}

const Region& Matcher::region_from(NodeId node) {
    const Region& region = regions_[reading_].from(node);
    choices_ = std::max(choices_, region.choices);
    if (std::exchange(entered_[node], entry_) != entry_) look_at(region.nodes);
    return region;
}

std::span<const NodeId> Matcher::operands(NodeId node) {
    const std::span<const NodeId> found = regions_[reading_].reading().operands(node);
    look_at(found);
    return found;
}

void Matcher::look_at(std::span<const NodeId> nodes) {
    for (const NodeId id : nodes)
        if (std::exchange(seen_[id], look_) != look_) looked_.at.push_back(id);
}

void Matcher::remember(const Pattern& pattern, const Attributes& attributes) {
    constexpr std::size_t most_known = 4;
    std::vector<Attributes>& known = known_[static_cast<std::size_t>(&pattern - patterns_.data())];
    if (known.size() == most_known) known.pop_back();
    known.insert(known.begin(), attributes);
}

Matcher::Looked Matcher::match_at(NodeId node, std::vector<Tile>& tiles) {
    if (ir::is_given(graph_.node(node))) return {};
    ++look_;
    looked_ = {};
    choices_ = 1;
    for (std::size_t number = 0; number < choices_; ++number) {
        read(number);
        match_in_reading(node, tiles);
    }
    read(0);
    return std::move(looked_);
}

bool Matcher::match_as(NodeId node, std::span<const Find> found, std::span<const Tile> like, std::vector<Tile>& tiles) {
    const std::size_t before = tiles.size();
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto& [pattern, reading, operands] = found[i];
        const Attributes& attributes = like[i].attributes;
        read(reading);
        Calls& calls = this->calls(*pattern);
        const Filled* filled = calls.own(calls.of(operands), attributes);
        if (filled == nullptr) break;
        std::optional<Tile> tile = prove({pattern, node, operands, *filled, attributes}).tile;
        if (!tile) break;
        tiles.push_back(*std::move(tile));
        if (!pattern->holes.empty()) remember(*pattern, attributes);
    }
    read(0);
    const bool are_all = tiles.size() == before + found.size();
    if (!are_all) tiles.resize(before);
    return are_all;
}

void Matcher::match_in_reading(NodeId node, std::vector<Tile>& tiles) {
    const Term& outside = forms_.canon().term(forms_[node].core);
    const std::uint64_t marks = region_from(node).marks, features = features_.of(forms_[node].core);
    std::vector<Outside> parts = outside_of(forms_.canon(), outside);
    // What does not vary along a summed axis stands beside the sum.
    for (const Scaled& part : outside.parts) {
        const Term& inner = forms_.canon().term(part.core);
        if (outside.kind != TermKind::sum || inner.kind != TermKind::product) continue;
        const std::vector<Outside> factors = outside_of(forms_.canon(), inner);
        parts.insert(parts.end(), factors.begin(), factors.end());
    }
    const Definition* found = nullptr;
    for (const auto& [known, kind, op, needed] : outlines_) {
        const Pattern& pattern = *known;
        if (kind != outside.kind || (kind == TermKind::op && op != outside.op) || (needed & ~marks) != 0) continue;
        if (stop_.stop_requested()) throw Cancelled("fuse");
        if (pattern.definition == found || (pattern.features & ~features) != 0) continue;
        const bool has_parts = std::all_of(pattern.outside.begin(), pattern.outside.end(), [&](const Outside& part) {
            return std::find(parts.begin(), parts.end(), part) != parts.end();
        });
        if (!has_parts || !calls(pattern).has_operands()) continue;
        for (Match& match : search(*this, pattern, node)) {
            tiles.push_back(std::move(match.tile));
            looked_.found.push_back({&pattern, reading_, std::move(match.operands)});
            found = pattern.definition;
        }
    }
}

// In any spelling of the values between.
bool Matcher::depends_on(NodeId node, NodeId ancestor) {
    const NodeId wanted = classes_.value_of(ancestor);
    ++walk_;
    open_.assign(1, classes_.value_of(node));
    while (!open_.empty()) {
        const NodeId at = open_.back();
        open_.pop_back();
        if (at == wanted) return true;
        if (at < wanted || std::exchange(passed_[at], walk_) == walk_) continue;
        for (const NodeId spelling : classes_.spellings(at))
            for (const NodeId operand : graph_.node(spelling).operands) open_.push_back(classes_.value_of(operand));
    }
    return false;
}

std::vector<NodeId> Matcher::interior(const Tile& tile) {
    std::vector<NodeId> found, open = tile.outputs;
    const auto in = [](std::span<const NodeId> list, NodeId id) {
        return std::find(list.begin(), list.end(), id) != list.end();
    };
    while (!open.empty()) {
        const NodeId at = open.back();
        open.pop_back();
        if (in(tile.inputs, at) || in(found, at) || ir::is_given(graph_.node(at))) continue;
        found.push_back(at);
        open.insert(open.end(), operands(at).begin(), operands(at).end());
    }
    std::erase_if(found, [&](NodeId id) { return in(tile.outputs, id); });
    std::sort(found.begin(), found.end());
    return found;
}

bool Matcher::is_known_structure(std::size_t structure) const {
    bool known = false;
    known_structures_.each(structure, [&](CanonId id) { known = known || forms_.canon().structure(id) == structure; });
    return known;
}

// The structure alone where no other numbers would make it known.
std::size_t Matcher::name_of(CanonId unknown) const {
    const std::size_t structure = forms_.canon().structure(unknown);
    return is_known_structure(structure) ? unknown : structure;
}

// True unless the value of `op` would stay whole in all that is computed from it and the graph has it not.
bool Matcher::stands(const Pattern& pattern, ir::Op op, CanonId core) const {
    if (!canon::stays_whole(op) || (pattern.vanishing & mark_of(op)) != 0 || core < known_terms_) return true;
    const Term& term = forms_.canon().term(core);
    return term.kind == TermKind::product && std::all_of(term.parts.begin(), term.parts.end(), [&](const Scaled& part) {
               const Term& inner = forms_.canon().term(part.core);
               return part.core < known_terms_ || inner.kind != TermKind::op || !canon::stays_whole(inner.op);
           });
}

// A value that stays whole in all that is computed from it stands in the form of the node if the attempt is right, so
// the graph has it. The first that it has not tells early, and of which operands it is made tells which guesses are
// wrong for the same reason.
Matcher::Made Matcher::make(const Attempt& attempt) {
    const Instance& instance = *attempt.filled.instance;
    const NodeId main = instance.outputs[attempt.pattern->main];
    Made result{attempt.pattern, &attempt.filled, {}, {}, 0, {}, false};
    result.operands.assign(attempt.operands.begin(), attempt.operands.end());
    const auto go_on = [&](NodeId id) {
        const bool is_output =
            std::find(instance.outputs.begin(), instance.outputs.end(), id) != instance.outputs.end();
        const bool is_known = is_output && id != main
                                  ? !forms_.nodes_of(made_[id]).empty()
                                  : stands(*attempt.pattern, instance.graph->node(id).op, made_[id].core);
        if (is_known) return true;
        result.blame = instance.reads[id];
        result.unknown = name_of(made_[id].core);
        result.has_alike = is_known_structure(forms_.canon().structure(made_[id].core));
        if (notes_misses_) note(attempt, id, fmt::format("{} is not computed here", described(*instance.graph, id)));
        return false;
    };
    if (form_over(attempt, go_on)) result.main = made_[main];
    return result;
}

bool Matcher::form_over(const Attempt& attempt, const std::function<bool(NodeId)>& go_on) {
    const Instance& instance = *attempt.filled.instance;
    std::vector<NodeId> given = instance.inputs;
    std::vector<Scaled> values;
    for (const NodeId id : attempt.operands) values.push_back(forms_[id]);
    for (const auto& [constant, value] : attempt.filled.numbers) {
        given.push_back(constant);
        values.push_back(forms_.canon().number(value, instance.graph->node(constant).dtype));
    }
    return canon::forms_over(*instance.graph, given, values, forms_.canon(), made_, go_on);
}

const Matcher::Made& Matcher::made_by(const Attempt& attempt) {
    std::size_t hash = std::hash<const void*>{}(attempt.pattern);
    types::mix(hash, std::hash<const void*>{}(&attempt.filled));
    for (const NodeId id : attempt.operands) types::mix(hash, id);
    Made& known = kept_[hash % attempts_kept];
    const bool is_same = known.pattern == attempt.pattern && known.filled == &attempt.filled &&
                         std::ranges::equal(known.operands, attempt.operands);
    if (!is_same || notes_misses_) {
        known = make(attempt);
        last_made_ = &known;
    }
    return known;
}

std::optional<Matcher::Verdict> Matcher::refusal(const Attempt& attempt) {
    const Made& made = made_by(attempt);
    if (made.unknown) return Verdict{std::nullopt, made.blame, made.unknown, made.has_alike};
    const Scaled& wanted = forms_[attempt.root];
    if (forms_.canon().same(made.main, wanted)) return std::nullopt;
    Verdict verdict;
    const bool is_alike = forms_.canon().structure(made.main.core) == forms_.canon().structure(wanted.core);
    verdict.differs_in_numbers = is_alike;
    if (!is_alike) verdict.unknown = forms_.canon().structure(made.main.core);
    if (notes_misses_)
        note(attempt, attempt.filled.instance->graph->nodes().size(),
             is_alike ? "the value has other numbers" : "the value is another function of them");
    return verdict;
}

// True when an operand needs a product of the tile's interior: another tile would have to compute it too.
bool Matcher::computes_twice(const Tile& tile) {
    return std::any_of(tile.interior.begin(), tile.interior.end(), [&](NodeId id) {
        return graph_.node(id).op == ir::Op::matmul &&
               std::any_of(tile.inputs.begin(), tile.inputs.end(), [&](NodeId input) { return depends_on(input, id); });
    });
}

// True when an operand needs a product that the definition makes too, be it outside of the tile's interior.
bool Matcher::makes_product_again(const Attempt& attempt) {
    const ir::GraphData& made = *attempt.filled.instance->graph;
    for (NodeId id = 0; id < made.nodes().size(); ++id) {
        if (made.node(id).op != ir::Op::matmul) continue;
        for (const NodeId product : forms_.nodes_of(made_[id]))
            if (graph_.node(product).op == ir::Op::matmul &&
                std::any_of(attempt.operands.begin(), attempt.operands.end(),
                            [&](NodeId operand) { return depends_on(operand, product); }))
                return true;
    }
    return false;
}

std::optional<Tile> Matcher::tile_of(const Attempt& attempt) {
    const Instance& instance = *attempt.filled.instance;
    const std::size_t main = attempt.pattern->main;
    Tile tile;
    tile.definition = attempt.pattern->definition->name;
    tile.attributes = attempt.attributes;
    tile.inputs.assign(attempt.operands.begin(), attempt.operands.end());
    for (std::size_t i = 0; i < instance.outputs.size(); ++i) {
        NodeId output = attempt.root;
        if (i != main) {
            const std::vector<NodeId> same = forms_.nodes_of(made_[instance.outputs[i]]);
            const auto it = std::find_if(same.begin(), same.end(), [&](NodeId id) {
                return instance.makes(i, graph_.node(id)) && !ir::is_given(graph_.node(id)) &&
                       !same_value(id, attempt.root);
            });
            if (it == same.end()) return std::nullopt;
            output = *it;
        }
        for (const NodeId input : tile.inputs)
            if (depends_on(input, output)) return std::nullopt;
        tile.outputs.push_back(output);
    }
    tile.interior = interior(tile);
    if (computes_twice(tile) || makes_product_again(attempt)) return std::nullopt;
    for (NodeId& input : tile.inputs) input = classes_.value_of(input);
    return tile;
}

Matcher::Verdict Matcher::prove(const Attempt& attempt) {
    if (auto refused = refusal(attempt)) return std::move(*refused);
    if (const Made* known = &made_by(attempt); std::exchange(last_made_, known) != known)
        make(attempt);  // for all of its outputs
    std::optional<Tile> tile = tile_of(attempt);
    if (!tile && notes_misses_)
        note(attempt, attempt.filled.instance->graph->nodes().size() + 1,
             "an operand is made of what it would compute");
    return {std::move(tile), everything, std::nullopt, false};
}

Scaled Matcher::form_made(const Attempt& attempt) {
    last_made_ = nullptr;
    form_over(attempt, [](NodeId) { return true; });
    return made_[attempt.filled.instance->outputs[attempt.pattern->main]];
}

void Matcher::note(const Attempt& attempt, std::size_t progress, const std::string& reason) {
    if (!miss_.empty() && progress <= progress_) return;
    progress_ = progress;
    Tile tile;
    tile.definition = attempt.pattern->definition->name;
    tile.attributes = attempt.attributes;
    tile.inputs.assign(attempt.operands.begin(), attempt.operands.end());
    const std::string text = to_string(std::vector<Tile>{tile});
    miss_ = fmt::format("{}: {}", text.substr(0, text.find(" -> ")), reason);
}

}  // namespace cairn::inline v0::fuse
