#include "ir/infer.hpp"
#include "tests/ir/random_graph_builder.hpp"

#include <array>

/// What random graphs do beside well-behaved arithmetic: integers that wrap, saturate and are divided by zero, and
/// outputs that other nodes read or that share the memory of longer values.
namespace cairn::test {
namespace {

constexpr std::array integer_dtypes = {DType::i8, DType::u8, DType::i32, DType::i64};

}  // namespace

void RandomGraphBuilder::wild_leaves() {
    for (const DType dtype : integer_dtypes) wild_.push_back(graph_.input(name("wild"), dtype, any_shape(1, 2)));
}

bool RandomGraphBuilder::keep_wild(const Tensor& tensor) {
    if (!can_keep(tensor)) return false;
    wild_.push_back(tensor);
    return true;
}

bool RandomGraphBuilder::wild_integer() {
    const Tensor x = random_.pick(wild_), y = random_.pick(wild_);
    const bool pair = x.dtype() == y.dtype() && ir::broadcast_shapes(x.shape(), y.shape());
    const std::vector<int> scalars = {0, 1, 2, 3, 100, 127};
    const Operand other = pair ? Operand(y) : Operand(random_.pick(scalars));
    switch (random_.below(14)) {
        case 0: return keep_wild(x + other);
        case 1: return keep_wild(x - other);
        case 2: return keep_wild(other - x);
        case 3: return keep_wild(x * other);
        case 4: return keep_wild(x / other);
        case 5: return keep_wild(other / x);
        case 6: return keep_wild(x.dtype() == DType::u8 ? max(x, other) : -x);
        case 7: return keep_wild(x.dtype() == DType::u8 ? min(x, other) : abs(x));
        case 8: return keep_wild(where(x < other, other, x));
        case 9: return keep_wild(random_.one_in(2) ? max(x, other) : min(x, other));
        case 10: return keep_wild(sum(x, {-1}, true));
        case 11: return keep_boolean(x == other);
        case 12: return keep_boolean(x <= other);
        default: return keep_wild(cast(x, integer_dtypes[static_cast<std::size_t>(random_.below(4))]));
    }
}

void RandomGraphBuilder::wild_outputs(std::vector<Tensor>& candidates) {
    candidates.push_back(wild_.back());
    if (random_.one_in(2)) candidates.push_back(random_.pick(wild_));
    const Tensor inner = any_float().tensor;
    candidates.push_back(inner);
    if (inner.rank() > 0 && provably_le(1, inner.dim(0))) candidates.push_back(slice(inner, 0, 0, 1));
}

}  // namespace cairn::test
