#include "rewrite/normal_form/normalizer.hpp"

#include "graph/types/hash.hpp"

#include <algorithm>
#include <utility>

namespace cairn::normal_form {
namespace {

using ir::Op;

// Maximum number of terms that a move is pushed through: enough for any function that a model calls by one name. A
// longer piece of arithmetic is moved as a whole.
constexpr std::size_t most_inside = 64;

// The permutation without unchanged leading axes, as negative axes, so that it does not depend on their number.
std::vector<Dim> shortest(std::vector<Dim> order) {
    std::size_t kept = 0;
    const auto rank = static_cast<std::int64_t>(order.size());
    while (kept < order.size() && order[kept] == Dim(static_cast<std::int64_t>(kept) - rank)) ++kept;
    order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept));
    return order;
}

// `order` extended by unchanged leading axes to rank `rank`.
std::vector<Dim> lengthened(const std::vector<Dim>& order, std::size_t rank) {
    std::vector<Dim> result;
    for (std::size_t i = rank; i > order.size(); --i) result.emplace_back(-static_cast<std::int64_t>(i));
    result.insert(result.end(), order.begin(), order.end());
    return result;
}

std::size_t hash_of(TermId core, const Shape* shape, const Shape* order, TermId ids) {
    const std::hash<const void*> place;
    return types::hash_combined(types::hash_combined(types::hash_combined(core, place(shape)), place(order)), ids);
}

std::size_t from_front(const Dim& axis, std::size_t rank) {
    return static_cast<std::size_t>(axis.constant() + static_cast<std::int64_t>(rank));
}

}  // namespace

Shape permuted(Shape shape, const std::vector<Dim>& order) {
    while (shape.size() < order.size()) shape.insert(shape.begin(), Dim(1));
    const std::vector<Dim> whole = lengthened(order, shape.size());
    Shape result;
    for (const Dim& axis : whole) result.push_back(shape[from_front(axis, shape.size())]);
    return trimmed(result);
}

std::vector<Dim> composed_order(const std::vector<Dim>& first, const std::vector<Dim>& second) {
    const std::size_t rank = std::max(first.size(), second.size());
    const auto a = lengthened(first, rank), b = lengthened(second, rank);
    std::vector<Dim> order;
    for (const Dim& axis : b) order.push_back(a[from_front(axis, rank)]);
    return shortest(std::move(order));
}

ScaledTerm Normalizer::move(const ir::Node& node, const ScaledTerm& x) {
    Move move{node.op, trimmed_shape(node.shape), terms_.scalar()};
    if (node.op == Op::transpose) {
        move.order = terms_.keep(shortest(node.attributes.dims("permutation")));
        if (move.order->empty()) return x;
    }
    if (terms_[x.core].kind == TermKind::one) return x;
    const ScaledTerm result = moved(x.core, move);
    return {x.factor * result.factor, result.core};
}

// The terms that a move of `core` is pushed through, parts before the terms that contain them; nothing if they are too
// many.
std::optional<std::vector<Normalizer::MovementPushdown>> Normalizer::inside(TermId core, const Move& move) {
    std::vector<std::pair<TermId, Move>> open{{core, move}};
    std::vector<MovementPushdown> found;
    while (!open.empty()) {
        const TermId at = open.back().first;
        const Move by = plainest(at, open.back().second);
        open.pop_back();
        const bool is_seen = std::any_of(found.begin(), found.end(), [&](const MovementPushdown& passage) {
            return passage.core == at && passage.move == by;
        });
        if (is_seen || stays(at, by) || cached_move(at, by)) continue;
        const Term& term = terms_[at];
        MovementPushdown passage{at, by, push_down(term, by)};
        if (passage.parts.empty()) continue;
        if (found.size() == most_inside) return std::nullopt;
        for (std::size_t i = 0; i < term.parts.size(); ++i) open.emplace_back(term.parts[i].core, passage.parts[i]);
        found.push_back(std::move(passage));
    }
    std::sort(found.begin(), found.end(),
              [](const MovementPushdown& a, const MovementPushdown& b) { return a.core < b.core; });
    return found;
}

// The term is rebuilt: its parts may be sorted differently.
ScaledTerm Normalizer::pushed_down(const MovementPushdown& passage) {
    const Term& term = terms_[passage.core];
    std::vector<ScaledTerm> parts;
    parts.reserve(term.parts.size());
    for (std::size_t i = 0; i < term.parts.size(); ++i) parts.push_back(moved(term.parts[i].core, passage.parts[i]));
    if (term.kind == TermKind::product) {
        ScaledTerm result{1, one(term.dtype)};
        for (std::size_t i = 0; i < parts.size(); ++i) result = multiply(result, power(parts[i], term.parts[i].factor));
        return result;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].factor *= term.parts[i].factor;
    return rebuilt_of(term, passage.move, std::move(parts));
}

bool Normalizer::stays(TermId core, const Move& move) const {
    const Shape* shape = terms_[core].shape;
    const bool may_rearrange = move.op == Op::transpose || move.op == Op::gather;
    return shape->empty() || (!may_rearrange && shape == move.shape);
}

std::optional<ScaledTerm> Normalizer::cached_move(TermId core, const Move& move) const {
    std::optional<ScaledTerm> result;
    move_cache_index_.each(hash_of(core, move.shape, move.order, move.ids.core), [&](std::uint32_t at) {
        if (move_cache_[at].core == core && move_cache_[at].move == move) result = move_cache_[at].result;
    });
    return result;
}

ScaledTerm Normalizer::cache_move(TermId core, const Move& move, const ScaledTerm& result) {
    move_cache_index_.add(hash_of(core, move.shape, move.order, move.ids.core),
                          static_cast<std::uint32_t>(move_cache_.size()));
    move_cache_.push_back({core, move, result});
    return result;
}

// Shared values are moved once, innermost first, so that the stack does not grow with their depth.
ScaledTerm Normalizer::moved(TermId core, const Move& given) {
    const Move move = plainest(core, given);
    if (stays(core, move)) return {1, core};
    if (const auto known = cached_move(core, move)) return *known;
    const Term& term = terms_[core];
    const bool is_movement = move.op == Op::reshape || move.op == Op::transpose;
    if (is_movement && term.kind == TermKind::op && term.op == move.op)
        return moved(term.parts[0].core, composed(term, move));
    if (const auto within = inside(core, move))
        for (const MovementPushdown& passage : *within)
            if (!cached_move(passage.core, passage.move)) cache_move(passage.core, passage.move, pushed_down(passage));
    if (const auto known = cached_move(core, move)) return *known;
    return cache_move(core, move, opaque_move(core, move));
}

ScaledTerm Normalizer::opaque_move(TermId core, const Move& move) {
    const Term& term = terms_[core];
    if (move.op == Op::reshape) return {1, op_term(move.op, term.dtype, move.shape, {term.whole})};
    if (move.op == Op::gather) {
        const Attributes attributes{{"axis", *move.order}};
        return {1, op_term(move.op, term.dtype, move.shape, {term.whole, move.ids}, &attributes)};
    }
    const Attributes attributes{{move.op == Op::slice ? "cut" : "permutation", *move.order}};
    const Shape* shape = move.op == Op::slice ? move.shape : terms_.keep(permuted(*term.shape, *move.order));
    return {1, op_term(move.op, term.dtype, shape, {term.whole}, &attributes)};
}

}  // namespace cairn::normal_form
