#include "graph/interpreter/evaluation.hpp"
#include "graph/ir/scalar_cast.hpp"
#include "graph/types/half.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace cairn::interpreter {

namespace {

// Copies `part` into `out`, beginning at `corner`, one index per axis.
void copy_into(Value& out, const Value& part, const Sizes& corner) {
    const Sizes strides = row_major(out.shape);
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < corner.size(); ++i) offset += corner[i] * strides[i];
    const auto at = element_offsets(part.shape, {strides, offset});
    visit_storage(
        out.dtype,
        [&](auto& to, const auto& from) {
            for (std::size_t i = 0; i < from.size(); ++i) to[static_cast<std::size_t>(at[i])] = from[i];
        },
        out, part);
}

// The same, beginning at `start` of one axis.
void copy_into(Value& out, const Value& part, std::size_t axis, std::int64_t start) {
    Sizes corner(out.shape.size(), 0);
    corner[axis] = start;
    copy_into(out, part, corner);
}

Value evaluate_pad(const Evaluation& e) {
    Value out = e.result();
    const double value = e.node().attributes.number("value");
    out.data.assign(out.data.size(), round_to(out.dtype, value));
    out.integers.assign(out.integers.size(), is_float(out.dtype) ? 0 : truncate_to(out.dtype, value));
    copy_into(out, e.operand(0), e.axis(), e.integer("before"));
    return out;
}

Value evaluate_concat(const Evaluation& e) {
    Value out = e.result();
    std::int64_t start = 0;
    for (const Value* operand : e.operands) {
        copy_into(out, *operand, e.axis(), start);
        start += operand->shape[e.axis()];
    }
    return out;
}

/// x as [before, size, after]: the elements before, along and after the indexed axis.
struct AxisSplit {
    std::int64_t before = 1, size = 1, after = 1;
    AxisSplit(const Sizes& shape, std::size_t axis)
        : before(count(std::span(shape).first(axis))),
          size(shape[axis]),
          after(count(std::span(shape).subspan(axis + 1))) {}
};

void check_indices(const Evaluation& e, std::int64_t size) {
    for (const std::int64_t index : e.operand(1).integers)
        if (index < 0 || index >= size) e.fail(fmt::format("index {} is outside 0..{}", index, size - 1));
}

Value evaluate_gather(const Evaluation& e) {
    const AxisSplit n(e.operand(0).shape, e.axis());
    const auto& indices = e.operand(1).integers;
    check_indices(e, n.size);
    Value out = e.result();
    visit_storage(
        out.dtype,
        [&](auto& to, const auto& x) {
            std::size_t position = 0;
            for (std::int64_t a = 0; a < n.before; ++a)
                for (const std::int64_t index : indices)
                    for (std::int64_t b = 0; b < n.after; ++b)
                        to[position++] = x[static_cast<std::size_t>((a * n.size + index) * n.after + b)];
        },
        out, e.operand(0));
    return out;
}

Value evaluate_take_along_axis(const Evaluation& e) {
    const Value &x = e.operand(0), &indices = e.operand(1);
    check_indices(e, x.shape[e.axis()]);
    Value out = e.result();
    const Sizes dense = row_major(x.shape);
    Sizes strides = dense;
    strides[e.axis()] = 0;
    const auto line = element_offsets(e.shape, {strides});
    visit_storage(
        out.dtype,
        [&](auto& to, const auto& from) {
            for (std::size_t i = 0; i < to.size(); ++i)
                to[i] = from[static_cast<std::size_t>(line[i] + indices.integers[i] * dense[e.axis()])];
        },
        out, x);
    return out;
}

Value evaluate_scatter(const Evaluation& e) {
    const AxisSplit n(e.operand(0).shape, e.axis());
    const auto& indices = e.operand(1).integers;
    check_indices(e, n.size);
    Value out = e.operand(0);
    visit_storage(
        out.dtype,
        [&](auto& to, const auto& updates) {
            std::size_t position = 0;
            for (std::int64_t a = 0; a < n.before; ++a)
                for (const std::int64_t index : indices)
                    for (std::int64_t b = 0; b < n.after; ++b)
                        to[static_cast<std::size_t>((a * n.size + index) * n.after + b)] = updates[position++];
        },
        out, e.operand(2));
    return out;
}

