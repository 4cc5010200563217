#include "ir/shape_rule.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::ir {

namespace {

Inferred infer_append(const ShapeRule& rule, const Node& leaf) {
    if (leaf.attributes.empty()) rule.fail(fmt::format("\"{}\" has a fixed size: {}", leaf.name, rule.text()));
    const std::int64_t capacity = leaf.attributes.integer("capacity");
    Shape live = rule.shape(0), rows = rule.shape(1);
    const auto axis = static_cast<std::size_t>(rule.rank(0) + leaf.attributes.integer("axis"));
    const bool fits = rows.size() == live.size();
    const Dim count = fits ? rows[axis] : Dim(0);
    if (fits) rows[axis] = live[axis];
    if (!fits || rows != live)
        rule.fail(fmt::format("rows must have the shape of \"{}\" but for axis {}: {}", leaf.name, axis, rule.text()));
    live[axis] = live[axis] + count;
    if (provably_le(Dim(capacity) + 1, live[axis]))
        rule.fail(fmt::format("\"{}\" would hold {} rows, its capacity is {}: {}", leaf.name, to_string(live[axis]),
                              capacity, rule.text()));
    return {leaf.dtype, std::move(live)};
}

// The rows lie in the live part as a block that begins at `start`.
Inferred infer_write(const ShapeRule& rule, const Node& leaf) {
    const Shape &live = rule.shape(0), &rows = rule.shape(1);
    const std::vector<Dim>& start = rule.dims("start");
    if (rows.size() != live.size() || start.size() != live.size())
        rule.fail(fmt::format("rows and start must have the rank of \"{}\": {}", leaf.name, rule.text()));
    for (std::size_t axis = 0; axis < live.size(); ++axis)
        if (!provably_le(0, start[axis]) || !provably_le(start[axis] + rows[axis], live[axis]))
            rule.fail(fmt::format("0 <= {} and {} <= {} are not sure to hold on axis {} of \"{}\": {}",
                                  to_string(start[axis]), to_string(start[axis] + rows[axis]), to_string(live[axis]),
                                  axis, leaf.name, rule.text()));
    return {leaf.dtype, live};
}

}  // namespace

// What a state is, only the state_read at the beginning of the chain tells.
Inferred infer_state_change(const ShapeRule& rule) {
    const auto origin = state_origin(rule.graph(), rule.id(0));
    if (!origin) rule.fail("operand 0 is no version of a state: " + rule.text());
    const Node& leaf = rule.graph().node(*origin);
    if (rule.node(1).dtype != leaf.dtype)
        rule.fail(fmt::format("dtypes of \"{}\" and rows differ: {}", leaf.name, rule.text()));
    return rule.op() == Op::state_append ? infer_append(rule, leaf) : infer_write(rule, leaf);
}

}  // namespace cairn::inline v0::ir
