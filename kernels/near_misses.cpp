#include "kernels/near_misses.hpp"

#include "cairn/composites.hpp"

namespace cairn::kernels {
namespace {

using Operands = std::span<const Tensor>;
using Tensors = std::vector<Tensor>;
using T = const Tensor&;

template <Tensor (*function)(T x)>
Tensors of_one(Operands operands, const Attributes&) {
    return {function(operands[0])};
}

// `normal` times gamma plus beta, each of them optional.
template <Tensor (*normal)(T x, double eps, int axis)>
Tensors norm(Operands operands, const Attributes& attributes) {
    const int axis = attributes.has("axis") ? static_cast<int>(attributes.integer("axis")) : -1;
    const auto broadcast_over_axes = [&](T factor) {
        Shape shape(static_cast<std::size_t>(-axis), Dim(1));
        shape[0] = factor.dim(0);
        return reshape(factor, shape);
    };
    Tensor y = normal(operands[0], attributes.number("eps"), axis);
    if (operands.size() > 1) y = y * broadcast_over_axes(operands[1]);
    if (operands.size() > 2) y = y + broadcast_over_axes(operands[2]);
    return {y};
}

Tensor by_mean_of_squares(T x, double eps, int axis) {
    const Tensor m = mean(x, {axis}, true);
    return (x - m) * rsqrt(mean(x * x, {axis}, true) - m * m + eps);
}

Tensor by_sample_variance(T x, double eps, int axis) {
    const Tensor d = x - mean(x, {axis}, true);
    return d * rsqrt(sum(d * d, {axis}, true) / (x.dim(axis) - 1) + eps);
}

Tensor with_eps_outside(T x, double eps, int axis) {
    const Tensor d = x - mean(x, {axis}, true);
    return d / (sqrt(mean(d * d, {axis}, true)) + eps);
}

Tensor rms_with_eps_outside(T x, double eps, int axis) { return x / (sqrt(mean(x * x, {axis}, true)) + eps); }

Tensor chosen_relu(T x) { return where(x > 0.0, x, 0.0); }
Tensor multiplied_relu(T x) { return x * cast(x > 0.0, x.dtype()); }
Tensor half_relu(T x) { return 0.5 * (x + abs(x)); }
Tensor quick_gelu(T x) { return x * sigmoid(1.702 * x); }

// Attention with an extra step between the scores and the weights, or after the weights.
template <Tensor (*weights)(T scores, Operands more, const Attributes&)>
Tensors attend(Operands operands, const Attributes& attributes) {
    const Tensor scores = matmul(operands[0], swap_axes(operands[1], -1, -2)) * attributes.number("scale");
    return {matmul(weights(scores, operands.subspan(3), attributes), operands[2])};
}

Tensor masked_by_product(T scores, Operands more, const Attributes& attributes) {
    return softmax(scores * more[0] + attributes.number("masked_score") * (1.0 - more[0]));
}

Tensor masked_afterwards(T scores, Operands more, const Attributes&) {
    const Tensor weights = softmax(scores) * more[0];
    return weights / sum(weights, {-1}, true);
}

// Weights by an f32 softmax of narrower scores. The mask is applied before the cast to f32 or, with within=(1), after
// it.
Tensor masked_around_cast(T scores, Operands more, const Attributes& attributes) {
    const bool is_within = attributes.has("within");
    const Tensor widened = is_within ? cast(scores, DType::f32) : scores;
    const Tensor masked = more[0].dtype() != DType::boolean ? widened + more[0]
                          : attributes.has("hides")         ? where(more[0], attributes.number("masked_score"), widened)
                                                    : where(more[0], widened, attributes.number("masked_score"));
    return cast(softmax(is_within ? masked : cast(masked, DType::f32)), scores.dtype());
}

Tensors one_hot_product(Operands operands, const Attributes&) {
    const Tensor &table = operands[0], &ids = operands[1];
    const Tensor hot = unsqueeze(ids, -1) == iota(Graph(table.graph()), table.dim(0), ids.dtype());
    return {matmul(cast(hot, table.dtype()), table)};
}

Tensors sum_of_products(Operands operands, const Attributes&) {
    return {sum(unsqueeze(operands[0], -1) * operands[1], {-2}) + operands[2]};
}

const char* const eps_outside = "eps is added to the square root, not under it: a different function";

void add_norms(std::vector<NearMiss>& list) {
    list.push_back(
        {{"layer_norm", norm<by_mean_of_squares>, {"layer_norm axis=?(-1) eps=? | f32[R?,D] f32[D]? f32[D]?"}},
         "the variance is taken as E[x^2] - E[x]^2, which loses its digits where the mean is large; "
         "layer_norm takes the mean of (x - E[x])^2"});
    list.push_back(
        {{"layer_norm", norm<by_sample_variance>, {"layer_norm axis=?(-1) eps=? | f32[R?,D] f32[D]? f32[D]?"}},
         "the sum of squares is divided by D - 1, layer_norm divides it by D"});
    list.push_back({{"layer_norm", norm<with_eps_outside>, {"layer_norm axis=?(-1) eps=? | f32[R?,D] f32[D]? f32[D]?"}},
                    eps_outside});
    list.push_back(
        {{"rms_norm", norm<rms_with_eps_outside>, {"rms_norm axis=?(-1) eps=? | f32[R?,D] f32[D]?"}}, eps_outside});
}

void add_activations(std::vector<NearMiss>& list) {
    list.push_back({{"relu", of_one<chosen_relu>, {"relu | f32[R]"}},
                    "where(x > 0, x, 0) makes 0 of NaN, relu keeps it: write relu(x) or max(x, 0)"});
    list.push_back({{"relu", of_one<multiplied_relu>, {"relu | f32[R]"}},
                    "x * (x > 0) makes NaN of -inf, relu makes 0: write relu(x) or max(x, 0)"});
    list.push_back({{"relu", of_one<half_relu>, {"relu | f32[R]"}},
                    "x + |x| makes NaN of -inf and inf of large x, relu does not: write relu(x) or max(x, 0)"});
    for (const char* name : {"gelu", "gelu_tanh"})
        list.push_back({{name, of_one<quick_gelu>, {std::string(name) + " | f32[R]"}},
                        "x * sigmoid(1.702 x) is an approximation of its own, 0.02 away from gelu"});
}

void add_products(std::vector<NearMiss>& list) {
    list.push_back({{"linear", sum_of_products, {"linear | f32[R,K] f32[K,N] f32[N]"}},
                    "the product is written as a sum of elementwise products: write matmul(x, w) + b"});
    list.push_back({{"embedding", one_hot_product, {"embedding | f32[V,D] i32[T]", "embedding | f32[V,D] i64[T]"}},
                    "a product with rows of 0 and 1 takes NaN and inf from rows that are not chosen, embedding does "
                    "not: write embedding(table, ids)"});
}

std::vector<std::string> patterns_around_cast() {
    std::vector<std::string> patterns;
    for (const std::string dtype : {"bf16", "f16"})
        for (const std::string within : {"", " within=(1)"})
            for (const std::string mask : {"[1,S]", "[T,S]"}) {
                const auto add = [&](const std::string& attributes, const std::string& mask_dtype) {
                    patterns.push_back("attention" + within + attributes + " scale=? | " + dtype + "[T,D] " + dtype +
                                       "[S,D] " + dtype + "[S,E] " + mask_dtype + mask);
                };
                add("", within.empty() ? dtype : "f32");
                add(" masked_score=?", "bool");
                add(" hides=(1) masked_score=?", "bool");
            }
    return patterns;
}

void add_attention(std::vector<NearMiss>& list) {
    // The constants of published models: e^-10000 is 0, which does not hold for a free attribute.
    std::vector<std::string> by_product;
    for (const char* number : {"-10000", "-1e+09", "-1e+10"})
        by_product.push_back("attention scale=? masked_score=" + std::string(number) +
                             " | f32[T,D] f32[S,D] f32[S,E] f32[T,S]");
    list.push_back({{"attention", attend<masked_by_product>, by_product},
                    "scores are hidden by a product with the mask, which makes NaN of a hidden score that is not "
                    "finite: write where(mask, scores, masked_score)"});
    list.push_back(
        {{"attention",
          attend<masked_afterwards>,
          {"attention scale=? | f32[T,D] f32[S,D] f32[S,E] f32[1,S]",
           "attention scale=? | f32[T,D] f32[S,D] f32[S,E] f32[T,S]"}},
         "weights are masked after the softmax, which gives NaN if all visible weights are 0: mask the scores"});
    list.push_back({{"attention", attend<masked_around_cast>, patterns_around_cast()},
                    "scores are masked around an f32 softmax between products of a narrower dtype, which no kernel "
                    "takes: cast q, k and v to f32"});
}

}  // namespace

std::vector<NearMiss> near_misses() {
    std::vector<NearMiss> list;
    add_norms(list);
    add_activations(list);
    add_products(list);
    add_attention(list);
    return list;
}

}  // namespace cairn::kernels
