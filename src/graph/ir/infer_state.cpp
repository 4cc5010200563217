#include "graph/ir/inference_context.hpp"

#include <fmt/format.h>

namespace cairn::ir {

namespace {

Inferred infer_append(const InferenceContext& context, const Node& leaf) {
    if (leaf.attributes.empty()) context.fail(fmt::format("\"{}\" has a fixed size: {}", leaf.name, context.text()));
    const std::int64_t capacity = leaf.attributes.integer("capacity");
    Shape live = context.shape(0), rows = context.shape(1);
    const auto axis = static_cast<std::size_t>(context.rank(0) + leaf.attributes.integer("axis"));
    const bool fits = rows.size() == live.size();
    const Dim count = fits ? rows[axis] : Dim(0);
    if (fits) rows[axis] = live[axis];
    if (!fits || rows != live)
        context.fail(
            fmt::format("rows must have the shape of \"{}\" but for axis {}: {}", leaf.name, axis, context.text()));
    live[axis] = live[axis] + count;
    if (provably_le(Dim(capacity) + 1, live[axis]))
        context.fail(fmt::format("\"{}\" would hold {} rows, its capacity is {}: {}", leaf.name, to_string(live[axis]),
                                 capacity, context.text()));
    return {leaf.dtype, std::move(live)};
}

// The rows are a block of the live part that begins at `start`.
Inferred infer_write(const InferenceContext& context, const Node& leaf) {
    const Shape &live = context.shape(0), &rows = context.shape(1);
    const std::vector<Dim>& start = context.dims("start");
    if (rows.size() != live.size() || start.size() != live.size())
        context.fail(fmt::format("rows and start must have the rank of \"{}\": {}", leaf.name, context.text()));
    for (std::size_t axis = 0; axis < live.size(); ++axis)
        if (!provably_le(0, start[axis]) || !provably_le(start[axis] + rows[axis], live[axis]))
            context.fail(fmt::format("0 <= {} and {} <= {} are not sure to hold on axis {} of \"{}\": {}",
                                     to_string(start[axis]), to_string(start[axis] + rows[axis]), to_string(live[axis]),
                                     axis, leaf.name, context.text()));
    return {leaf.dtype, live};
}

}  // namespace

// Only the state_read at the beginning of the chain describes the state.
Inferred infer_state_change(const InferenceContext& context) {
    const auto origin = state_origin(context.graph(), context.id(0));
    if (!origin) context.fail("operand 0 is no version of a state: " + context.text());
    const Node& leaf = context.graph().node(*origin);
    if (context.node(1).dtype != leaf.dtype)
        context.fail(fmt::format("dtypes of \"{}\" and rows differ: {}", leaf.name, context.text()));
    return context.op() == Op::state_append ? infer_append(context, leaf) : infer_write(context, leaf);
}

}  // namespace cairn::ir
