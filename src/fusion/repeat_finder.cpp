#include "fusion/repeat_finder.hpp"

#include "graph/types/hash.hpp"

#include <algorithm>
#include <bit>

namespace cairn::fusion {

using ir::NodeId;
using normal_form::TermId, normal_form::ScaledTerm, normal_form::Term, normal_form::TermKind;

namespace {

// A repetition is tried where this many consecutive node signatures occurred before.
constexpr std::size_t signatures_compared = 4;
// Maximum number of nodes compared of those that a stretch reads.
constexpr int max_comparisons = 64;
// Maximum number of times that a node is recorded as shared, on average over all nodes: there may be many stretches.
constexpr std::size_t max_shared = 16;

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

}  // namespace

bool RepeatFinder::PairTable::join(std::uint32_t later, std::uint32_t earlier, std::uint32_t sequence) {
    Partner &forth = later_[earlier], &back = earlier_[later];
    const bool is_new = forth.sequence != sequence && back.sequence != sequence;
    if (is_new) forth = {sequence, later}, back = {sequence, earlier};
    return forth.sequence == sequence && forth.other == later && back.sequence == sequence && back.other == earlier;
}

std::optional<std::uint32_t> RepeatFinder::PairTable::later(std::uint32_t earlier, std::uint32_t sequence) const {
    const Partner& entry = later_[earlier];
    return entry.sequence == sequence ? std::optional(entry.other) : std::nullopt;
}

RepeatFinder::RepeatFinder(const ir::GraphData& graph, const alternatives::EClasses& classes,
                           const normal_form::NormalForms& forms)
    : graph_(graph),
      classes_(classes),
      forms_(forms),
      shares_left_(max_shared * graph.nodes().size()),
      nodes_(graph.nodes().size()),
      terms_(forms.normalizer().size()) {}

bool RepeatFinder::pass(NodeId id) {
    node_signatures_.push_back(node_signature(id));
    std::size_t ending = 0;
    const std::size_t first = node_signatures_.size() - std::min(node_signatures_.size(), signatures_compared);
    for (std::size_t i = first; i < node_signatures_.size(); ++i) types::hash_combine(ending, node_signatures_[i]);
    const auto [last, is_new] = last_with_signature_.try_emplace(ending, id);
    if (shift_ != 0 && !repeats(id)) shift_ = 0;
    if (shift_ == 0 && !is_new) {
        begin_ = id;
        shift_ = id - last->second;
        ++sequence_;
        if (!repeats(id)) shift_ = 0;
    }
    last->second = id;
    return shift_ != 0;
}

// Equal for nodes that look alike locally.
std::size_t RepeatFinder::node_signature(NodeId id) const {
    const ir::Node& node = graph_.node(id);
    const Term& term = forms_.normalizer().term(forms_[id].core);
    auto hash = static_cast<std::size_t>(node.op);
    types::hash_combine(hash, static_cast<std::size_t>(node.dtype));
    types::hash_combine(hash, node.shape);
    types::hash_combine(hash, std::bit_cast<std::uint64_t>(forms_[id].factor));
    types::hash_combine(hash, static_cast<std::size_t>(term.kind));
    types::hash_combine(hash, term.parts.size());
    types::hash_combine(hash, terms_before(id + 1) - terms_before(id));
    return hash;
}

bool RepeatFinder::repeats(NodeId id) {
    const NodeId earlier = id - shift_;
    const auto& operands = graph_.node(id).operands;
    const auto& before = graph_.node(earlier).operands;
    const NodeId value = classes_.value_of(id), value_before = classes_.value_of(earlier);
    return same_node(id, earlier) && id - value == earlier - value_before &&
           classes_.expressions(value).size() == classes_.expressions(value_before).size() &&
           std::equal(operands.begin(), operands.end(), before.begin(), before.end(),
                      [&](NodeId a, NodeId b) { return corresponds(a, b); }) &&
           same_terms(id);
}

bool RepeatFinder::same_node(NodeId a, NodeId b) const {
    const ir::Node &x = graph_.node(a), &y = graph_.node(b);
    return x.operands.size() == y.operands.size() && ir::is_same_operation(x, y);
}

// An operand in the stretch, or in the part that it repeats first, corresponds to the node `shift` before it. An
// operand from before corresponds to one that is the same or computed alike.
bool RepeatFinder::corresponds(NodeId later, NodeId earlier) {
    if (later >= begin_ - shift_ && later - earlier == shift_) return true;
    int comparisons = 0;
    return computed_equally(later, earlier, comparisons);
}

bool RepeatFinder::computed_equally(NodeId later, NodeId earlier, int& comparisons) {
    if (nodes_.later(earlier, sequence_) == later) return true;
    if (later >= begin_ || earlier >= begin_ - shift_ || ++comparisons > max_comparisons) return false;
    if (later == earlier) return record_shared(later);
    if (!same_node(later, earlier)) return false;
    const auto& operands = graph_.node(later).operands;
    const auto& before = graph_.node(earlier).operands;
    return std::equal(operands.begin(), operands.end(), before.begin(), before.end(),
                      [&](NodeId a, NodeId b) { return computed_equally(a, b, comparisons); }) &&
           nodes_.join(later, earlier, sequence_);
}

// All values from which a shared value is computed are shared.
bool RepeatFinder::record_shared(NodeId value) {
    open_.assign(1, value);
    while (!open_.empty()) {
        const NodeId at = open_.back();
        open_.pop_back();
        if (nodes_.later(at, sequence_) == at) continue;
        if (shares_left_ == 0 || !nodes_.join(at, at, sequence_)) return false;
        --shares_left_;
        open_.insert(open_.end(), graph_.node(at).operands.begin(), graph_.node(at).operands.end());
    }
    return true;
}

// The terms made for the node equal those made for the earlier one, in the same order.
bool RepeatFinder::same_terms(NodeId id) {
    const TermId first = terms_before(id), end = terms_before(id + 1), before = terms_before(id - shift_);
    if (end - first != terms_before(id - shift_ + 1) - before) return false;
    for (TermId i = 0; i < end - first; ++i) {
        const Term &a = forms_.normalizer().term(first + i), &b = forms_.normalizer().term(before + i);
        const bool is_same = a.kind == b.kind && a.op == b.op && a.dtype == b.dtype && a.shape == b.shape &&
                             *a.attributes == *b.attributes && std::ranges::equal(a.values, b.values, same_bits) &&
                             std::ranges::equal(a.parts, b.parts, [&](const ScaledTerm& x, const ScaledTerm& y) {
                                 return same_form(x, y);
                             });
        const bool same_leaf = a.kind != TermKind::leaf || (a.node == id && b.node == id - shift_);
        if (!is_same || !same_leaf || !terms_.join(first + i, before + i, sequence_)) return false;
    }
    return same_form(forms_[id], forms_[id - shift_]);
}

// Each term from before the stretch has one counterpart. The number of parts is compared because it decides whether a
// term is flattened.
bool RepeatFinder::same_form(const ScaledTerm& a, const ScaledTerm& b) {
    if (!same_bits(a.factor, b.factor)) return false;
    const Term &x = forms_.normalizer().term(a.core), &y = forms_.normalizer().term(b.core);
    const auto parts = [](const Term& term) {
        return std::min(term.parts.size(), normal_form::max_flattened_parts + 1);
    };
    const bool is_inside = a.core >= terms_before(begin_);
    if (is_inside) return terms_.later(b.core, sequence_) == a.core;
    return x.kind == y.kind && x.op == y.op && x.dtype == y.dtype && x.shape == y.shape && parts(x) == parts(y) &&
           terms_.join(a.core, b.core, sequence_);
}

bool RepeatFinder::has_counterpart(NodeId earlier) const {
    return earlier >= begin_ || nodes_.later(earlier, sequence_);
}

NodeId RepeatFinder::counterpart_of(NodeId earlier) const {
    return earlier >= begin_ ? earlier + shift_ : *nodes_.later(earlier, sequence_);
}

}  // namespace cairn::fusion
