#include "rewrite/normal_form/identities.hpp"
#include "rewrite/normal_form/normalizer.hpp"
#include "rewrite/normal_form/permutation.hpp"

#include "graph/types/hash.hpp"

#include <algorithm>
#include <utility>

namespace cairn::normal_form {
namespace {

using ir::Op;

// Maximum number of terms that a move is pushed through: enough for any function that a model calls by one name. A
// longer piece of arithmetic is moved as a whole.
constexpr std::size_t max_pushdowns = 64;

std::size_t hash_of(TermId core, const Shape* shape, const Shape* order, TermId ids) {
    const std::hash<const void*> address_hash;
    return types::hash_combined(
        types::hash_combined(types::hash_combined(core, address_hash(shape)), address_hash(order)), ids);
}

}  // namespace

// The growing axis is an attribute of the state; here it shows in the shapes. Without rows they are equal.
std::optional<ScaledTerm> appended_rows(Normalizer& n, const Operation& state_append) {
    const ScaledTerm& before = state_append.operands[0];
    const Shape &old_shape = *n.term(before.core).shape, &new_shape = *state_append.shape;
    std::size_t back = 0;
    while (back < new_shape.size() && from_end(old_shape, back) == from_end(new_shape, back)) ++back;
    if (back == new_shape.size()) return before;
    const Attributes attributes{{"axis", std::vector<Dim>{-static_cast<std::int64_t>(back) - 1}}};
    return n.apply({Op::concat, state_append.dtype, state_append.operands, &attributes, state_append.shape});
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
        const Move by = canonical_move(at, open.back().second);
        open.pop_back();
        const bool is_seen = std::any_of(found.begin(), found.end(), [&](const MovementPushdown& pushdown) {
            return pushdown.core == at && pushdown.move == by;
        });
        if (is_seen || stays(at, by) || cached_move(at, by)) continue;
        const Term& term = terms_[at];
        MovementPushdown pushdown{at, by, push_down(term, by)};
        if (pushdown.parts.empty()) continue;
        if (found.size() == max_pushdowns) return std::nullopt;
        for (std::size_t i = 0; i < term.parts.size(); ++i) open.emplace_back(term.parts[i].core, pushdown.parts[i]);
        found.push_back(std::move(pushdown));
    }
    std::sort(found.begin(), found.end(),
              [](const MovementPushdown& a, const MovementPushdown& b) { return a.core < b.core; });
    return found;
}

// The term is rebuilt: its parts may be sorted differently.
ScaledTerm Normalizer::pushed_down(const MovementPushdown& pushdown) {
    const Term& term = terms_[pushdown.core];
    std::vector<ScaledTerm> parts;
    parts.reserve(term.parts.size());
    for (std::size_t i = 0; i < term.parts.size(); ++i) parts.push_back(moved(term.parts[i].core, pushdown.parts[i]));
    if (term.kind == TermKind::product) {
        ScaledTerm result{1, one(term.dtype)};
        for (std::size_t i = 0; i < parts.size(); ++i) result = multiply(result, power(parts[i], term.parts[i].factor));
        return result;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].factor *= term.parts[i].factor;
    return rebuilt_of(term, pushdown.move, std::move(parts));
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
    const Move move = canonical_move(core, given);
    if (stays(core, move)) return {1, core};
    if (const auto known = cached_move(core, move)) return *known;
    const Term& term = terms_[core];
    if (const auto one = joined(term, move)) return moved(term.parts[0].core, *one);
    if (const auto within = inside(core, move))
        for (const MovementPushdown& pushdown : *within)
            if (!cached_move(pushdown.core, pushdown.move))
                cache_move(pushdown.core, pushdown.move, pushed_down(pushdown));
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

Move Normalizer::canonical_move(TermId core, const Move& move) {
    for (const OfMove& identity : table_->of_moves())
        if (identity.move == move.op)
            if (const auto simpler = identity.apply(*this, terms_[core], move)) return *simpler;
    return move;
}

std::optional<Move> Normalizer::joined(const Term& term, const Move& move) {
    if (term.kind != TermKind::op || term.op != move.op) return std::nullopt;
    for (const OfTwoMoves& identity : table_->of_two_moves())
        if (identity.move == move.op)
            if (const auto both = identity.apply(*this, term, move)) return both;
    return std::nullopt;
}

// The move of each part after `move` is pushed down; empty if it cannot be.
std::vector<Move> Normalizer::push_down(const Term& term, const Move& move) {
    const bool is_single = move.op == Op::slice &&
                           from_end(*term.shape, static_cast<std::size_t>(-(*move.order)[0].constant() - 1)) == Dim(1);
    if (is_single) return {};
    if (const auto both = joined(term, move)) return {*both};
    for (const auto apply : table_->pushdowns(move.op))
        if (auto parts = apply(*this, term, move); !parts.empty()) return parts;
    return {};
}

// Rebuilds a term from its moved parts after a move was pushed through it.
ScaledTerm Normalizer::rebuilt_of(const Term& term, const Move& move, std::vector<ScaledTerm> parts) {
    if (term.kind == TermKind::sum)
        return is_float(term.dtype)
                   ? add(parts, term.dtype)
                   : integer_sum(*this, std::move(parts), term.attributes->dims("offset")[0], term.dtype);
    const bool is_cut_again =
        is_slice(term) && move.op == Op::slice && !(term.attributes->dims("cut")[0] == (*move.order)[0]);
    if (term.op == move.op && !is_cut_again) return parts[0];
    if (ir::info(term.op).kind == ir::OpClass::elementwise) return apply({term.op, term.dtype, parts, term.attributes});
    if (term.op == Op::sum) return apply({term.op, term.dtype, parts, term.attributes});
    if (term.op == Op::max_reduce) return apply({term.op, term.dtype, parts, term.attributes, move.shape});
    if (term.op == Op::gather) return {1, op_term(term.op, term.dtype, move.shape, parts, term.attributes)};
    if (term.op == Op::concat) return concat_of_cut(*this, term, move, parts);
    if (term.op == Op::matmul)
        return move.op == Op::transpose ? multiply_matrices(parts[1], parts[0]) : multiply_matrices(parts[0], parts[1]);
    Move outer{term.op, move.shape, terms_.scalar()};
    if (is_cut_again) outer.order = terms_.keep(term.attributes->dims("cut"));
    if (term.op == Op::transpose) {
        outer.order = terms_.keep(term.attributes->dims("permutation"));
        outer.shape = terms_.keep(permuted(*terms_[parts[0].core].shape, *outer.order));
    }
    const ScaledTerm result = moved(parts[0].core, outer);
    return {parts[0].factor * result.factor, result.core};
}

}  // namespace cairn::normal_form
