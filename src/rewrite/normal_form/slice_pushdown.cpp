#include "rewrite/normal_form/identities.hpp"
#include "rewrite/normal_form/normalizer.hpp"

#include <utility>

// Pushdown of slices: slice(f(x, y)) = f(slice(x), slice(y)) for every op that computes an element of the sliced axis
// from the elements at its position in the operands. So a part of a merged product equals the product of that part.
namespace cairn::normal_form {
namespace {

using ir::Op;

std::size_t back_of(const Dim& axis) { return static_cast<std::size_t>(-axis.constant() - 1); }

bool has_op(const Term& term, Op op) { return term.kind == TermKind::op && term.op == op; }

// The slice of a part along its `axis`, which becomes the sliced axis and has size `whole`. A part that is broadcast
// along it is unmoved; nothing for a part of another size.
std::optional<Move> slice_part(Normalizer& n, const ScaledTerm& part, const Dim& axis, const Dim& whole,
                               const Move& slice) {
    const std::size_t back = back_of(axis);
    Shape shape = *n.term(part.core).shape;
    const Dim size = from_end(shape, back);
    if (size == Dim(1)) return n.unmoved(part);
    if (!(size == whole)) return std::nullopt;
    shape[shape.size() - 1 - back] = from_end(*slice.shape, back_of((*slice.order)[0]));
    return Move{Op::slice, n.trimmed_shape(shape), n.terms().keep({axis, (*slice.order)[1], (*slice.order)[2]})};
}

// The part of a concat along the sliced axis that contains the whole slice, and the start of the slice in that part.
std::optional<std::pair<std::size_t, Dim>> part_within(const Normalizer& n, const Term& concat, const Move& slice) {
    const Dim &axis = (*slice.order)[0], &start = (*slice.order)[1], &step = (*slice.order)[2];
    if (!(axis == Dim(concat.attributes->integer("axis")))) return std::nullopt;
    const Dim last = start + (from_end(*slice.shape, back_of(axis)) - 1) * step;
    Dim begin = 0;
    for (std::size_t i = 0; i < concat.parts.size() && provably_le(begin, start); ++i) {
        const Dim end = begin + from_end(*n.term(concat.parts[i].core).shape, back_of(axis));
        if (provably_le(last + 1, end)) return std::pair(i, start - begin);
        begin = end;
    }
    return std::nullopt;
}

// The slice of each part along the same axis.
std::vector<Move> slice_of_each(Normalizer& n, const Term& term, const Move& slice) {
    const Dim axis = (*slice.order)[0], whole = from_end(*term.shape, back_of(axis));
    std::vector<Move> result;
    for (const ScaledTerm& part : term.parts) {
        const auto inner = slice_part(n, part, axis, whole, slice);
        if (!inner) return {};
        result.push_back(*inner);
    }
    return result;
}

std::vector<Move> of_one_part(const std::optional<Move>& inner) {
    return inner ? std::vector{*inner} : std::vector<Move>{};
}

}  // namespace

bool is_slice(const Term& term) {
    return has_op(term, Op::slice) && !term.attributes->empty() && (*term.attributes)[0].name == "cut";
}

// Nothing for an empty slice, or for one of an axis of size 1 that does not provably take its
// only element.
std::optional<Move> slice_of(Normalizer& n, const ir::Node& node, const ScaledTerm& x) {
    const Dim axis = node.attributes.integer("axis"), start = node.attributes.dims("start")[0];
    const Dim size = from_end(node.shape, back_of(axis)), whole = from_end(*n.term(x.core).shape, back_of(axis));
    if (size == Dim(0) || (whole == Dim(1) && !(size == whole))) return std::nullopt;
    const Dim step = size == Dim(1) ? Dim(1) : Dim(node.attributes.integer("step"));
    return Move{Op::slice, n.trimmed_shape(node.shape), n.terms().keep({axis, start, step})};
}

std::vector<Move> slice_of_elements(Normalizer& n, const Term& term, const Move& slice) {
    return is_elementwise(term) ? slice_of_each(n, term, slice) : std::vector<Move>{};
}

std::vector<Move> slice_of_reduction(Normalizer& n, const Term& term, const Move& slice) {
    const bool reduces = is_float(term.dtype) && (has_op(term, Op::sum) || has_op(term, Op::max_reduce));
    return reduces ? slice_of_each(n, term, slice) : std::vector<Move>{};
}

// A slice of columns applies to the right operand, one of rows to the left, one of batches to both.
std::vector<Move> slice_of_product(Normalizer& n, const Term& term, const Move& slice) {
    if (!is_product(term)) return {};
    const Dim axis = (*slice.order)[0], whole = from_end(*term.shape, back_of(axis));
    const ScaledTerm &a = term.parts[0], &b = term.parts[1];
    const auto left = axis == Dim(-1) ? n.unmoved(a) : slice_part(n, a, axis, whole, slice);
    const auto right = axis == Dim(-2) ? n.unmoved(b) : slice_part(n, b, axis, whole, slice);
    if (!left || !right) return {};
    return {*left, *right};
}

std::vector<Move> slice_across_concat(Normalizer& n, const Term& term, const Move& slice) {
    const bool is_across = has_op(term, Op::concat) && !((*slice.order)[0] == Dim(term.attributes->integer("axis")));
    return is_across ? slice_of_each(n, term, slice) : std::vector<Move>{};
}

std::vector<Move> slice_within_concat(Normalizer& n, const Term& term, const Move& slice) {
    if (!has_op(term, Op::concat)) return {};
    const auto within = part_within(n, term, slice);
    if (!within) return {};
    const Dim axis = (*slice.order)[0];
    std::vector<Move> result;
    for (const ScaledTerm& part : term.parts) result.push_back(n.unmoved(part));
    const ScaledTerm& part = term.parts[within->first];
    const Move inside{Op::slice, slice.shape, n.terms().keep({axis, within->second, (*slice.order)[2]})};
    result[within->first] = *slice_part(n, part, axis, from_end(*n.term(part.core).shape, back_of(axis)), inside);
    return result;
}

ScaledTerm concat_of_cut(Normalizer& n, const Term& term, const Move& slice, std::span<const ScaledTerm> parts) {
    if (const auto within = part_within(n, term, slice)) return parts[within->first];
    return n.apply({Op::concat, term.dtype, parts, term.attributes, slice.shape});
}

std::vector<Move> slice_of_slice(Normalizer& n, const Term& term, const Move& slice) {
    if (!is_slice(term)) return {};
    const ScaledTerm& part = term.parts[0];
    const Dim axis = (*slice.order)[0];
    const std::vector<Dim>& first = term.attributes->dims("cut");
    if (!(first[0] == axis)) return {};
    auto inner = slice_part(n, part, axis, from_end(*n.term(part.core).shape, back_of(axis)), slice);
    const bool is_one = from_end(*slice.shape, back_of(axis)) == Dim(1);
    const Dim step = is_one ? Dim(1) : first[2] * (*slice.order)[2];
    inner->order = n.terms().keep({axis, first[1] + (*slice.order)[1] * first[2], step});
    return {*inner};
}

std::vector<Move> slices_of_two_axes(Normalizer& n, const Term& term, const Move& slice) {
    if (!is_slice(term)) return {};
    const ScaledTerm& part = term.parts[0];
    const Dim axis = (*slice.order)[0], other = term.attributes->dims("cut")[0];
    if (other == axis || axis.constant() > other.constant()) return {};
    return of_one_part(slice_part(n, part, axis, from_end(*n.term(part.core).shape, back_of(axis)), slice));
}

std::vector<Move> slice_of_transpose(Normalizer& n, const Term& term, const Move& slice) {
    if (!has_op(term, Op::transpose)) return {};
    Dim axis = (*slice.order)[0];
    const Dim whole = from_end(*term.shape, back_of(axis));
    const std::vector<Dim>& order = term.attributes->dims("permutation");
    if (back_of(axis) < order.size()) axis = order[order.size() - 1 - back_of(axis)];
    return of_one_part(slice_part(n, term.parts[0], axis, whole, slice));
}

std::vector<Move> slice_of_reshape(Normalizer& n, const Term& term, const Move& slice) {
    if (!has_op(term, Op::reshape)) return {};
    const ScaledTerm& part = term.parts[0];
    const Dim axis = (*slice.order)[0];
    for (std::size_t i = 0; i <= back_of(axis); ++i)
        if (!(from_end(*n.term(part.core).shape, i) == from_end(*term.shape, i))) return {};
    return of_one_part(slice_part(n, part, axis, from_end(*term.shape, back_of(axis)), slice));
}

}  // namespace cairn::normal_form