// The bits of a number of a dtype, in the lowest bytes.
std::uint64_t bits_of(const Value& value, std::size_t i) {
    switch (value.dtype) {
        case DType::f64: return std::bit_cast<std::uint64_t>(value.data[i]);
        case DType::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(value.data[i]));
        case DType::f16: return types::f64_to_f16(value.data[i]);
        case DType::bf16: return types::f64_to_bf16(value.data[i]);
        default: return static_cast<std::uint64_t>(value.integers[i]);
    }
}

void set_bits(Value& value, std::size_t i, std::uint64_t bits) {
    switch (value.dtype) {
        case DType::f64: value.data[i] = std::bit_cast<double>(bits); return;
        case DType::f32: value.data[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits)); return;
        case DType::f16: value.data[i] = types::f16_to_f32(static_cast<std::uint16_t>(bits)); return;
        case DType::bf16: value.data[i] = types::bf16_to_f32(static_cast<std::uint16_t>(bits)); return;
        default: value.integers[i] = wrap_to(value.dtype, static_cast<std::int64_t>(bits)); return;
    }
}

Value evaluate_bitcast(const Evaluation& e) {
    const Value& x = e.operand(0);
    Value out = e.result();
    const std::size_t from = size_of(x.dtype), to = size_of(out.dtype), least = std::min(from, to);
    const std::uint64_t mask = least == sizeof mask ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * least) - 1;
    for (std::size_t i = 0; i < out.size(); ++i) {
        std::uint64_t bits = 0;
        if (from >= to)
            bits = bits_of(x, i / (from / to)) >> 8 * least * (i % (from / to));
        else
            for (std::size_t part = 0; part < to / from; ++part)
                bits |= (bits_of(x, i * (to / from) + part) & mask) << 8 * least * part;
        set_bits(out, i, bits);
    }
    return out;
}

}  // namespace

Value evaluate_indexing(const Evaluation& e) {
    static constexpr auto rows =
        std::to_array<OpMapEntry<EvaluateFunction>>({{Op::pad, evaluate_pad},
                                                     {Op::concat, evaluate_concat},
                                                     {Op::gather, evaluate_gather},
                                                     {Op::take_along_axis, evaluate_take_along_axis},
                                                     {Op::scatter, evaluate_scatter},
                                                     {Op::bitcast, evaluate_bitcast}});
    return op_entry(rows, e.node().op, "interpret")(e);
}

Value evaluate_iota(const Evaluation& e) {
    Value out = e.result();
    const auto start = static_cast<std::uint64_t>(e.integer("start"));
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto value = static_cast<std::int64_t>(start + i);
        if (is_float(out.dtype))
            out.data[i] = round_integer(out.dtype, value);
        else
            out.integers[i] = wrap_to(out.dtype, value);
    }
    return out;
}

Value evaluate_state_change(const Evaluation& e) {
    const Value &live = e.operand(0), &rows = e.operand(1);
    Value out = e.result();
    copy_into(out, live, Sizes(live.shape.size(), 0));
    if (e.node().op == Op::state_write) {
        copy_into(out, rows, e.list("start"));
        return out;
    }
    const Node& origin = e.graph.node(*state_origin(e.graph, e.id));
    const auto axis =
        static_cast<std::size_t>(origin.attributes.integer("axis") + static_cast<std::int64_t>(live.shape.size()));
    const std::int64_t capacity = origin.attributes.integer("capacity");
    if (e.shape[axis] > capacity)
        e.fail(fmt::format("\"{}\" would hold {} rows, its capacity is {}", origin.name, e.shape[axis], capacity));
    copy_into(out, rows, axis, live.shape[axis]);
    return out;
}

}  // namespace cairn::interpreter
