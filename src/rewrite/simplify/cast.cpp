#include "graph/ir/op_table.hpp"
#include "graph/types/device_code.hpp"
#include "rewrite/simplify/rewriter.hpp"
#include "rewrite/simplify/rule.hpp"

#include <array>

namespace cairn::simplify {
namespace {

using ir::NodeId;
using ir::Op;
using Result = std::optional<NodeId>;

// The number of bits of the integers that a dtype represents exactly (sign bit not counted).
int integer_bits(DType dtype) {
    switch (dtype) {
        case DType::f64: return 53;
        case DType::f32: return 24;
        case DType::f16: return 11;
        case DType::bf16: return 8;
        case DType::i64: return 63;
        case DType::i32: return 31;
        case DType::i8: return 7;
        case DType::u8: return 8;
        case DType::boolean: return 1;
    }
    return 0;
}

// True if every value of `from` is a value of `to`.
bool contains(DType to, DType from) {
    if (to == from) return true;
    if (to == DType::boolean) return false;
    if (is_float(from)) return is_widening(from, to);
    const bool is_signed = from != DType::u8 && from != DType::boolean;
    return integer_bits(from) <= integer_bits(to) && !(is_signed && to == DType::u8);
}

Result cast_same(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    return r.node(x).dtype == r.node(id).dtype ? Result(x) : std::nullopt;
}

// A cast to an integer clamps or wraps depending on the source dtype, so a cast through floats is removed only where
// nothing is lost.
Result cast_cast(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    if (!r.is(x, Op::cast)) return std::nullopt;
    const NodeId source = r.operand(x, 0);
    const DType from = r.node(source).dtype, by = r.node(x).dtype, to = r.node(id).dtype;
    if (!contains(by, from) || (is_float(from) != is_float(by) && !is_float(to) && !contains(to, from)))
        return std::nullopt;
    return r.make(Op::cast, {source}, attribute("dtype", {Dim(static_cast<int>(to))}));
}

// The bits are those of x.
Result bitcast_back(Rewriter& r, NodeId id) {
    NodeId x = r.operand(id, 0);
    if (r.is(x, Op::bitcast)) x = r.operand(x, 0);
    return r.node(x).dtype == r.node(id).dtype && r.node(x).shape == r.node(id).shape ? Result(x) : std::nullopt;
}

// A weight that is widened wherever it is read stays as it is stored, for all its readers.
Result widened_weight(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    if (!r.is(x, Op::cast) || !is_widening(r.node(r.operand(x, 0)).dtype, r.node(x).dtype)) return std::nullopt;
    NodeId source = r.operand(x, 0);
    while (ir::is(r.node(source), ir::OpClass::movement)) source = r.operand(source, 0);
    if (!r.is(source, Op::weight)) return std::nullopt;
    const Attributes of_view = r.node(id).attributes, of_cast = r.node(x).attributes;
    return r.make(Op::cast, {r.make(r.node(id).op, {r.operand(x, 0)}, of_view)}, of_cast);
}

Result copy_only(Rewriter& r, NodeId id) {
    const Device device = *types::device_of_code(r.node(id).attributes.integer("device"));
    return device == r.options().only_device ? Result(r.operand(id, 0)) : std::nullopt;
}

Result copy_copy(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    if (!r.is(x, Op::copy_to)) return std::nullopt;
    const Attributes attributes = r.node(id).attributes;
    return r.make(Op::copy_to, {r.operand(x, 0)}, attributes);
}

using enum Rounding;

// clang-format off
constexpr std::array rows = {
    Rule{"cast_same", "cast(x, dtype of x) -> x", "", exact, Op::cast, cast_same},
    Rule{"cast_cast", "cast(cast(x, a), b) -> cast(x, b)", "a holds every value of x's dtype", exact, Op::cast, cast_cast},
    Rule{"bitcast_back", "bitcast(x, dtype of x) -> x, bitcast(bitcast(x, a), dtype of x) -> x", "", exact, Op::bitcast, bitcast_back},
    Rule{"widened_weight", "transpose(cast(w)) -> cast(transpose(w))", "w is a weight, or views of one, and the cast widens", exact, Op::transpose, widened_weight},
    Rule{"widened_weight", "reshape(cast(w)) -> cast(reshape(w))", "w is a weight, or views of one, and the cast widens", exact, Op::reshape, widened_weight},
    Rule{"widened_weight", "slice(cast(w)) -> cast(slice(w))", "w is a weight, or views of one, and the cast widens", exact, Op::slice, widened_weight},
    Rule{"copy_copy", "copy_to(copy_to(x, a), b) -> copy_to(x, b)", "", exact, Op::copy_to, copy_copy},
    Rule{"copy_only", "copy_to(x, a) -> x", "a is the only device (Options::only_device)", exact, Op::copy_to, copy_only},
};
// clang-format on

}  // namespace

std::span<const Rule> cast_rules() { return rows; }

}  // namespace cairn::simplify
