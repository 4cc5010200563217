#include "canon/canon.hpp"

#include <algorithm>
#include <utility>

// Which terms a move goes through, and what becomes of it on each of their parts.
namespace cairn::inline v0::canon {
namespace {

using ir::Op;

bool is_elementwise(const Term& term) {
    return term.kind == TermKind::sum || term.kind == TermKind::product ||
           (term.kind == TermKind::op && ir::info(term.op).kind == ir::OpClass::elementwise);
}

bool is_product(const Term& term) { return term.kind == TermKind::op && term.op == Op::matmul && is_float(term.dtype); }

// How many of its last axes a term works along; all before them it only repeats.
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

Dim from_end(const Shape& shape, std::size_t back) {
    return back < shape.size() ? shape[shape.size() - 1 - back] : Dim(1);
}

// The shape of a part where axes of size 1 come and go so that the whole goes from one shape to another and the last
// `kept` axes stay; nothing where other sizes change.
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

}  // namespace

Canon::Move Canon::staying(const Scaled& part) const { return {Op::reshape, terms_[part.core].shape, terms_.scalar()}; }

/// What a move does to each part of a term; empty where it does not go through.
std::vector<Canon::Move> Canon::passing(const Term& term, const Move& move) {
    if (term.kind == TermKind::op && term.op == move.op) return {composed(term, move)};
    const bool is_even =
        is_elementwise(term) && std::all_of(term.parts.begin(), term.parts.end(), [&](const Scaled& part) {
            const Shape* shape = terms_[part.core].shape;
            return shape->empty() || shape == term.shape;
        });
    if (is_even) return std::vector<Move>(term.parts.size(), move);
    if (auto parts = into_product(term, move); !parts.empty()) return parts;
    if (auto parts = into_ids(term, move); !parts.empty()) return parts;
    return beside_axes(term, move);
}

/// (a b)^T = b^T a^T, and rows of a product are rows of its left side: reshape(a b) = reshape(a) b.
std::vector<Canon::Move> Canon::into_product(const Term& term, const Move& move) {
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
    return {{Op::reshape, trimmed_shape(rows), terms_.scalar()}, staying(term.parts[1])};
}

/// reshape(gather(table, ids)) = gather(table, reshape(ids)), where whole rows of the table stay rows.
std::vector<Canon::Move> Canon::into_ids(const Term& term, const Move& move) {
    if (term.kind != TermKind::op || term.op != Op::gather || move.op != Op::reshape) return {};
    const Shape &table = *terms_[term.parts[0].core].shape, &wanted = *move.shape;
    if (table.empty() || term.attributes->integer("axis") != -static_cast<std::int64_t>(table.size())) return {};
    const std::size_t row = table.size() - 1;
    if (wanted.size() < row ||
        !std::equal(table.begin() + 1, table.end(), wanted.end() - static_cast<std::ptrdiff_t>(row)))
        return {};
    const Shape places(wanted.begin(), wanted.end() - static_cast<std::ptrdiff_t>(row));
    return {staying(term.parts[0]), {Op::reshape, trimmed_shape(places), terms_.scalar()}};
}

/// Axes of size 1 come and go before the last ones, along which a term works, with those of its parts.
std::vector<Canon::Move> Canon::beside_axes(const Term& term, const Move& move) {
    const std::optional<std::size_t> kept = last_axes(term);
    if (move.op != Op::reshape || !kept) return {};
    std::vector<Move> result;
    for (const Scaled& part : term.parts) {
        const auto shape = with_other_ones(*terms_[part.core].shape, *term.shape, *move.shape, *kept);
        if (!shape) return {};
        result.push_back({Op::reshape, trimmed_shape(*shape), terms_.scalar()});
    }
    return result;
}

/// The two moves as one, on what the first was made of.
Canon::Move Canon::composed(const Term& first, const Move& second) {
    if (second.op == Op::reshape) return second;
    const Scaled& part = first.parts[0];
    const std::vector<Dim> order = composed_order(first.attributes->dims("permutation"), *second.order);
    if (order.empty()) return staying(part);
    return {Op::transpose, terms_.keep(permuted(*terms_[part.core].shape, order)), terms_.keep(order)};
}

}  // namespace cairn::inline v0::canon
