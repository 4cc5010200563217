#include "rewrite/normal_form/normalizer.hpp"

#include <utility>

// Pushdown of slices: slice(f(x, y)) = f(slice(x), slice(y)) for every op that computes an element of the sliced axis
// from the elements at its position in the operands. So a part of a merged product equals the product of that part.
namespace cairn::normal_form {
namespace {

using ir::Op;

std::size_t back_of(const Dim& axis) { return static_cast<std::size_t>(-axis.constant() - 1); }

bool has_op(const Term& term, Op op) { return term.kind == TermKind::op && term.op == op; }

}  // namespace

/// The move of a slice; nothing for an empty slice, or for one of an axis of size 1 that does not provably take its
/// only element.
std::optional<Normalizer::Move> Normalizer::slice_of(const ir::Node& node, const ScaledTerm& x) {
    const Dim axis = node.attributes.integer("axis"), start = node.attributes.dims("start")[0];
    const Dim size = from_end(node.shape, back_of(axis)), whole = from_end(*terms_[x.core].shape, back_of(axis));
    if (size == Dim(0) || (whole == Dim(1) && !(size == whole))) return std::nullopt;
    const Dim step = size == Dim(1) ? Dim(1) : Dim(node.attributes.integer("step"));
    return Move{Op::slice, trimmed_shape(node.shape), terms_.keep({axis, start, step})};
}

/// The slice of a part along its `axis`, which becomes the sliced axis and has size `whole`. A part that is broadcast
/// along it is unmoved; nothing for a part of another size.
std::optional<Normalizer::Move> Normalizer::slice_part(const ScaledTerm& part, const Dim& axis, const Dim& whole,
                                                       const Move& slice) {
    const std::size_t back = back_of(axis);
    Shape shape = *terms_[part.core].shape;
    const Dim size = from_end(shape, back);
    if (size == Dim(1)) return unmoved(part);
    if (!(size == whole)) return std::nullopt;
    shape[shape.size() - 1 - back] = from_end(*slice.shape, back_of((*slice.order)[0]));
    return Move{Op::slice, trimmed_shape(shape), terms_.keep({axis, (*slice.order)[1], (*slice.order)[2]})};
}

/// The move of each part after a slice is pushed down; empty if it cannot be.
std::vector<Normalizer::Move> Normalizer::push_slice(const Term& term, const Move& slice) {
    if (from_end(*term.shape, back_of((*slice.order)[0])) == Dim(1)) return {};
    if (is_elementwise(term) || (is_float(term.dtype) && (has_op(term, Op::sum) || has_op(term, Op::max_reduce))))
        return push_slice_into_each(term, slice);
    if (is_product(term)) return push_slice_into_product(term, slice);
    if (has_op(term, Op::concat)) return push_slice_into_concat(term, slice);
    return push_slice_into_move(term, slice);
}

std::vector<Normalizer::Move> Normalizer::push_slice_into_each(const Term& term, const Move& slice) {
    const Dim axis = (*slice.order)[0], whole = from_end(*term.shape, back_of(axis));
    std::vector<Move> result;
    for (const ScaledTerm& part : term.parts) {
        const auto inner = slice_part(part, axis, whole, slice);
        if (!inner) return {};
        result.push_back(*inner);
    }
    return result;
}

/// A slice of columns applies to the right operand, one of rows to the left, one of batches to both.
std::vector<Normalizer::Move> Normalizer::push_slice_into_product(const Term& term, const Move& slice) {
    const Dim axis = (*slice.order)[0], whole = from_end(*term.shape, back_of(axis));
    const ScaledTerm &a = term.parts[0], &b = term.parts[1];
    const auto left = axis == Dim(-1) ? unmoved(a) : slice_part(a, axis, whole, slice);
    const auto right = axis == Dim(-2) ? unmoved(b) : slice_part(b, axis, whole, slice);
    if (!left || !right) return {};
    return {*left, *right};
}

/// The part of a concat along the sliced axis that contains the whole slice, and the start of the slice in that part.
std::optional<std::pair<std::size_t, Dim>> Normalizer::part_within(const Term& concat, const Move& slice) const {
    const Dim &axis = (*slice.order)[0], &start = (*slice.order)[1], &step = (*slice.order)[2];
    if (!(axis == Dim(concat.attributes->integer("axis")))) return std::nullopt;
    const Dim last = start + (from_end(*slice.shape, back_of(axis)) - 1) * step;
    Dim begin = 0;
    for (std::size_t i = 0; i < concat.parts.size() && provably_le(begin, start); ++i) {
        const Dim end = begin + from_end(*terms_[concat.parts[i].core].shape, back_of(axis));
        if (provably_le(last + 1, end)) return std::pair(i, start - begin);
        begin = end;
    }
    return std::nullopt;
}

/// A slice within one part is a slice of that part; along another axis each part is sliced.
std::vector<Normalizer::Move> Normalizer::push_slice_into_concat(const Term& term, const Move& slice) {
    const Dim axis = (*slice.order)[0];
    if (!(axis == Dim(term.attributes->integer("axis")))) return push_slice_into_each(term, slice);
    const auto within = part_within(term, slice);
    if (!within) return {};
    std::vector<Move> result;
    for (const ScaledTerm& part : term.parts) result.push_back(unmoved(part));
    const ScaledTerm& part = term.parts[within->first];
    const Move inside{Op::slice, slice.shape, terms_.keep({axis, within->second, (*slice.order)[2]})};
    result[within->first] = *slice_part(part, axis, from_end(*terms_[part.core].shape, back_of(axis)), inside);
    return result;
}

/// A concat whose parts have been sliced.
ScaledTerm Normalizer::concat_of_cut(const Term& term, const Move& slice, std::vector<ScaledTerm> parts) {
    if (const auto within = part_within(term, slice)) return parts[within->first];
    return concat(term.dtype, slice.shape, *term.attributes, std::move(parts));
}

/// A slice of a moved value. On a slice along the same axis both become one slice (slices of later axes stay outside).
/// On a transpose it slices the axis that came from there. On a reshape it is pushed down if the axes from there on are
/// unchanged.
std::vector<Normalizer::Move> Normalizer::push_slice_into_move(const Term& term, const Move& slice) {
    if (term.kind != TermKind::op || term.parts.empty()) return {};
    const ScaledTerm& part = term.parts[0];
    const Shape& shape = *terms_[part.core].shape;
    Dim axis = (*slice.order)[0];
    const Dim whole = from_end(*term.shape, back_of(axis));
    if (is_slice(term)) {
        const std::vector<Dim>& first = term.attributes->dims("cut");
        if (!(first[0] == axis) && axis.constant() > first[0].constant()) return {};
        auto inner = slice_part(part, axis, from_end(shape, back_of(axis)), slice);
        if (!(first[0] == axis)) return {*inner};
        const bool is_one = from_end(*slice.shape, back_of(axis)) == Dim(1);
        const Dim step = is_one ? Dim(1) : first[2] * (*slice.order)[2];
        inner->order = terms_.keep({axis, first[1] + (*slice.order)[1] * first[2], step});
        return {*inner};
    }
    if (term.op == Op::transpose) {
        const std::vector<Dim>& order = term.attributes->dims("permutation");
        if (back_of(axis) < order.size()) axis = order[order.size() - 1 - back_of(axis)];
    } else if (term.op == Op::reshape) {
        for (std::size_t i = 0; i <= back_of(axis); ++i)
            if (!(from_end(shape, i) == from_end(*term.shape, i))) return {};
    } else {
        return {};
    }
    const auto inner = slice_part(part, axis, whole, slice);
    return inner ? std::vector{*inner} : std::vector<Move>{};
}

bool Normalizer::is_slice(const Term& term) {
    return has_op(term, Op::slice) && !term.attributes->empty() && (*term.attributes)[0].name == "cut";
}

}  // namespace cairn::normal_form
