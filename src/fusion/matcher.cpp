#include "fusion/matcher.hpp"

#include "fusion/pattern_search.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/types/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cairn::fusion {
namespace {

using ir::NodeId;

// `sum axes=(-1)` to f32[2,5,1].
std::string described(const ir::GraphData& graph, NodeId id) {
    const ir::Node& node = graph.node(id);
    Problem problem;
    problem.definition = ir::info(node.op).name;
    problem.attributes = node.attributes;
    const std::string text = to_string(problem);
    return fmt::format("`{}` to {}", text.substr(0, text.find(" |")), to_string(node.dtype, node.shape));
}

// The axis lists of all sums, each once.
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

Matcher::Matcher(const ir::GraphData& graph, const EClasses& classes, std::span<const Pattern> patterns,
                 const std::stop_token& stop)
    : graph_(graph),
      classes_(classes),
      patterns_(patterns),
      signatures_(signatures_among(patterns, graph)),
      stop_(stop),
      forms_(graph, Laws::of_definitions() | classes.laws(), stop),
      layout_hashes_(forms_.normalizer()),
      features_(forms_.normalizer()),
      known_terms_(forms_.normalizer().size()),
      seen_(graph.nodes().size(), 0),
      entered_(graph.nodes().size(), 0),
      passed_(graph.nodes().size(), 0),
      instances_(graph.symbols()),
      types_(graph),
      calls_(patterns.size()),
      known_(patterns.size()),
      kept_(attempts_kept) {
    forms_.normalizer().keep_results();
    for (const ir::Node& node : graph.nodes()) op_bits_.push_back(op_bit(node.op));
    select_extraction(0);
    for (TermId id = 0; id < known_terms_; ++id) {
        if (stop.stop_requested()) throw Cancelled("fuse");
        const std::size_t structure = forms_.normalizer().structure(id);
        if (!is_known_structure(structure)) known_structures_.add(structure, id);
    }
}

// The signatures of the patterns that the ranks and the sums of the graph allow. A pattern can match only where the
// form has the same outermost op.
std::vector<Matcher::PatternSignature> Matcher::signatures_among(std::span<const Pattern> patterns,
                                                                 const ir::GraphData& graph) {
    std::vector<PatternSignature> result;
    const std::size_t axes = axes_in(graph);
    const auto graph_axes = summed_axes(graph);
    for (const Pattern& pattern : patterns) {
        const auto wanted = summed_axes(*pattern.skeleton.graph);
        if (pattern.max_axes > axes || !std::all_of(wanted.begin(), wanted.end(), [&](const auto& list) {
                return std::find(graph_axes.begin(), graph_axes.end(), list) != graph_axes.end();
            }))
            continue;
        const NodeId root = pattern.skeleton.outputs[pattern.main_output];
        const Term& outermost = pattern.forms->normalizer().term((*pattern.forms)[root].core);
        // With expanded exponentials the boundary ops may be anywhere.
        const bool is_anywhere = pattern.has_expanded_exponentials && pattern.skeleton.inputs.size() == 1;
        result.push_back({&pattern, outermost.kind, outermost.op,
                          is_anywhere ? 0 : pattern.regions->from(root).boundary_ops & ~pattern.absent_ops,
                          is_widening(pattern.skeleton.graph->node(root).dtype, DType::f32)});
    }
    return result;
}

CallCache& Matcher::calls(const Pattern& pattern) {
    std::optional<CallCache>& calls = calls_[static_cast<std::size_t>(&pattern - patterns_.data())];
    if (!calls) calls.emplace(pattern, graph_, types_, instances_);
    return *calls;
}

const std::vector<Attributes>& Matcher::known_attributes(const Pattern& pattern) const {
    return known_[static_cast<std::size_t>(&pattern - patterns_.data())];
}

void Matcher::select_extraction(std::size_t number) {
    while (regions_.size() <= number) regions_.emplace_back(graph_, Extraction(graph_, classes_, regions_.size()));
    extraction_ = number;
    ++entry_;
}

const ArithmeticRegion& Matcher::region_from(NodeId node) {
    const ArithmeticRegion& region = regions_[extraction_].from(node);
    choices_ = std::max(choices_, region.choices);
    if (std::exchange(entered_[node], entry_) != entry_) record_inspected(region.nodes);
    return region;
}

std::span<const NodeId> Matcher::operands(NodeId node) {
    const std::span<const NodeId> found = regions_[extraction_].extraction().operands(node);
    record_inspected(found);
    return found;
}

void Matcher::record_inspected(std::span<const NodeId> nodes) {
    for (const NodeId id : nodes)
        if (std::exchange(seen_[id], search_) != search_) trace_.at.push_back(id);
}

void Matcher::remember(const Pattern& pattern, const Attributes& attributes) {
    constexpr std::size_t max_known = 4;
    std::vector<Attributes>& known = known_[static_cast<std::size_t>(&pattern - patterns_.data())];
    if (known.size() == max_known) known.pop_back();
    known.insert(known.begin(), attributes);
}

Matcher::MatchTrace Matcher::match_at(NodeId node, std::vector<Match>& matches) {
    // A version of a state is provided only by matches that write to the state, not by any value with its form.
    if (ir::is_given(graph_.node(node)) || ir::is(graph_.node(node), ir::OpClass::effect)) return {};
    ++search_;
    trace_ = {};
    choices_ = 1;
    for (std::size_t number = 0; number < choices_; ++number) {
        select_extraction(number);
        match_in_extraction(node, matches);
    }
    select_extraction(0);
    return std::move(trace_);
}

bool Matcher::match_like(NodeId node, std::span<const FoundMatch> found, std::span<const Match> like,
                         std::vector<Match>& matches) {
    const std::size_t before = matches.size();
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto& [pattern, extraction, operands] = found[i];
        const Attributes& attributes = like[i].attributes;
        select_extraction(extraction);
        CallCache& calls = this->calls(*pattern);
        const FilledInstance* filled = calls.exact_instance(calls.of(operands), attributes);
        if (filled == nullptr) break;
        std::optional<Match> match = prove({pattern, node, operands, *filled, attributes}).match;
        if (!match) break;
        matches.push_back(*std::move(match));
        if (!pattern->holes.empty()) remember(*pattern, attributes);
    }
    select_extraction(0);
    const bool are_all = matches.size() == before + found.size();
    if (!are_all) matches.resize(before);
    return are_all;
}

