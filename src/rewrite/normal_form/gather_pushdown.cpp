#include "rewrite/normal_form/identities.hpp"
#include "rewrite/normal_form/normalizer.hpp"

#include <algorithm>

// Pushdown of gathers, so that a table may be widened or scaled before rows are gathered or after.
namespace cairn::normal_form {
namespace {

using ir::Op;

std::size_t axes_from(const Dim& axis) { return static_cast<std::size_t>(-axis.constant()); }

}  // namespace

// Nothing along a leading axis of size 1 of the table, since forms have no such axes.
std::optional<Move> gather_of(Normalizer& n, const ir::Node& node, const ScaledTerm& table, const ScaledTerm& ids) {
    const Dim axis = node.attributes.integer("axis");
    if (n.term(table.core).shape->size() < axes_from(axis)) return std::nullopt;
    return Move{Op::gather, n.trimmed_shape(node.shape), n.terms().keep({axis}), ids};
}

// A part without the axis and those before it is unmoved.
std::vector<Move> gather_of_elements(Normalizer& n, const Term& term, const Move& gather) {
    if (!is_elementwise(term)) return {};
    const std::size_t axes = axes_from((*gather.order)[0]), before = term.shape->size() - axes;
    const Shape& whole = *gather.shape;
    const auto position_axes = whole.begin() + static_cast<std::ptrdiff_t>(before),
               behind =
                   std::max(position_axes, whole.end() - static_cast<std::ptrdiff_t>(std::min(axes - 1, whole.size())));
    std::vector<Move> result;
    for (const ScaledTerm& part : term.parts) {
        const Shape& shape = *n.term(part.core).shape;
        if (shape.size() < axes) {
            result.push_back(n.unmoved(part));
            continue;
        }
        if (!(from_end(shape, axes - 1) == from_end(*term.shape, axes - 1))) return {};
        const auto axis = shape.end() - static_cast<std::ptrdiff_t>(axes);
        Shape result_shape(shape.begin(), axis);
        result_shape.insert(result_shape.end(), position_axes, behind);
        result_shape.insert(result_shape.end(), axis + 1, shape.end());
        result.push_back({Op::gather, n.trimmed_shape(result_shape), gather.order, gather.ids});
    }
    return result;
}

}  // namespace cairn::normal_form
