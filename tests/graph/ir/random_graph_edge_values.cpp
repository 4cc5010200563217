#include "graph/ir/graph_inputs.hpp"
#include "graph/ir/infer.hpp"
#include "graph/ir/scalar_cast.hpp"
#include "tests/graph/ir/random_graph_builder.hpp"

#include <array>

/// Edge cases, in addition to regular arithmetic: integers that wrap, saturate and are divided by zero, constants and
/// iotas at the limits of each dtype and beyond what a double represents, and outputs that other nodes read or that
/// share the memory of larger values.
namespace cairn::test {
namespace {

constexpr std::array integer_dtypes = {DType::i8, DType::u8, DType::i32, DType::i64};
constexpr std::array float_dtypes = {DType::f64, DType::f32, DType::f16, DType::bf16};

// Elements of the dtype: small ones, its limits, and those that need one bit more than a float of each width has.
std::vector<std::int64_t> notable(DType dtype) {
    std::vector<std::int64_t> found = {0, 1, 1, 2, 3, 100, 127};
    for (const int bits : {8, 11, 24, 31, 53, 62})
        for (const std::int64_t number : {(std::int64_t{1} << bits) + 1, -(std::int64_t{1} << bits) - 1})
            if (ir::can_hold_integer(dtype, number)) found.push_back(number);
    for (const std::int64_t end : {ir::lowest_integer(dtype), ir::highest_integer(dtype)}) found.push_back(end);
    return found;
}

}  // namespace

void RandomGraphBuilder::edge_value_inputs() {
    for (const DType dtype : integer_dtypes) edge_values_.push_back(graph_.input(name("wild"), dtype, any_shape(1, 2)));
    for (int i = 0; i < 3; ++i) edge_values_.push_back(random_.one_in(2) ? edge_value_iota() : edge_value_constant());
}

Tensor RandomGraphBuilder::edge_value_constant() {
    const DType dtype = random_.one_in(2) ? DType::i64 : integer_dtypes[static_cast<std::size_t>(random_.below(4))];
    const std::vector<std::int64_t> list = notable(dtype);
    std::vector<std::int64_t> values(static_cast<std::size_t>(random_.between(1, 3)));
    for (std::int64_t& value : values) value = random_.pick(list);
    const Shape shape = {values.size()};
    return Tensor(graph_.data(), ir::add_constant(*graph_.data(), dtype, shape, values, {}));
}

Tensor RandomGraphBuilder::edge_value_iota() {
    const DType dtype = random_.one_in(2) ? DType::i64 : integer_dtypes[static_cast<std::size_t>(random_.below(4))];
    const std::int64_t start = random_.pick(notable(dtype));
    return iota(graph_, random_.one_in(2) ? Dim(1) : any_size(), dtype, start);
}

bool RandomGraphBuilder::keep_edge_value(const Tensor& tensor) {
    if (!can_keep(tensor)) return false;
    edge_values_.push_back(tensor);
    return true;
}

bool RandomGraphBuilder::edge_value_integer() {
    const Tensor x = random_.pick(edge_values_), y = random_.pick(edge_values_);
    const bool pair = x.dtype() == y.dtype() && ir::broadcast_shapes(x.shape(), y.shape());
    const Operand other = pair ? Operand(y) : Operand(random_.pick(notable(x.dtype())));
    switch (random_.below(16)) {
        case 0: return keep_edge_value(x + other);
        case 1: return keep_edge_value(x - other);
        case 2: return keep_edge_value(other - x);
        case 3: return keep_edge_value(x * other);
        case 4: return keep_edge_value(x / other);
        case 5: return keep_edge_value(other / x);
        case 6: return keep_edge_value(x.dtype() == DType::u8 ? max(x, other) : -x);
        case 7: return keep_edge_value(x.dtype() == DType::u8 ? min(x, other) : abs(x));
        case 8: return keep_edge_value(where(x < other, other, x));
        case 9: return keep_edge_value(random_.one_in(2) ? max(x, other) : min(x, other));
        case 10: return keep_edge_value(sum(x, {-1}, true));
        case 11: return keep_boolean(x == other);
        case 12: return keep_boolean(x <= other);
        case 13:
            return keep_edge_value(cast(cast(x, float_dtypes[static_cast<std::size_t>(random_.below(4))]), x.dtype()));
        case 14: return edge_value_row(x);
        default: return keep_edge_value(cast(x, integer_dtypes[static_cast<std::size_t>(random_.below(4))]));
    }
}

bool RandomGraphBuilder::edge_value_row(const Tensor& x) {
    const bool filled = provably_le(1, x.dim(-1));
    switch (random_.below(8)) {
        case 0: return keep_edge_value(cumsum(x, -1));
        case 1: return keep_edge_value(prod(x, {-1}, true));
        case 2: return keep_edge_value(min_reduce(x, {-1}, true));
        case 3: return keep_edge_value(concat({x, x}, -1));
        case 4: return filled && keep_edge_value(gather(x, iota(graph_, 1), -1));
        case 5: return filled && keep_edge_value(unsqueeze(gather(x, 0, -1), -1));
        case 6: return filled && keep_edge_value(slice(x, -1, 1, x.dim(-1)));
        default: return keep_edge_value(max_reduce(x, {-1}, true));
    }
}

void RandomGraphBuilder::edge_value_outputs(std::vector<Tensor>& candidates) {
    candidates.push_back(edge_values_.back());
    if (random_.one_in(2)) candidates.push_back(random_.pick(edge_values_));
    const Tensor inner = any_float().tensor;
    candidates.push_back(inner);
    if (inner.rank() > 0 && provably_le(1, inner.dim(0))) candidates.push_back(slice(inner, 0, 0, 1));
}

}  // namespace cairn::test