void Matcher::match_in_extraction(NodeId node, std::vector<Match>& matches) {
    const Term& outside = forms_.normalizer().term(forms_[node].core);
    const std::uint64_t boundary_ops = region_from(node).boundary_ops, features = features_.of(forms_[node].core);
    std::vector<RequiredPart> parts = required_parts_of(forms_.normalizer(), outside);
    // Factors that do not vary along a summed axis are outside the sum.
    for (const ScaledTerm& part : outside.parts) {
        const Term& inner = forms_.normalizer().term(part.core);
        if (outside.kind != TermKind::sum || inner.kind != TermKind::product) continue;
        const std::vector<RequiredPart> factors = required_parts_of(forms_.normalizer(), inner);
        parts.insert(parts.end(), factors.begin(), factors.end());
    }
    const Definition* found = nullptr;
    const bool is_in_16_bits = is_widening(graph_.node(node).dtype, DType::f32);
    for (const auto& [known, kind, op, needed, needs_16_bits] : signatures_) {
        const Pattern& pattern = *known;
        if (kind != outside.kind || (kind == TermKind::op && op != outside.op) || (needed & ~boundary_ops) != 0 ||
            (needs_16_bits && !is_in_16_bits))
            continue;
        if (stop_.stop_requested()) throw Cancelled("fuse");
        if (pattern.definition == found || (pattern.features & ~features) != 0) continue;
        const bool has_parts = std::all_of(
            pattern.outside.begin(), pattern.outside.end(),
            [&](const RequiredPart& part) { return std::find(parts.begin(), parts.end(), part) != parts.end(); });
        if (!has_parts || !calls(pattern).has_operands()) continue;
        for (Embedding& embedding : find_embeddings(*this, pattern, node)) {
            matches.push_back(std::move(embedding.match));
            trace_.found.push_back({&pattern, extraction_, std::move(embedding.operands)});
            found = pattern.definition;
        }
    }
}

// Through any expression of the values between.
bool Matcher::depends_on(NodeId node, NodeId ancestor) {
    const NodeId wanted = classes_.value_of(ancestor);
    ++walk_;
    open_.assign(1, classes_.value_of(node));
    while (!open_.empty()) {
        const NodeId at = open_.back();
        open_.pop_back();
        if (at == wanted) return true;
        if (at < wanted || std::exchange(passed_[at], walk_) == walk_) continue;
        for (const NodeId expression : classes_.expressions(at))
            for (const NodeId operand : graph_.node(expression).operands) open_.push_back(classes_.value_of(operand));
    }
    return false;
}

