#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/products.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace cairn::inline v0::onnx {
namespace {

void make_matmul(Node& node) { node.set(0, numpy_matmul(node, node.tensor(0), node.tensor(1))); }

/// x times a factor. Integers take whole factors only.
Tensor scaled_product(const Node& node, const Tensor& x, double factor, std::string_view name) {
    if (factor == 1) return x;
    if (is_float(x.dtype())) return x * factor;
    if (factor != std::floor(factor) || std::fabs(factor) > 0x1p53)
        node.refuse(fmt::format("its attribute {} is {} for a product of integers", name, factor));
    return x * static_cast<std::int64_t>(factor);
}

/// alpha * a b + beta * c. Where nothing is scaled and c is a row, it is the composite `linear`.
void make_gemm(Node& node) {
    Tensor a = node.tensor(0), b = node.tensor(1);
    std::optional<Tensor> c = node.optional_tensor(2);
    if (a.rank() != 2 || b.rank() != 2) node.refuse("its operands must be matrices");
    const double alpha = node.real("alpha", 1), beta = node.real("beta", 1);
    if (c.has_value() && beta == 0) c.reset();
    const DType dtype = a.dtype();
    // Scaled products of 16-bit floats are rounded once.
    const bool widens = alpha != 1 || (c.has_value() && beta != 1);
    if (widens) a = wide_of(a), b = wide_of(b);
    if (widens && c.has_value()) c = wide_of(*c);
    if (node.integer("transA", 0) != 0) a = transpose(a, {1, 0});
    if (node.integer("transB", 0) != 0) b = transpose(b, {1, 0});
    if (!c.has_value()) {
        const Tensor y = alpha == 1 ? linear(a, b) : scaled_product(node, matmul(a, b), alpha, "alpha");
        return node.set(0, as_dtype(y, dtype));
    }
    const Shape result{a.dim(0), b.dim(1)};
    if (c->rank() == 2 && c->dim(0) == Dim(1) && c->dim(1) == result[1]) c = reshape(*c, {result[1]});
    Tensor y;
    if (alpha == 1 && beta == 1 && c->rank() == 1 && c->dim(0) == result[1])
        y = linear(a, b, *c);
    else
        y = scaled_product(node, matmul(a, b), alpha, "alpha") + scaled_product(node, *c, beta, "beta");
    if (!(y.shape() == result))
        node.refuse(fmt::format("C {} does not broadcast to {}", to_string(node.shape(2)), to_string(result)));
    node.set(0, as_dtype(y, dtype));
}

constexpr std::array<Operator, 4> product_rows{
    {{"MatMul", 1, make_matmul}, {"Gemm", 7, make_gemm}, {"Einsum", 12, make_einsum}, {"Det", 11, make_det}}};

}  // namespace

Tensor numpy_matmul(const Node& node, const Tensor& a, const Tensor& b) {
    if (a.rank() == 0 || b.rank() == 0) node.refuse("an operand is a single number");
    const bool is_row = a.rank() == 1, is_column = b.rank() == 1;
    const Tensor y = matmul(is_row ? unsqueeze(a, 0) : a, is_column ? unsqueeze(b, 1) : b);
    if (!is_row && !is_column) return y;
    Shape shape = y.shape();
    if (is_column) shape.pop_back();
    if (is_row) shape.erase(shape.end() - (is_column ? 1 : 2));
    return reshape(y, shape);
}

std::span<const Operator> product_operators() { return product_rows; }

}  // namespace cairn::inline v0::onnx
