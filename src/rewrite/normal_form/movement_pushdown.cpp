#include "rewrite/normal_form/identities.hpp"
#include "rewrite/normal_form/normalizer.hpp"
#include "rewrite/normal_form/permutation.hpp"

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
std::optional<Shape> with_unit_axes(const Shape& part, const Shape& from, const Shape& to, std::size_t kept) {
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
std::optional<Shape> shape_around_kept_axes(const Shape& part, const Shape& from, const Shape& to, std::size_t kept) {
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
bool is_identity_order(const Shape& shape, const std::vector<Dim>& order) {
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

std::optional<Move> still_transpose(Normalizer& n, const Term& term, const Move& move) {
    if (is_product(term) || !is_identity_order(*term.shape, *move.order)) return std::nullopt;
    return Move{Op::reshape, move.shape, n.terms().scalar()};
}

std::optional<Move> two_reshapes(Normalizer&, const Term&, const Move& move) { return move; }

std::optional<Move> two_transposes(Normalizer& n, const Term& term, const Move& move) {
    const ScaledTerm& part = term.parts[0];
    const std::vector<Dim> order = composed_order(term.attributes->dims("permutation"), *move.order);
    if (order.empty()) return n.unmoved(part);
    return Move{Op::transpose, n.terms().keep(permuted(*n.term(part.core).shape, order)), n.terms().keep(order)};
}

std::vector<Move> move_of_elements(Normalizer& n, const Term& term, const Move& move) {
    if (!is_elementwise(term)) return {};
    for (const ScaledTerm& part : term.parts) {
        const Shape* shape = n.term(part.core).shape;
        if (!shape->empty() && shape != term.shape) return {};
    }
    return std::vector<Move>(term.parts.size(), move);
}

std::vector<Move> transpose_of_product(Normalizer& n, const Term& term, const Move& move) {
    if (!is_product(term)) return {};
    const Shape &x = *n.term(term.parts[0].core).shape, &y = *n.term(term.parts[1].core).shape;
    const std::vector<Dim> swap{-1, -2};
    if (*move.order != swap || x.empty() || y.empty()) return {};
    return {{Op::transpose, n.terms().keep(permuted(x, swap)), move.order},
            {Op::transpose, n.terms().keep(permuted(y, swap)), move.order}};
}

std::vector<Move> rows_of_product(Normalizer& n, const Term& term, const Move& move) {
    if (!is_product(term)) return {};
    const Shape &x = *n.term(term.parts[0].core).shape, &y = *n.term(term.parts[1].core).shape;
    if (y.size() != 2 || x.empty() || move.shape->empty() || y[1] == Dim(1) || !(move.shape->back() == y[1])) return {};
    Shape rows = *move.shape;
    rows.back() = x.back();
    return {{Op::reshape, n.trimmed_shape(rows), n.terms().scalar()}, n.unmoved(term.parts[1])};
}

std::vector<Move> reshape_of_gather(Normalizer& n, const Term& term, const Move& move) {
    if (term.kind != TermKind::op || term.op != Op::gather) return {};
    const Shape &table = *n.term(term.parts[0].core).shape, &wanted = *move.shape;
    if (table.empty() || term.attributes->integer("axis") != -static_cast<std::int64_t>(table.size())) return {};
    const std::size_t row = table.size() - 1;
    if (wanted.size() < row ||
        !std::equal(table.begin() + 1, table.end(), wanted.end() - static_cast<std::ptrdiff_t>(row)))
        return {};
    const Shape leading_shape(wanted.begin(), wanted.end() - static_cast<std::ptrdiff_t>(row));
    return {n.unmoved(term.parts[0]), {Op::reshape, n.trimmed_shape(leading_shape), n.terms().scalar()}};
}

// Pushes down a reshape that adds or drops axes of size 1 before the last axes, along which the term works.
std::vector<Move> unit_axes(Normalizer& n, const Term& term, const Move& move) {
    const std::optional<std::size_t> kept = last_axes(term);
    if (!kept) return {};
    std::vector<Move> result;
    for (const ScaledTerm& part : term.parts) {
        const auto shape = with_unit_axes(*n.term(part.core).shape, *term.shape, *move.shape, *kept);
        if (!shape) return {};
        result.push_back({Op::reshape, n.trimmed_shape(*shape), n.terms().scalar()});
    }
    return result;
}

std::vector<Move> reshape_of_broadcast(Normalizer& n, const Term& term, const Move& move) {
    if (!is_elementwise(term)) return {};
    const std::size_t kept = common_axes(*term.shape, *move.shape);
    if (kept == 0) return {};
    std::vector<Move> result;
    for (const ScaledTerm& part : term.parts) {
        const auto other_shape = shape_around_kept_axes(*n.term(part.core).shape, *term.shape, *move.shape, kept);
        if (!other_shape) return {};
        result.push_back({Op::reshape, n.trimmed_shape(*other_shape), n.terms().scalar()});
    }
    return result;
}

std::vector<Move> transpose_of_broadcast(Normalizer& n, const Term& term, const Move& move) {
    if (!is_elementwise(term)) return {};
    std::vector<Move> result;
    for (const ScaledTerm& part : term.parts)
        result.push_back({Op::transpose, n.terms().keep(permuted(*n.term(part.core).shape, *move.order)), move.order});
    return result;
}

}  // namespace cairn::normal_form