std::vector<NodeId> Matcher::interior(const Match& match) {
    std::vector<NodeId> found, open = match.outputs;
    const auto in = [](std::span<const NodeId> list, NodeId id) {
        return std::find(list.begin(), list.end(), id) != list.end();
    };
    while (!open.empty()) {
        const NodeId at = open.back();
        open.pop_back();
        if (in(match.inputs, at) || in(found, at) || ir::is_given(graph_.node(at))) continue;
        found.push_back(at);
        open.insert(open.end(), operands(at).begin(), operands(at).end());
    }
    std::erase_if(found, [&](NodeId id) { return in(match.outputs, id); });
    std::sort(found.begin(), found.end());
    return found;
}

bool Matcher::is_known_structure(std::size_t structure) const {
    bool known = false;
    known_structures_.each(structure,
                           [&](TermId id) { known = known || forms_.normalizer().structure(id) == structure; });
    return known;
}

// The structure, unless the graph has the value with other numbers; then the term.
std::size_t Matcher::name_of(TermId unknown) const {
    const std::size_t structure = forms_.normalizer().structure(unknown);
    return is_known_structure(structure) ? unknown : structure;
}

// False if `op` is opaque, so that its value would be a single term in the forms of all values computed from it, and
// the graph lacks that value.
bool Matcher::is_at(const Pattern& pattern, ir::Op op, TermId core) const {
    if (!normal_form::is_opaque(op) || (pattern.absent_ops & op_bit(op)) != 0 || core < known_terms_) return true;
    const Term& term = forms_.normalizer().term(core);
    return term.kind == TermKind::product &&
           std::all_of(term.parts.begin(), term.parts.end(), [&](const ScaledTerm& part) {
               const Term& inner = forms_.normalizer().term(part.core);
               return part.core < known_terms_ || inner.kind != TermKind::op || !normal_form::is_opaque(inner.op);
           });
}

// A value that is a single term in the forms of all values computed from it must occur in the form of the node if the
// attempt is right, so the graph must have it. The first value that the graph lacks ends the attempt early, and the
// operands it is computed from tell which other guesses are wrong for the same reason.
Matcher::AttemptResult Matcher::make(const Attempt& attempt) {
    const DefinitionInstance& instance = *attempt.filled.instance;
    const NodeId main_output = instance.outputs[attempt.pattern->main_output];
    AttemptResult result{attempt.pattern, &attempt.filled, {}, {}, 0, {}, false};
    result.operands.assign(attempt.operands.begin(), attempt.operands.end());
    const auto go_on = [&](NodeId id) {
        const bool is_output =
            std::find(instance.outputs.begin(), instance.outputs.end(), id) != instance.outputs.end();
        const bool is_known = is_output && id != main_output
                                  ? !forms_.nodes_of(forms_made_[id]).empty()
                                  : is_at(*attempt.pattern, instance.graph->node(id).op, forms_made_[id].core);
        if (is_known) return true;
        result.blame = instance.reads[id];
        result.unknown = name_of(forms_made_[id].core);
        result.has_alike = is_known_structure(forms_.normalizer().structure(forms_made_[id].core));
        if (records_misses_) note(attempt, id, fmt::format("{} is not computed here", described(*instance.graph, id)));
        return false;
    };
    if (form_over(attempt, go_on)) result.main_output = forms_made_[main_output];
    return result;
}

bool Matcher::form_over(const Attempt& attempt, const std::function<bool(NodeId)>& go_on) {
    const DefinitionInstance& instance = *attempt.filled.instance;
    std::vector<NodeId> given = instance.inputs;
    std::vector<ScaledTerm> values;
    for (const NodeId id : attempt.operands) values.push_back(forms_[id]);
    for (const auto& [constant, value] : attempt.filled.numbers) {
        given.push_back(constant);
        values.push_back(forms_.normalizer().number(value, instance.graph->node(constant).dtype));
    }
    return normal_form::normalize_graph(*instance.graph, given, values, forms_.normalizer(), forms_made_, go_on);
}

const Matcher::AttemptResult& Matcher::result_of(const Attempt& attempt) {
    std::size_t hash = std::hash<const void*>{}(attempt.pattern);
    types::hash_combine(hash, std::hash<const void*>{}(&attempt.filled));
    for (const NodeId id : attempt.operands) types::hash_combine(hash, id);
    AttemptResult& known = kept_[hash % attempts_kept];
    const bool is_same = known.pattern == attempt.pattern && known.filled == &attempt.filled &&
                         std::ranges::equal(known.operands, attempt.operands);
    if (!is_same || records_misses_) {
        known = make(attempt);
        last_made_ = &known;
    }
    return known;
}

