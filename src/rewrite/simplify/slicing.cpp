#include "rewrite/simplify/rewriter.hpp"
#include "rewrite/simplify/rule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace cairn::simplify {
namespace {

using ir::NodeId;
using ir::Op;
using Result = std::optional<NodeId>;

// The attributes of a slice.
struct SliceParams {
    std::int64_t axis;
    Dim start, stop;
    std::int64_t step;
};

SliceParams slice_params_of(const ir::Node& node) {
    return {node.attributes.integer("axis"), node.attributes.dims("start")[0], node.attributes.dims("stop")[0],
            node.attributes.integer("step")};
}

Result make_slice(Rewriter& r, NodeId x, const SliceParams& cut) {
    return r.try_make(Op::slice, {x},
                      {{"axis", std::vector<Dim>{cut.axis}},
                       {"start", std::vector<Dim>{cut.start}},
                       {"stop", std::vector<Dim>{cut.stop}},
                       {"step", std::vector<Dim>{cut.step}}});
}

// A replacement must have exactly the Dims of the node it replaces, not merely equal sizes.
Result of_shape(const Rewriter& r, Result result, const Shape& shape) {
    return result && r.node(*result).shape == shape ? result : std::nullopt;
}

Result slice_all(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    const SliceParams cut = slice_params_of(r.node(id));
    const bool all =
        cut.start == Dim(0) && cut.step == 1 && cut.stop == r.node(x).shape[front_axis(r.node(x), cut.axis)];
    return all ? Result(x) : std::nullopt;
}

Result slice_slice(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    if (!r.is(x, Op::slice)) return std::nullopt;
    const SliceParams outer = slice_params_of(r.node(id)), inner = slice_params_of(r.node(x));
    if (outer.axis != inner.axis) return std::nullopt;
    SliceParams both{outer.axis, inner.start + outer.start * inner.step, inner.start + outer.stop * inner.step,
                     inner.step * outer.step};
    // The stop follows the last element taken, since a full further step may lie outside.
    if (inner.step != 1) both.stop = both.stop - (inner.step - 1);
    if (inner.step != 1 && !provably_le(1, outer.stop - outer.start)) return std::nullopt;
    const Shape shape = r.node(id).shape;
    return of_shape(r, make_slice(r, r.operand(x, 0), both), shape);
}

Result slice_concat(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    SliceParams cut = slice_params_of(r.node(id));
    if (!r.is(x, Op::concat) || r.node(x).attributes.integer("axis") != cut.axis) return std::nullopt;
    const Shape shape = r.node(id).shape;
    const std::size_t axis = front_axis(r.node(x), cut.axis);
    Dim begin = 0;
    const std::vector<NodeId> parts = r.node(x).operands;
    for (const NodeId part : parts) {
        const Dim end = begin + r.node(part).shape[axis];
        if (provably_le(begin, cut.start) && provably_le(cut.stop, end)) {
            cut.start = cut.start - begin;
            cut.stop = cut.stop - begin;
            return of_shape(r, make_slice(r, part, cut), shape);
        }
        begin = end;
    }
    return std::nullopt;
}

Result slice_broadcast(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    if (!r.is(x, Op::broadcast)) return std::nullopt;
    const NodeId inner = r.operand(x, 0);
    const auto axis = -slice_params_of(r.node(id)).axis, rank = static_cast<std::int64_t>(r.node(inner).shape.size());
    if (axis <= rank && !(r.node(inner).shape[static_cast<std::size_t>(rank - axis)] == Dim(1))) return std::nullopt;
    const Shape shape = r.node(id).shape;
    return r.try_make(Op::broadcast, {inner}, attribute("shape", shape));
}

Result slice_pad(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    SliceParams cut = slice_params_of(r.node(id));
    if (!r.is(x, Op::pad) || r.node(x).attributes.integer("axis") != cut.axis) return std::nullopt;
    const NodeId inner = r.operand(x, 0);
    const Dim begin = r.node(x).attributes.dims("before")[0];
    const Dim end = begin + r.node(inner).shape[front_axis(r.node(inner), cut.axis)];
    if (!provably_le(begin, cut.start) || !provably_le(cut.stop, end)) return std::nullopt;
    cut.start = cut.start - begin;
    cut.stop = cut.stop - begin;
    const Shape shape = r.node(id).shape;
    return of_shape(r, make_slice(r, inner, cut), shape);
}

Attributes iota_attributes(const ir::Node& iota, const Dim& length, const Dim& start) {
    return {{"length", std::vector<Dim>{length}},
            {"start", std::vector<Dim>{start}},
            {"dtype", iota.attributes.dims("dtype")}};
}

// Returns nothing if the sum exceeds 64 bits: an iota wraps to the lowest integer there, a Dim does not.
std::optional<Dim> sum_of(const Dim& a, const Dim& b) {
    try {
        return a + b;
    } catch (const InternalError&) { throw; } catch (const Error&) {
        return std::nullopt;
    }
}

Result slice_iota(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    const SliceParams cut = slice_params_of(r.node(id));
    if (!r.is(x, Op::iota) || cut.step != 1) return std::nullopt;
    const auto start = sum_of(r.node(x).attributes.dims("start")[0], cut.start);
    if (!start) return std::nullopt;
    const Shape shape = r.node(id).shape;
    return r.try_make(Op::iota, {}, iota_attributes(r.node(x), shape[0], *start));
}

Result pad_nothing(Rewriter& r, NodeId id) {
    const Attributes& pad = r.node(id).attributes;
    const bool nothing = pad.dims("before")[0] == Dim(0) && pad.dims("after")[0] == Dim(0);
    return nothing ? Result(r.operand(id, 0)) : std::nullopt;
}

Result pad_pad(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    if (!r.is(x, Op::pad)) return std::nullopt;
    const Attributes outer = r.node(id).attributes, inner = r.node(x).attributes;
    const double value = outer.number("value"), within = inner.number("value");
    const bool same = value == within && std::signbit(value) == std::signbit(within);
    if (outer.integer("axis") != inner.integer("axis") || !same) return std::nullopt;
    const auto sum = [&](std::string_view side) { return std::vector<Dim>{outer.dims(side)[0] + inner.dims(side)[0]}; };
    return r.try_make(
        Op::pad, {r.operand(x, 0)},
        {{"axis", outer.dims("axis")}, {"before", sum("before")}, {"after", sum("after")}, {"value", value}});
}

Result concat_one(Rewriter& r, NodeId id) {
    return r.node(id).operands.size() == 1 ? Result(r.operand(id, 0)) : std::nullopt;
}

Result concat_empty(Rewriter& r, NodeId id) {
    const std::size_t axis = front_axis(r.node(id), r.node(id).attributes.integer("axis"));
    std::vector<NodeId> parts = r.node(id).operands;
    const auto empty = [&](NodeId part) { return r.node(part).shape[axis] == Dim(0); };
    if (parts.size() < 2 || std::none_of(parts.begin(), parts.end(), empty)) return std::nullopt;
    const NodeId first = parts.front();
    std::erase_if(parts, empty);
    if (parts.empty()) parts = {first};
    const Attributes attributes = r.node(id).attributes;
    return r.make(Op::concat, std::move(parts), attributes);
}

// Longer concats are not flattened: in a chain of concats every link would repeat all parts before it.
constexpr std::size_t max_flattened = 64;

Result concat_concat(Rewriter& r, NodeId id) {
    const Attributes attributes = r.node(id).attributes;
    std::vector<NodeId> parts;
    for (const NodeId part : r.node(id).operands) {
        if (r.is(part, Op::concat) && r.node(part).attributes == attributes &&
            r.node(part).operands.size() <= max_flattened)
            parts.insert(parts.end(), r.node(part).operands.begin(), r.node(part).operands.end());
        else
            parts.push_back(part);
    }
    if (parts.size() == r.node(id).operands.size()) return std::nullopt;
    return r.make(Op::concat, std::move(parts), attributes);
}

// The number of parts, from `first` on, that are adjacent slices of one tensor.
std::size_t count_adjacent(const Rewriter& r, std::span<const NodeId> parts, std::size_t first, std::int64_t axis) {
    const auto plain = [&](NodeId part) {
        if (!r.is(part, Op::slice)) return false;
        const SliceParams cut = slice_params_of(r.node(part));
        return cut.axis == axis && cut.step == 1;
    };
    std::size_t end = first + 1;
    if (!plain(parts[first])) return 1;
    while (end < parts.size() && plain(parts[end]) && r.operand(parts[end], 0) == r.operand(parts[first], 0) &&
           slice_params_of(r.node(parts[end - 1])).stop == slice_params_of(r.node(parts[end])).start)
        ++end;
    return end - first;
}

// Adjacent slices of one tensor are one slice.
Result concat_slices(Rewriter& r, NodeId id) {
    const Attributes attributes = r.node(id).attributes;
    const std::int64_t axis = attributes.integer("axis");
    const std::vector<NodeId> parts = r.node(id).operands;
    std::vector<NodeId> merged;
    for (std::size_t first = 0; first < parts.size();) {
        const std::size_t end = first + count_adjacent(r, parts, first, axis);
        Result whole;
        if (end - first > 1)
            whole = make_slice(
                r, r.operand(parts[first], 0),
                {axis, slice_params_of(r.node(parts[first])).start, slice_params_of(r.node(parts[end - 1])).stop, 1});
        if (whole)
            merged.push_back(*whole);
        else
            merged.insert(merged.end(), parts.begin() + static_cast<std::ptrdiff_t>(first),
                          parts.begin() + static_cast<std::ptrdiff_t>(end));
        first = end;
    }
    if (merged.size() == parts.size()) return std::nullopt;
    const Shape shape = r.node(id).shape;
    return of_shape(r, r.make(Op::concat, std::move(merged), attributes), shape);
}

// Gathering consecutive rows is a slice, if all of them are proved to exist.
Result gather_iota(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    NodeId indices = r.operand(id, 1);
    if (r.is(indices, Op::reshape)) indices = r.operand(indices, 0);
    if (!r.is(indices, Op::iota)) return std::nullopt;
    const Dim start = r.node(indices).attributes.dims("start")[0], count = r.node(indices).shape[0];
    const auto stop = sum_of(start, count);
    if (!stop) return std::nullopt;
    const Shape shape = r.node(id).shape;
    const std::int64_t axis = r.node(id).attributes.integer("axis");
    Shape of_rows = r.node(x).shape;
    of_rows[front_axis(r.node(x), axis)] = count;
    const Result rows = of_shape(r, make_slice(r, x, {axis, start, *stop, 1}), of_rows);
    return rows ? Result(r.reshape_to(*rows, shape)) : std::nullopt;
}

Result gather_constant(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0), indices = r.operand(id, 1);
    const auto index = r.scalar_value(indices);
    if (!index || !r.node(indices).shape.empty()) return std::nullopt;
    const auto at = static_cast<std::int64_t>(*index);
    const Shape shape = r.node(id).shape;
    const Result row = make_slice(r, x, {r.node(id).attributes.integer("axis"), at, at + 1, 1});
    return row ? Result(r.reshape_to(*row, shape)) : std::nullopt;
}

