#include "rewrite/normal_form/normalizer.hpp"

#include <algorithm>

// Pushdown of gathers through elementwise ops: gather(f(x, r), ids) = f(gather(x, ids), r), where r is broadcast along
// the axis. So a table may be widened or scaled before rows are gathered or after.
namespace cairn::normal_form {
namespace {

using ir::Op;

std::size_t axes_from(const Dim& axis) { return static_cast<std::size_t>(-axis.constant()); }

}  // namespace

/// The move of a gather; nothing along a leading axis of size 1 of the table, since forms have no such axes.
std::optional<Normalizer::Move> Normalizer::gather_of(const ir::Node& node, const ScaledTerm& table,
                                                      const ScaledTerm& ids) {
    const Dim axis = node.attributes.integer("axis");
    if (terms_[table.core].shape->size() < axes_from(axis)) return std::nullopt;
    return Move{Op::gather, trimmed_shape(node.shape), terms_.keep({axis}), ids};
}

/// The move of each part after a gather is pushed down; a part without the axis and those before it is unmoved. Empty
/// if the gather cannot be pushed down.
std::vector<Normalizer::Move> Normalizer::push_gather(const Term& term, const Move& gather) {
    if (!is_elementwise(term)) return {};
    const std::size_t axes = axes_from((*gather.order)[0]), before = term.shape->size() - axes;
    const Shape& whole = *gather.shape;
    const auto places = whole.begin() + static_cast<std::ptrdiff_t>(before),
               behind = std::max(places, whole.end() - static_cast<std::ptrdiff_t>(std::min(axes - 1, whole.size())));
    std::vector<Move> result;
    for (const ScaledTerm& part : term.parts) {
        const Shape& shape = *terms_[part.core].shape;
        if (shape.size() < axes) {
            result.push_back(unmoved(part));
            continue;
        }
        if (!(from_end(shape, axes - 1) == from_end(*term.shape, axes - 1))) return {};
        const auto axis = shape.end() - static_cast<std::ptrdiff_t>(axes);
        Shape taken(shape.begin(), axis);
        taken.insert(taken.end(), places, behind);
        taken.insert(taken.end(), axis + 1, shape.end());
        result.push_back({Op::gather, trimmed_shape(taken), gather.order, gather.ids});
    }
    return result;
}

}  // namespace cairn::normal_form