std::optional<Matcher::ProofResult> Matcher::quick_rejection(const Attempt& attempt) {
    const AttemptResult& made = result_of(attempt);
    if (made.unknown) return ProofResult{std::nullopt, made.blame, made.unknown, made.has_alike};
    const ScaledTerm& wanted = forms_[attempt.root];
    if (forms_.normalizer().same(made.main_output, wanted)) return std::nullopt;
    ProofResult verdict;
    const bool is_alike =
        forms_.normalizer().structure(made.main_output.core) == forms_.normalizer().structure(wanted.core);
    verdict.differs_in_numbers = is_alike;
    if (!is_alike) verdict.unknown = forms_.normalizer().structure(made.main_output.core);
    if (records_misses_)
        note(attempt, attempt.filled.instance->graph->nodes().size(),
             is_alike ? "the value has other numbers" : "the value is another function of the operands");
    return verdict;
}

// True if an operand depends on a product in the match's interior: another match would have to compute it too.
bool Matcher::computes_twice(const Match& match) {
    return std::any_of(match.interior.begin(), match.interior.end(), [&](NodeId id) {
        return graph_.node(id).op == ir::Op::matmul && std::any_of(match.inputs.begin(), match.inputs.end(),
                                                                   [&](NodeId input) { return depends_on(input, id); });
    });
}

// True if an operand depends on a product that the definition also computes, even outside of the match's interior.
bool Matcher::makes_product_again(const Attempt& attempt) {
    const ir::GraphData& made = *attempt.filled.instance->graph;
    for (NodeId id = 0; id < made.nodes().size(); ++id) {
        if (made.node(id).op != ir::Op::matmul) continue;
        for (const NodeId product : forms_.nodes_of(forms_made_[id]))
            if (graph_.node(product).op == ir::Op::matmul &&
                std::any_of(attempt.operands.begin(), attempt.operands.end(),
                            [&](NodeId operand) { return depends_on(operand, product); }))
                return true;
    }
    return false;
}

std::optional<Match> Matcher::match_of(const Attempt& attempt) {
    const DefinitionInstance& instance = *attempt.filled.instance;
    const std::size_t main_output = attempt.pattern->main_output;
    Match match;
    match.definition = attempt.pattern->definition->name;
    match.attributes = attempt.attributes;
    match.inputs.assign(attempt.operands.begin(), attempt.operands.end());
    for (std::size_t i = 0; i < instance.outputs.size(); ++i) {
        NodeId output = attempt.root;
        if (i != main_output) {
            const std::vector<NodeId> same = forms_.nodes_of(forms_made_[instance.outputs[i]]);
            const auto it = std::find_if(same.begin(), same.end(), [&](NodeId id) {
                const ir::Node& node = graph_.node(id);
                return instance.makes(i, node) && !ir::is_given(node) && !ir::is(node, ir::OpClass::effect) &&
                       !same_value(id, attempt.root);
            });
            if (it == same.end()) return std::nullopt;
            output = *it;
        }
        for (const NodeId input : match.inputs)
            if (depends_on(input, output)) return std::nullopt;
        match.outputs.push_back(output);
    }
    match.interior = interior(match);
    if (computes_twice(match) || makes_product_again(attempt)) return std::nullopt;
    for (NodeId& input : match.inputs) input = classes_.value_of(input);
    return match;
}

Matcher::ProofResult Matcher::prove(const Attempt& attempt) {
    if (auto refused = quick_rejection(attempt)) return std::move(*refused);
    if (const AttemptResult* known = &result_of(attempt); std::exchange(last_made_, known) != known)
        make(attempt);  // to fill forms_made_ for all outputs
    std::optional<Match> match = match_of(attempt);
    if (!match && records_misses_)
        note(attempt, attempt.filled.instance->graph->nodes().size() + 1,
             "an operand depends on a value that the match would compute");
    return {std::move(match), all_operands, std::nullopt, false};
}

ScaledTerm Matcher::form_made(const Attempt& attempt) {
    last_made_ = nullptr;
    form_over(attempt, [](NodeId) { return true; });
    return forms_made_[attempt.filled.instance->outputs[attempt.pattern->main_output]];
}

void Matcher::note(const Attempt& attempt, std::size_t progress, const std::string& reason) {
    if (!miss_.empty() && progress <= miss_progress_) return;
    miss_progress_ = progress;
    Match match;
    match.definition = attempt.pattern->definition->name;
    match.attributes = attempt.attributes;
    match.inputs.assign(attempt.operands.begin(), attempt.operands.end());
    const std::string text = to_string(std::vector<Match>{match});
    miss_ = fmt::format("{}: {}", text.substr(0, text.find(" -> ")), reason);
}

}  // namespace cairn::fusion
