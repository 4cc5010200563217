#include "ir/shape_rule.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::ir {

// Both need the growing axis, which only the state_read at the beginning of the chain tells.
Inferred infer_state_change(const ShapeRule& rule) {
    const auto origin = state_origin(rule.graph(), rule.id(0));
    if (!origin) rule.fail("operand 0 is no version of a state: " + rule.text());
    const Node& leaf = rule.graph().node(*origin);
    const std::int64_t capacity = leaf.attributes.integer("capacity");
    Shape live = rule.shape(0), rows = rule.shape(1);
    const auto axis = static_cast<std::size_t>(rule.rank(0) + leaf.attributes.integer("axis"));

    if (rule.node(1).dtype != leaf.dtype)
        rule.fail(fmt::format("dtypes of \"{}\" and rows differ: {}", leaf.name, rule.text()));
    const bool fits = rows.size() == live.size();
    const Dim count = fits ? rows[axis] : Dim(0);
    if (fits) rows[axis] = live[axis];
    if (!fits || rows != live)
        rule.fail(fmt::format("rows must have the shape of \"{}\" but for axis {}: {}", leaf.name, axis, rule.text()));

    if (rule.op() == Op::state_append) {
        live[axis] = live[axis] + count;
        if (provably_le(Dim(capacity) + 1, live[axis]))
            rule.fail(fmt::format("\"{}\" would hold {} rows, its capacity is {}: {}", leaf.name, to_string(live[axis]),
                                  capacity, rule.text()));
        return {leaf.dtype, std::move(live)};
    }
    const Dim& start = rule.dim("start");
    if (!provably_le(0, start) || !provably_le(start + count, live[axis]))
        rule.fail(fmt::format("0 <= {} and {} <= {} are not sure to hold on axis {} of \"{}\": {}", to_string(start),
                              to_string(start + count), to_string(live[axis]), axis, leaf.name, rule.text()));
    return {leaf.dtype, std::move(live)};
}

}  // namespace cairn::inline v0::ir