Result window_one(Rewriter& r, NodeId id) {
    const Attributes& window = r.node(id).attributes;
    if (window.integer("size") != 1 || window.integer("stride") != 1) return std::nullopt;
    const Shape shape = r.node(id).shape;
    return r.reshape_to(r.operand(id, 0), shape);
}

using enum Rounding;

// clang-format off
constexpr std::array rows = {
    Rule{"slice_all", "slice(x, everything) -> x", "", exact, Op::slice, slice_all},
    Rule{"slice_slice", "slice(slice(x, a), b) -> slice(x, b within a)", "on one axis", exact, Op::slice, slice_slice},
    Rule{"slice_concat", "slice(concat(.., x, ..)) -> slice(x)", "it lies within x", exact, Op::slice, slice_concat},
    Rule{"slice_broadcast", "slice(broadcast(x, s)) -> broadcast(x, s')", "on an axis that is repeated", exact, Op::slice, slice_broadcast},
    Rule{"slice_pad", "slice(pad(x)) -> slice(x)", "it lies within x", exact, Op::slice, slice_pad},
    Rule{"slice_iota", "slice(iota(n, start), a, b) -> iota(b - a, start + a)", "", exact, Op::slice, slice_iota},
    Rule{"pad_nothing", "pad(x, 0, 0) -> x", "", exact, Op::pad, pad_nothing},
    Rule{"pad_pad", "pad(pad(x, a, b), c, d) -> pad(x, a + c, b + d)", "on one axis, with one value", exact, Op::pad, pad_pad},
    Rule{"concat_one", "concat(x) -> x", "", exact, Op::concat, concat_one},
    Rule{"concat_empty", "concat(x, empty) -> concat(x)", "", exact, Op::concat, concat_empty},
    Rule{"concat_concat", "concat(concat(x, y), z) -> concat(x, y, z)", "on one axis", exact, Op::concat, concat_concat},
    Rule{"concat_slices", "concat(slice(x, a, b), slice(x, b, c)) -> slice(x, a, c)", "", exact, Op::concat, concat_slices},
    Rule{"gather_iota", "gather(x, iota(n, start)) -> slice(x, start, start + n)", "it is proved to fit; likewise a reshape of the indices, then of the result", exact, Op::gather, gather_iota},
    Rule{"gather_constant", "gather(x, i) -> reshape(slice(x, i, i + 1))", "i is constant and within bounds", exact, Op::gather, gather_constant},
    Rule{"window_one", "window(x, size 1) -> reshape(x)", "", exact, Op::window, window_one},
};
// clang-format on

}  // namespace

std::span<const Rule> slicing_rules() { return rows; }

}  // namespace cairn::simplify
