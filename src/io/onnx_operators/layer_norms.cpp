#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cairn::inline v0::onnx {
namespace {

/// The input of a norm over its last axes, which are joined to one.
struct NormRows {
    Tensor x;     ///< [.., D]
    Shape tail;   ///< the joined sizes
    Shape shape;  ///< of the input
};

NormRows norm_rows(const Node& node) {
    const Tensor x = node.tensor(0);
    const int axis = node.axis(node.integer("axis", -1), x.rank());
    const auto first = x.shape().begin() + axis;
    NormRows rows{x, Shape(first, x.shape().end()), x.shape()};
    if (rows.tail.size() == 1) return rows;
    Shape flat(x.shape().begin(), first);
    flat.push_back(element_count(rows.tail));
    rows.x = reshape(x, flat);
    return rows;
}

/// A scale or bias that is the same for all rows, as [D]; empty if it varies from row to row.
std::optional<Tensor> norm_parameter(const NormRows& rows, const Tensor& parameter) {
    Shape own = parameter.shape();
    while (own.size() > rows.tail.size()) {
        if (!(own.front() == Dim(1))) return std::nullopt;
        own.erase(own.begin());
    }
    Tensor tail = own.size() == parameter.shape().size() ? parameter : reshape(parameter, own);
    if (own != rows.tail) tail = broadcast(tail, rows.tail);
    return rows.tail.size() == 1 ? tail : reshape(tail, {element_count(rows.tail)});
}

/// The dtype of the statistics. Those of less than the wide dtype of the input are rounded to it at the end.
DType stash_dtype(const Node& node) {
    const std::int64_t type = node.integer("stash_type", 1);
    if (type == static_cast<std::int64_t>(ElementType::f32)) return DType::f32;
    if (type == static_cast<std::int64_t>(ElementType::bf16)) return DType::bf16;
    node.refuse(fmt::format("its stash_type is {}, neither FLOAT nor BFLOAT16", type));
}

/// `normal` [.., D] in the shape of the input, times a scale and plus a bias that vary from row to row.
Tensor norm_scaled(const NormRows& rows, const Tensor& normal, const Tensor& scale, const std::optional<Tensor>& bias) {
    const DType dtype = normal.dtype();
    const Tensor whole = reshape(normal, rows.shape);
    const Tensor scaled = whole * broadcast(as_dtype(scale, dtype), rows.shape);
    return bias.has_value() ? scaled + broadcast(as_dtype(*bias, dtype), rows.shape) : scaled;
}

void set_statistics(Node& node, const NormRows& rows, double eps, DType dtype) {
    Shape shape(rows.shape.begin(), rows.shape.end() - static_cast<std::ptrdiff_t>(rows.tail.size()));
    shape.resize(rows.shape.size(), Dim(1));
    const Tensor wide = wide_of(rows.x);
    if (node.wants(1)) node.set(1, as_dtype(reshape(mean(wide, -1, true), shape), dtype));
    if (node.wants(2)) node.set(2, as_dtype(reshape(1 / sqrt(variance(wide, -1, true) + eps), shape), dtype));
}

void make_layer_norm(Node& node) {
    const double eps = node.real("epsilon", 1e-5f);
    const DType stash = stash_dtype(node);
    const NormRows rows = norm_rows(node);
    const Tensor scale = node.tensor(1);
    const std::optional<Tensor> bias = node.optional_tensor(2);
    const std::optional<Tensor> gamma = norm_parameter(rows, scale);
    const std::optional<Tensor> beta = bias.has_value() ? norm_parameter(rows, *bias) : std::nullopt;
    if (gamma.has_value() && bias.has_value() == beta.has_value()) {
        const Tensor y = beta.has_value() ? layer_norm(rows.x, *gamma, *beta, eps) : layer_norm(rows.x, *gamma, eps);
        node.set(0, reshape(y, rows.shape));
    } else {
        const Tensor normal = layer_norm(wide_of(rows.x), eps);
        node.set(0, as_dtype(norm_scaled(rows, normal, scale, bias), rows.x.dtype()));
    }
    set_statistics(node, rows, eps, stash);
}

/// The result has the dtype of the scale.
void make_rms_norm(Node& node) {
    const double eps = node.real("epsilon", 1e-5f);
    stash_dtype(node);
    const NormRows rows = norm_rows(node);
    const Tensor scale = node.tensor(1);
    const std::optional<Tensor> gamma = norm_parameter(rows, scale);
    if (gamma.has_value() && scale.dtype() == rows.x.dtype())
        return node.set(0, reshape(rms_norm(rows.x, *gamma, eps), rows.shape));
    const bool is_f64 = scale.dtype() == DType::f64 || rows.x.dtype() == DType::f64;
    const Tensor normal = rms_norm(as_dtype(rows.x, is_f64 ? DType::f64 : DType::f32), eps);
    node.set(0, as_dtype(norm_scaled(rows, normal, scale, std::nullopt), scale.dtype()));
}

constexpr std::array<Operator, 2> layer_norm_rows{
    {{"LayerNormalization", 17, make_layer_norm}, {"RMSNormalization", 23, make_rms_norm}}};

}  // namespace

std::span<const Operator> layer_norm_operators() { return layer_norm_rows; }

}  // namespace cairn::inline v0::onnx
