#include "io/onnx_operators/contrib.hpp"
#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/wide.hpp"

#include <array>

/// Norms of transformers that onnxruntime defines: of sums, and without a mean.
namespace cairn::inline v0::onnx {
namespace {

/// 1 / sqrt(mean(x^2) + eps) over the axes from `axis` on, which stay with size 1: f32.
Tensor inverse_root_mean_square(const Tensor& x, int axis, double eps) {
    std::vector<int> axes;
    for (int one = axis; one < x.rank(); ++one) axes.push_back(one);
    return 1 / sqrt(mean(x * x, axes, true) + eps);
}

void make_simplified_layer_norm(Node& node) {
    node.set(0, result_of_operator(node, "RMSNormalization", 23, {node.value_ptr(0), node.value_ptr(1)}));
    if (!node.wants(1)) return;
    const int axis = node.axis(node.integer("axis", -1), node.rank(0));
    node.set(
        1, as_dtype(inverse_root_mean_square(wide_of(node.tensor(0)), axis, node.real("epsilon", 1e-5f)), DType::f32));
}

/// Input 0 plus input 1 plus a bias, which may be absent, in the wide dtype. Output 3 is the sum.
Tensor skip_sum(Node& node, std::size_t bias) {
    Tensor total = wide_of(node.tensor(0)) + wide_of(node.tensor(1));
    if (node.has(bias)) total = total + wide_of(node.tensor(bias));
    if (node.wants(3)) node.set(3, as_dtype(total, node.dtype(0)));
    return total;
}

void make_skip_layer_norm(Node& node) {
    const double eps = node.real("epsilon", 1e-12f);
    const Tensor x = skip_sum(node, 4);
    const Tensor gamma = as_dtype(node.tensor(2), x.dtype());
    const Tensor y =
        node.has(3) ? layer_norm(x, gamma, as_dtype(node.tensor(3), x.dtype()), eps) : layer_norm(x, gamma, eps);
    node.set(0, as_dtype(y, node.dtype(0)));
    if (node.wants(1)) node.set(1, as_dtype(mean(x, -1, true), DType::f32));
    if (node.wants(2)) node.set(2, as_dtype(1 / sqrt(variance(x, -1, true) + eps), DType::f32));
}

void make_skip_simplified_layer_norm(Node& node) {
    const double eps = node.real("epsilon", 1e-12f);
    const Tensor x = skip_sum(node, 3);
    node.set(0, as_dtype(rms_norm(x, as_dtype(node.tensor(2), x.dtype()), eps), node.dtype(0)));
    if (node.wants(2)) node.set(2, as_dtype(inverse_root_mean_square(x, x.rank() - 1, eps), DType::f32));
}

/// Norm of the sum of embeddings of words, positions and segments.
void make_embed_layer_norm(Node& node) {
    const Tensor ids = node.tensor(0);
    if (ids.rank() != 2) node.refuse("its input_ids are no matrix");
    Tensor total = wide_of(embedding(node.tensor(2), ids));
    const Tensor positions = node.has(8) ? node.tensor(8) : iota(node.graph(), ids.dim(1));
    total = total + wide_of(embedding(node.tensor(3), positions));
    if (node.has(1) && node.has(4)) total = total + wide_of(embedding(node.tensor(4), node.tensor(1)));
    const DType dtype = total.dtype(), given = node.dtype(2);
    node.set(0, as_dtype(layer_norm(total, as_dtype(node.tensor(5), dtype), as_dtype(node.tensor(6), dtype),
                                    node.real("epsilon", 1e-12f)),
                         given));
    if (node.wants(1))
        node.set(1, node.has(7) ? sum(cast(node.tensor(7) == 1, DType::i32), 1)
                                : broadcast(node.graph().constant(DType::i32, 0), {ids.dim(0)}));
    if (node.wants(2)) node.set(2, as_dtype(total, given));
}

/// LayerNormalization of operator sets that do not have it yet.
void make_early_layer_norm(Node& node) { find_operator({}, "LayerNormalization", 17)->make(node); }

constexpr std::array<Operator, 6> contrib_norm_rows{
    {{"SkipLayerNormalization", 1, make_skip_layer_norm, nullptr, microsoft_domain},
     {"SkipSimplifiedLayerNormalization", 1, make_skip_simplified_layer_norm, nullptr, microsoft_domain},
     {"SimplifiedLayerNormalization", 1, make_simplified_layer_norm, nullptr, microsoft_domain},
     {"EmbedLayerNormalization", 1, make_embed_layer_norm, nullptr, microsoft_domain},
     // onnxruntime adds these to ai.onnx.
     {"SimplifiedLayerNormalization", 1, make_simplified_layer_norm},
     {"LayerNormalization", 1, make_early_layer_norm}}};

}  // namespace

std::span<const Operator> contrib_norm_operators() { return contrib_norm_rows; }

}  // namespace cairn::inline v0::onnx
