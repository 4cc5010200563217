#include "rewrite/normal_form/normalizer.hpp"

#include <algorithm>
#include <utility>

// Pushdown of movement: the terms a move is pushed through, and the resulting move of each of their parts.
namespace cairn::normal_form {
namespace {

using ir::Op;

// The number of last axes that a term works along; over all axes before them it only repeats.
std::optional<std::size_t> last_axes(const Term& term) {
    if (is_elementwise(term)) return 0;
    if (is_product(term)) return 2;
    if (term.kind != TermKind::op) return std::nullopt;
    if (term.op == Op::transpose) return term.attributes->dims("permutation").size();
    if (!is_float(term.dtype) || (term.op != Op::sum && term.op != Op::max_reduce)) return std::nullopt;
    std::int64_t first = 0;
    for (const Dim& axis : term.attributes->dims("axes")) first = std::min(first, axis.constant());
    return static_cast<std::size_t>(-first);
}

// The shape of a part if adding and dropping axes of size 1 turns the whole from `from` into `to` and the last `kept`
// axes stay; nothing if other sizes change.
std::optional<Shape> with_other_ones(const Shape& part, const Shape& from, const Shape& to, std::size_t kept) {
    Shape backward;
    for (std::size_t i = 0; i < kept; ++i) {
        if (!(from_end(from, i) == from_end(to, i))) return std::nullopt;
        backward.push_back(from_end(part, i));
    }
    std::size_t at = kept;
    for (std::size_t i = kept; i < to.size(); ++i) {
        const Dim size = from_end(to, i);
        if (size == Dim(1)) {
            backward.emplace_back(1);
            continue;
        }
        while (at < from.size() && from_end(from, at) == Dim(1)) ++at;
        if (!(from_end(from, at) == size)) return std::nullopt;
        backward.push_back(from_end(part, at++));
    }
    for (; at < from.size(); ++at)
        if (!(from_end(from, at) == Dim(1))) return std::nullopt;
    return Shape(backward.rbegin(), backward.rend());
}

// The number of last axes that two shapes share.
std::size_t common_axes(const Shape& a, const Shape& b) {
    std::size_t count = 0;
    while (count < a.size() && count < b.size() && from_end(a, count) == from_end(b, count)) ++count;
    return count;
}

// The shape of a part of a term after a reshape that keeps the last `kept` axes. A part with all axes before them is
// reshaped with them, one with none of them stays; nothing for a part with only some.
std::optional<Shape> beside_kept(const Shape& part, const Shape& from, const Shape& to, std::size_t kept) {
    bool has_all = true, has_none = true;
    for (std::size_t i = kept; i < std::max(part.size(), from.size()); ++i) {
        has_all = has_all && from_end(part, i) == from_end(from, i);
        has_none = has_none && from_end(part, i) == Dim(1);
    }
    if (!has_all && !has_none) return std::nullopt;
    Shape shape;
    if (!has_none) shape.assign(to.begin(), to.end() - static_cast<std::ptrdiff_t>(kept));
    for (std::size_t i = kept; i-- > 0;) shape.push_back(from_end(part, i));
    return shape;
}

// True for a permutation that moves no axes of a shape except those of size 1.
bool keeps_order(const Shape& shape, const std::vector<Dim>& order) {
    std::int64_t last = 0;
    const auto rank = static_cast<std::int64_t>(order.size());
    for (const Dim& axis : order) {
        if (from_end(shape, static_cast<std::size_t>(-axis.constant() - 1)) == Dim(1)) continue;
        if (axis.constant() + rank < last) return false;
        last = axis.constant() + rank;
    }
    return true;
}

}  // namespace

Dim from_end(const Shape& shape, std::size_t back) {
    return back < shape.size() ? shape[shape.size() - 1 - back] : Dim(1);
}

bool is_elementwise(const Term& term) {
    return term.kind == TermKind::sum || term.kind == TermKind::product ||
           (term.kind == TermKind::op && ir::info(term.op).kind == ir::OpClass::elementwise);
}

bool is_product(const Term& term) { return term.kind == TermKind::op && term.op == Op::matmul && is_float(term.dtype); }

// A transpose that moves only axes of size 1 is a reshape, except on a product, where it is pushed to the operands.
Normalizer::Move Normalizer::plainest(TermId core, const Move& move) const {
    const Term& term = terms_[core];
    const bool is_still = move.op == Op::transpose && !is_product(term) && keeps_order(*term.shape, *move.order);
    return is_still ? Move{Op::reshape, move.shape, terms_.scalar()} : move;
}

Normalizer::Move Normalizer::unmoved(const ScaledTerm& part) const {
    return {Op::reshape, terms_[part.core].shape, terms_.scalar()};
}

/// The move of each part after `move` is pushed down; empty if it cannot be.
std::vector<Normalizer::Move> Normalizer::push_down(const Term& term, const Move& move) {
    if (move.op == Op::slice) return push_slice(term, move);
    if (move.op == Op::gather) return push_gather(term, move);
    if (term.kind == TermKind::op && term.op == move.op) return {composed(term, move)};
    const bool is_even =
        is_elementwise(term) && std::all_of(term.parts.begin(), term.parts.end(), [&](const ScaledTerm& part) {
            const Shape* shape = terms_[part.core].shape;
            return shape->empty() || shape == term.shape;
        });
    if (is_even) return std::vector<Move>(term.parts.size(), move);
    if (auto parts = push_into_product(term, move); !parts.empty()) return parts;
    if (auto parts = push_into_indices(term, move); !parts.empty()) return parts;
    if (auto parts = push_past_unit_axes(term, move); !parts.empty()) return parts;
    return push_past_broadcast(term, move);
}

/// (a b)^T = b^T a^T; a reshape of the rows of a product is one of its left operand: reshape(a b) = reshape(a) b.
std::vector<Normalizer::Move> Normalizer::push_into_product(const Term& term, const Move& move) {
    if (!is_product(term)) return {};
    const Shape &x = *terms_[term.parts[0].core].shape, &y = *terms_[term.parts[1].core].shape;
    if (move.op == Op::transpose) {
        const std::vector<Dim> swap{-1, -2};
        if (*move.order != swap || x.empty() || y.empty()) return {};
        return {{Op::transpose, terms_.keep(permuted(x, swap)), move.order},
                {Op::transpose, terms_.keep(permuted(y, swap)), move.order}};
    }
    if (y.size() != 2 || x.empty() || move.shape->empty() || y[1] == Dim(1) || !(move.shape->back() == y[1])) return {};
    Shape rows = *move.shape;
    rows.back() = x.back();
    return {{Op::reshape, trimmed_shape(rows), terms_.scalar()}, unmoved(term.parts[1])};
}

/// reshape(gather(table, ids)) = gather(table, reshape(ids)), if whole rows of the table stay rows.
std::vector<Normalizer::Move> Normalizer::push_into_indices(const Term& term, const Move& move) {
    if (term.kind != TermKind::op || term.op != Op::gather || move.op != Op::reshape) return {};
    const Shape &table = *terms_[term.parts[0].core].shape, &wanted = *move.shape;
    if (table.empty() || term.attributes->integer("axis") != -static_cast<std::int64_t>(table.size())) return {};
    const std::size_t row = table.size() - 1;
    if (wanted.size() < row ||
        !std::equal(table.begin() + 1, table.end(), wanted.end() - static_cast<std::ptrdiff_t>(row)))
        return {};
    const Shape places(wanted.begin(), wanted.end() - static_cast<std::ptrdiff_t>(row));
    return {unmoved(term.parts[0]), {Op::reshape, trimmed_shape(places), terms_.scalar()}};
}

/// Pushes down a reshape that adds or drops axes of size 1 before the last axes, along which the term works.
std::vector<Normalizer::Move> Normalizer::push_past_unit_axes(const Term& term, const Move& move) {
    const std::optional<std::size_t> kept = last_axes(term);
    if (move.op != Op::reshape || !kept) return {};
    std::vector<Move> result;
    for (const ScaledTerm& part : term.parts) {
        const auto shape = with_other_ones(*terms_[part.core].shape, *term.shape, *move.shape, *kept);
        if (!shape) return {};
        result.push_back({Op::reshape, trimmed_shape(*shape), terms_.scalar()});
    }
    return result;
}

/// Parts that are broadcast along the moved axes are not moved: reshape(x + r) = reshape(x) + r if the last axes, which
/// r has, stay; transpose(x + r) = transpose(x) + r as a column.
std::vector<Normalizer::Move> Normalizer::push_past_broadcast(const Term& term, const Move& move) {
    if (!is_elementwise(term)) return {};
    const std::size_t kept = common_axes(*term.shape, *move.shape);
    if (move.op == Op::reshape && kept == 0) return {};
    std::vector<Move> result;
    for (const ScaledTerm& part : term.parts) {
        const Shape& shape = *terms_[part.core].shape;
        if (move.op == Op::transpose) {
            result.push_back({Op::transpose, terms_.keep(permuted(shape, *move.order)), move.order});
            continue;
        }
        const auto beside = beside_kept(shape, *term.shape, *move.shape, kept);
        if (!beside) return {};
        result.push_back({Op::reshape, trimmed_shape(*beside), terms_.scalar()});
    }
    return result;
}

/// Rebuilds a term from its moved parts after a move was pushed through it.
ScaledTerm Normalizer::rebuilt_of(const Term& term, const Move& move, std::vector<ScaledTerm> parts) {
    if (term.kind == TermKind::sum)
        return is_float(term.dtype) ? add(parts, term.dtype)
                                    : from_affine({std::move(parts), term.attributes->dims("offset")[0]}, term.dtype);
    const bool is_cut_again =
        is_slice(term) && move.op == Op::slice && !(term.attributes->dims("cut")[0] == (*move.order)[0]);
    if (term.op == move.op && !is_cut_again) return parts[0];
    if (ir::info(term.op).kind == ir::OpClass::elementwise) return apply(term.op, term.dtype, *term.attributes, parts);
    if (term.op == Op::sum) return summed(*term.attributes, parts[0]);
    if (term.op == Op::max_reduce) return largest(*term.attributes, move.shape, parts[0]);
    if (term.op == Op::gather) return {1, op_term(term.op, term.dtype, move.shape, parts, term.attributes)};
    if (term.op == Op::concat) return concat_of_cut(term, move, std::move(parts));
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

/// Two moves as one, of the operand of the first.
Normalizer::Move Normalizer::composed(const Term& first, const Move& second) {
    if (second.op == Op::reshape) return second;
    const ScaledTerm& part = first.parts[0];
    const std::vector<Dim> order = composed_order(first.attributes->dims("permutation"), *second.order);
    if (order.empty()) return unmoved(part);
    return {Op::transpose, terms_.keep(permuted(*terms_[part.core].shape, order)), terms_.keep(order)};
}

}  // namespace cairn::normal_form
