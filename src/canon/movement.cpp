#include "canon/canon.hpp"

#include "types/hash.hpp"

#include <algorithm>

namespace cairn::inline v0::canon {
namespace {

using ir::Op;

// Enough for any function that a model calls by one name; a longer piece of arithmetic is moved as a whole.
constexpr std::size_t most_inside = 64;

// The permutation without leading axes that stay, as negative axes: the same for any number of them.
std::vector<Dim> shortest(std::vector<Dim> order) {
    std::size_t kept = 0;
    const auto rank = static_cast<std::int64_t>(order.size());
    while (kept < order.size() && order[kept] == Dim(static_cast<std::int64_t>(kept) - rank)) ++kept;
    order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept));
    return order;
}

// `order` with leading axes that stay, `rank` in all.
std::vector<Dim> lengthened(const std::vector<Dim>& order, std::size_t rank) {
    std::vector<Dim> result;
    for (std::size_t i = rank; i > order.size(); --i) result.emplace_back(-static_cast<std::int64_t>(i));
    result.insert(result.end(), order.begin(), order.end());
    return result;
}

std::size_t hash_of(CanonId core, const Shape* shape, const Shape* order) {
    const std::hash<const void*> place;
    return types::mixed(types::mixed(core, place(shape)), place(order));
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

Scaled Canon::move(const ir::Node& node, const Scaled& x) {
    Move move{node.op, trimmed_shape(node.shape), terms_.scalar()};
    if (node.op == Op::transpose) {
        move.order = terms_.keep(shortest(node.attributes.dims("permutation")));
        if (move.order->empty()) return x;
    }
    if (terms_[x.core].kind == TermKind::one) return x;
    const Scaled result = moved(x.core, move);
    return {x.factor * result.factor, result.core};
}

// Reshape and transpose go through what works element by element on parts of the whole shape.
bool Canon::lets_through(const Term& term) const {
    const bool elementwise = term.kind == TermKind::sum || term.kind == TermKind::product ||
                             (term.kind == TermKind::op && ir::info(term.op).kind == ir::OpClass::elementwise);
    return elementwise && std::all_of(term.parts.begin(), term.parts.end(), [&](const Scaled& part) {
               const Shape* shape = terms_[part.core].shape;
               return shape->empty() || shape == term.shape;
           });
}

// The terms that movement of `core` goes through, parts before what is made of them; nothing where they are too many.
// The ids of gathered rows count, since movement goes on to them.
std::optional<std::vector<CanonId>> Canon::inside(CanonId core) const {
    std::vector<CanonId> open{core}, seen;
    while (!open.empty()) {
        const CanonId at = open.back();
        open.pop_back();
        const Term& term = terms_[at];
        const bool is_gather = term.kind == TermKind::op && term.op == Op::gather;
        if (term.shape->empty() || (!is_gather && !lets_through(term)) ||
            std::find(seen.begin(), seen.end(), at) != seen.end())
            continue;
        if (seen.size() == most_inside) return std::nullopt;
        seen.push_back(at);
        for (std::size_t i = is_gather ? 1 : 0; i < term.parts.size(); ++i) open.push_back(term.parts[i].core);
    }
    std::erase_if(seen, [&](CanonId id) { return !lets_through(terms_[id]); });
    std::sort(seen.begin(), seen.end());
    return seen;
}

// The result is built anew: its parts may stand in another order.
Scaled Canon::moved_inside(CanonId core, const Move& move) {
    const Term& term = terms_[core];
    std::vector<Scaled> parts;
    parts.reserve(term.parts.size());
    for (const Scaled& part : term.parts) parts.push_back(moved(part.core, move));
    if (term.kind == TermKind::product) {
        Scaled result{1, one(term.dtype)};
        for (std::size_t i = 0; i < parts.size(); ++i) result = multiply(result, power(parts[i], term.parts[i].factor));
        return result;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].factor *= term.parts[i].factor;
    if (term.kind == TermKind::op) return apply(term.op, term.dtype, *term.attributes, parts);
    if (is_float(term.dtype)) return add(parts, term.dtype);
    return from_affine({std::move(parts), term.attributes->dims("offset")[0]}, term.dtype);
}

// reshape(gather(table, ids)) = gather(table, reshape(ids)), where whole rows of the table stay rows.
std::optional<Scaled> Canon::moved_ids(CanonId core, const Move& move) {
    const Term& term = terms_[core];
    if (term.kind != TermKind::op || term.op != Op::gather || move.op != Op::reshape) return std::nullopt;
    const Shape &table = *terms_[term.parts[0].core].shape, &wanted = *move.shape;
    if (table.empty() || term.attributes->integer("axis") != -static_cast<std::int64_t>(table.size()))
        return std::nullopt;
    const std::size_t row = table.size() - 1;
    if (wanted.size() < row ||
        !std::equal(table.begin() + 1, table.end(), wanted.end() - static_cast<std::ptrdiff_t>(row)))
        return std::nullopt;
    const Shape places(wanted.begin(), wanted.end() - static_cast<std::ptrdiff_t>(row));
    const Scaled ids = moved(term.parts[1].core, {Op::reshape, terms_.keep(places), terms_.scalar()});
    return Scaled{1, op_term(Op::gather, term.dtype, move.shape,
                             {term.parts[0], {term.parts[1].factor * ids.factor, ids.core}}, term.attributes)};
}

std::optional<Scaled> Canon::known_move(CanonId core, const Move& move) const {
    std::optional<Scaled> result;
    moved_index_.each(hash_of(core, move.shape, move.order), [&](std::uint32_t at) {
        if (moved_[at].core == core && moved_[at].move == move) result = moved_[at].result;
    });
    return result;
}

Scaled Canon::remember(CanonId core, const Move& move, const Scaled& result) {
    moved_index_.add(hash_of(core, move.shape, move.order), static_cast<std::uint32_t>(moved_.size()));
    moved_.push_back({core, move, result});
    return result;
}

// Shared values are moved once, and the innermost first, so that no stack grows with their depth.
Scaled Canon::moved(CanonId core, const Move& move) {
    const Term& term = terms_[core];
    if (term.shape->empty() || (move.op == Op::reshape && term.shape == move.shape)) return {1, core};
    if (const auto known = known_move(core, move)) return *known;
    if (term.kind == TermKind::op && term.op == move.op) {
        const CanonId inner = term.parts[0].core;
        if (move.op == Op::reshape) return moved(inner, move);
        const std::vector<Dim>& first = term.attributes->dims("permutation");
        const std::size_t rank = std::max(first.size(), move.order->size());
        const auto a = lengthened(first, rank), b = lengthened(*move.order, rank);
        std::vector<Dim> order;
        for (const Dim& axis : b) order.push_back(a[from_front(axis, rank)]);
        order = shortest(std::move(order));
        if (order.empty()) return {1, inner};
        return moved(inner, {Op::transpose, terms_.keep(permuted(*terms_[inner].shape, order)), terms_.keep(order)});
    }
    if (const auto product = moved_product(core, move)) return remember(core, move, *product);
    if (const auto within = inside(core)) {
        for (const CanonId part : *within)
            if (!known_move(part, move)) remember(part, move, moved_inside(part, move));
        if (lets_through(terms_[core])) return *known_move(core, move);
        if (const auto gathered = moved_ids(core, move)) return remember(core, move, *gathered);
    }
    return remember(core, move, moved_whole(core, move));
}

Scaled Canon::moved_whole(CanonId core, const Move& move) {
    const Term& term = terms_[core];
    if (move.op == Op::reshape) return {1, op_term(move.op, term.dtype, move.shape, {term.whole})};
    const Attributes attributes{{"permutation", *move.order}};
    const Shape* shape = terms_.keep(permuted(*term.shape, *move.order));
    return {1, op_term(move.op, term.dtype, shape, {term.whole}, &attributes)};
}

}  // namespace cairn::inline v0::canon
