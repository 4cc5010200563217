#include "tests/fusion/hand_written_expressions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <utility>

namespace cairn::test::hand_expressions {
namespace {

using T = const Tensor&;

Tensor X(Graph& g, const Shape& shape = {2, 5, 64}) { return g.input("x", DType::f32, shape); }
Tensor mean_of(T x) { return sum(x, {-1}, true) / static_cast<double>(x.dim(-1).constant()); }

TEST(HandWrittenExpressions, Softmax) {
    expect_match("softmax", "exp(x)/sum(exp(x)) (no max)", [](Graph& g) {
        const Tensor x = X(g);
        auto e = exp(x);
        return e / sum(e, {-1}, true);
    });
    expect_match("softmax", "exp(log_softmax(x))", [](Graph& g) {
        const Tensor x = X(g);
        return exp(log_softmax(x));
    });
    expect_match("softmax", "exp(x - logsumexp)", [](Graph& g) {
        const Tensor x = X(g);
        auto m = max_reduce(x, {-1}, true);
        return exp(x - (m + log(sum(exp(x - m), {-1}, true))));
    });
    expect_match("softmax", "softmax axis 1 of [2,5,64]", [](Graph& g) {
        const Tensor x = X(g);
        return softmax(x, 1);
    });
    expect_match("softmax", "temperature: softmax(x/0.7)", [](Graph& g) {
        const Tensor x = X(g);
        return softmax(x / 0.7);
    });
    expect_match("softmax", "f16 with f32 inside", [](Graph& g) {
        auto x = g.input("x", DType::f16, {5, 64});
        return cast(softmax(cast(x, DType::f32)), DType::f16);
    });
    expect_match("log_softmax", "log(softmax(x))", [](Graph& g) {
        const Tensor x = X(g);
        return log(softmax(x));
    });
    expect_match("log_softmax", "x - logsumexp(x)", [](Graph& g) {
        const Tensor x = X(g);
        auto m = max_reduce(x, {-1}, true);
        return x - (m + log(sum(exp(x - m), {-1}, true)));
    });
}

TEST(HandWrittenExpressions, Normalizations) {
    auto wb = [](Graph& g) { return std::pair(g.weight("w", DType::f32, {64}), g.weight("b", DType::f32, {64})); };
    expect_refused("layer_norm", "E[x^2]-E[x]^2", "is not computed here", [&](Graph& g) {
        const Tensor x = X(g);
        auto [w, b] = wb(g);
        auto m = mean_of(x);
        auto v = mean_of(x * x) - m * m;
        return (x - m) * rsqrt(v + 1e-5) * w + b;
    });
    expect_match("layer_norm", "rsqrt", [&](Graph& g) {
        const Tensor x = X(g);
        auto [w, b] = wb(g);
        auto m = mean_of(x);
        auto d = x - m;
        return d * rsqrt(mean_of(d * d) + 1e-5) * w + b;
    });
    expect_match("layer_norm", "pow(d,2), pow(v+eps,-0.5)", [&](Graph& g) {
        const Tensor x = X(g);
        auto [w, b] = wb(g);
        auto m = mean_of(x);
        auto d = x - m;
        return d * pow(mean_of(pow(d, 2)) + 1e-5, -0.5) * w + b;
    });
    expect_match("layer_norm", "pow(v+eps,0.5) division", [&](Graph& g) {
        const Tensor x = X(g);
        auto [w, b] = wb(g);
        auto m = mean_of(x);
        auto d = x - m;
        return d / pow(mean_of(pow(d, 2)) + 1e-5, 0.5) * w + b;
    });
    expect_match("layer_norm", "no affine", [&](Graph& g) {
        const Tensor x = X(g);
        auto m = mean_of(x);
        auto d = x - m;
        return d / sqrt(mean_of(d * d) + 1e-5);
    });
    expect_match("layer_norm", "gamma only", [&](Graph& g) {
        const Tensor x = X(g);
        auto [w, b] = wb(g);
        auto m = mean_of(x);
        auto d = x - m;
        return d / sqrt(mean_of(d * d) + 1e-5) * w;
    });
    expect_match("layer_norm", "w*(d*r)+b order", [&](Graph& g) {
        const Tensor x = X(g);
        auto [w, b] = wb(g);
        auto m = mean_of(x);
        auto d = x - m;
        return b + w * (d * rsqrt(mean_of(d * d) + 1e-5));
    });
    expect_match("layer_norm", "x*(r*w) + (b - m*r*w)", [&](Graph& g) {
        const Tensor x = X(g);
        auto [w, b] = wb(g);
        auto m = mean_of(x);
        auto d = x - m;
        auto r = rsqrt(mean_of(d * d) + 1e-5);
        auto s = r * w;
        return x * s + (b - m * s);
    });
    expect_match("layer_norm", "via variance()", [&](Graph& g) {
        const Tensor x = X(g);
        auto [w, b] = wb(g);
        return (x - mean(x, {-1}, true)) / sqrt(variance(x, {-1}, true) + 1e-5) * w + b;
    });
    expect_match("layer_norm", "D=symbolic-free [N,64]", [&](Graph& g) {
        auto n = g.symbol("N", 1, 100);
        auto x = X(g, {n, 64});
        auto [w, b] = wb(g);
        return layer_norm(x, w, b);
    });
    expect_match("layer_norm", "bf16 in, f32 inside, bf16 out", [&](Graph& g) {
        auto x = g.input("x", DType::bf16, {5, 64});
        auto [w, b] = wb(g);
        return cast(layer_norm(cast(x, DType::f32), w, b), DType::bf16);
    });
    expect_match("layer_norm", "axis 1 channels-first (ConvNeXt)", [&](Graph& g) {
        auto x = X(g, {2, 64, 7});
        auto [w, b] = wb(g);
        auto m = sum(x, {1}, true) / 64;
        auto d = x - m;
        return d * rsqrt(sum(d * d, {1}, true) / 64 + 1e-6) * reshape(w, {64, 1}) + reshape(b, {64, 1});
    });
    expect_match("rms_norm", "x*rsqrt(mean(x^2)+eps)*w", [&](Graph& g) {
        const Tensor x = X(g);
        auto [w, b] = wb(g);
        return x * rsqrt(mean_of(x * x) + 1e-6) * w;
    });
    expect_match("rms_norm", "x*pow(ms+eps,-0.5)*w", [&](Graph& g) {
        const Tensor x = X(g);
        auto [w, b] = wb(g);
        return w * (x * pow(mean_of(pow(x, 2)) + 1e-6, -0.5));
    });
    expect_match("rms_norm", "gemma (1+w)", [&](Graph& g) {
        const Tensor x = X(g);
        auto [w, b] = wb(g);
        return x * rsqrt(mean_of(x * x) + 1e-6) * (1 + w);
    });
    expect_match("rms_norm", "no weight (QK-norm)", [&](Graph& g) {
        const Tensor x = X(g);
        return x * rsqrt(mean_of(x * x) + 1e-6);
    });
    expect_match("rms_norm", "llama bf16: f32 inside, cast, * w", [&](Graph& g) {
        auto x = g.input("x", DType::bf16, {5, 64});
        auto w = g.weight("w", DType::bf16, {64});
        auto h = cast(x, DType::f32);
        return w * cast(h * rsqrt(mean_of(h * h) + 1e-6), DType::bf16);
    });
    expect_match("rms_norm", "t5: x*x sum / D", [&](Graph& g) {
        const Tensor x = X(g);
        auto [w, b] = wb(g);
        return w * (x / sqrt(sum(x * x, {-1}, true) * (1.0 / 64) + 1e-6));
    });
    expect_match("rms_norm", "l2 norm sqrt(D)*x/|x|", [&](Graph& g) {
        const Tensor x = X(g);
        auto [w, b] = wb(g);
        return x / sqrt(sum(x * x, {-1}, true)) * 8.0 * w;
    });
}

TEST(HandWrittenExpressions, Activations) {
    double c = std::sqrt(2 / std::numbers::pi);
    expect_match("gelu", "0.5*x*(1+erf(x/sqrt2))", [](Graph& g) {
        const Tensor x = X(g);
        return 0.5 * x * (1 + erf(x / std::sqrt(2.0)));
    });
    expect_match("gelu", "x*0.5*(1+erf(x*0.70710678))", [](Graph& g) {
        const Tensor x = X(g);
        return x * 0.5 * (1 + erf(x * 0.70710678));
    });
    expect_match("gelu", "x*Phi: 0.5*(1+erf)", [](Graph& g) {
        const Tensor x = X(g);
        return x * (0.5 * (erf(x * std::sqrt(0.5)) + 1));
    });
    expect_match("gelu", "0.5x + 0.5x erf", [](Graph& g) {
        const Tensor x = X(g);
        return 0.5 * x + 0.5 * x * erf(x * std::sqrt(0.5));
    });
    expect_match("gelu", "x - x*0.5*(1-erf)", [](Graph& g) {
        const Tensor x = X(g);
        return x - x * 0.5 * (1 - erf(x * std::sqrt(0.5)));
    });
    expect_match("gelu_tanh", "x*x*x", [c](Graph& g) {
        const Tensor x = X(g);
        return 0.5 * x * (1 + tanh(c * (x + 0.044715 * x * x * x)));
    });
    expect_match("gelu_tanh", "pow(x,3)", [c](Graph& g) {
        const Tensor x = X(g);
        return 0.5 * x * (1 + tanh(c * (x + 0.044715 * pow(x, 3))));
    });
    expect_match("gelu_tanh", "0.79788456 * x * (1+0.044715 x x)", [](Graph& g) {
        const Tensor x = X(g);
        return 0.5 * x * (1 + tanh(0.7978845608 * x * (1 + 0.044715 * x * x)));
    });
    expect_match("gelu_tanh", "0.79788456, 0.0356774081", [](Graph& g) {
        const Tensor x = X(g);
        return 0.5 * x * (1 + tanh(0.7978845608 * x + 0.0356774081 * x * x * x));
    });
    expect_match("gelu_tanh", "x*sigmoid(1.59577*(x+..))", [c](Graph& g) {
        const Tensor x = X(g);
        return x * sigmoid(2 * c * (x + 0.044715 * x * x * x));
    });
    expect_refused("gelu", "quick gelu x*sigmoid(1.702x)", "gelu computes erf", [](Graph& g) {
        const Tensor x = X(g);
        return x * sigmoid(1.702 * x);
    });
    expect_match("silu", "x*sigmoid(x)", [](Graph& g) {
        const Tensor x = X(g);
        return x * sigmoid(x);
    });
    expect_match("silu", "x/(1+exp(-x))", [](Graph& g) {
        const Tensor x = X(g);
        return x / (1 + exp(-x));
    });
    expect_match("silu", "x*0.5*(1+tanh(x/2))", [](Graph& g) {
        const Tensor x = X(g);
        return x * 0.5 * (1 + tanh(0.5 * x));
    });
    expect_match("sigmoid", "0.5*(1+tanh(x/2))", [](Graph& g) {
        const Tensor x = X(g);
        return 0.5 * (1 + tanh(0.5 * x));
    });
    expect_match("sigmoid", "exp(x)/(1+exp(x))", [](Graph& g) {
        const Tensor x = X(g);
        return exp(x) / (1 + exp(x));
    });
    expect_match("silu", "swiglu silu(a)*b", [](Graph& g) {
        const Tensor x = X(g);
        return silu(slice(x, -1, 0, 32)) * slice(x, -1, 32, 64);
    });
    expect_refused("relu", "where(x>0,x,0)", "relu computes max", [](Graph& g) {
        const Tensor x = X(g);
        return where(x > 0, x, 0);
    });
    expect_refused("relu", "x*(x>0)", "relu computes max", [](Graph& g) {
        const Tensor x = X(g);
        return x * cast(x > 0, DType::f32);
    });
    expect_refused("relu", "0.5*(x+|x|)", "relu computes max", [](Graph& g) {
        const Tensor x = X(g);
        return 0.5 * (x + abs(x));
    });
}

TEST(HandWrittenExpressions, Products) {
    auto W = [](Graph& g) { return g.weight("W", DType::f32, {64, 32}); };
    auto B = [](Graph& g) { return g.weight("B", DType::f32, {32}); };
    expect_match("fused matmul add", "matmul+b", [&](Graph& g) { return matmul(X(g), W(g)) + B(g); });
    expect_match("fused matmul add", "matmul(x,W^T) + b", [&](Graph& g) {
        return matmul(X(g), transpose(g.weight("W", DType::f32, {32, 64}), {1, 0})) + B(g);
    });
    expect_match("fused matmul add", "flattened [10,64] then reshape", [&](Graph& g) {
        return reshape(matmul(reshape(X(g), {10, 64}), W(g)), {2, 5, 32}) + B(g);
    });
    expect_match("fused matmul add", "einsum by (W^T x^T)^T + b", [&](Graph& g) {
        auto x = g.input("x", DType::f32, {10, 64});
        return transpose(matmul(transpose(W(g), {1, 0}), transpose(x, {1, 0})), {1, 0}) + B(g);
    });
    expect_refused("linear", "sum(x[:,:,None]*W) + b", "linear computes matmul", [&](Graph& g) {
        auto x = g.input("x", DType::f32, {10, 64});
        return sum(unsqueeze(x, -1) * W(g), {1}) + B(g);
    });
    expect_match("fused matmul add relu", "linear relu", [&](Graph& g) { return relu(matmul(X(g), W(g)) + B(g)); });
    expect_match("fused matmul add gelu", "linear gelu", [&](Graph& g) { return gelu(matmul(X(g), W(g)) + B(g)); });
    expect_match("fused matmul add add", "x + linear", [&](Graph& g) {
        auto r = g.input("r", DType::f32, {2, 5, 32});
        return r + (matmul(X(g), W(g)) + B(g));
    });
    expect_match("fused matmul add add", "(r + matmul) + b", [&](Graph& g) {
        auto r = g.input("r", DType::f32, {2, 5, 32});
        return (r + matmul(X(g), W(g))) + B(g);
    });
    const auto normal = [](Graph& g, T x) { return rms_norm(x, g.weight("gamma", DType::f32, {64})); };
    expect_match("fused matmul add", "behind rms_norm", [&](Graph& g) { return matmul(normal(g, X(g)), W(g)) + B(g); });
    expect_match("fused matmul add", "llama: behind swiglu behind rms_norm", [&](Graph& g) {
        const Tensor x = X(g), h = normal(g, x), up = matmul(h, g.weight("up", DType::f32, {64, 32})),
                     gate = matmul(h, g.weight("gate", DType::f32, {64, 32}));
        return x + matmul(silu(gate) * up, g.weight("down", DType::f32, {32, 64}));
    });
    expect_match("fused matmul add", "no bias: r + x@W (llama)", [&](Graph& g) {
        auto r = g.input("r", DType::f32, {2, 5, 32});
        return r + matmul(X(g), W(g));
    });
    expect_match("linear_swiglu", "silu(x@W1)*(x@W3)", [&](Graph& g) {
        const Tensor x = X(g);
        return silu(matmul(x, W(g))) * matmul(x, g.weight("V", DType::f32, {64, 32}));
    });
    expect_match("mean", "sum*(1/n)", [](Graph& g) { return sum(X(g), {-1}, true) * (1.0 / 64); });
    expect_match("mean", "no keepdims", [](Graph& g) { return mean(X(g), {-1}); });
    expect_match("mean", "over axes {1,2}", [](Graph& g) { return mean(X(g), {1, 2}, true); });
    expect_match("embedding", "gather", [](Graph& g) {
        auto t = g.weight("t", DType::f32, {100, 64});
        return gather(t, g.input("i.below100", DType::i32, {2, 5}));
    });
    expect_refused("embedding", "one-hot matmul", "embedding computes gather", [](Graph& g) {
        auto t = g.weight("t", DType::f32, {100, 64});
        auto i = g.input("i.below100", DType::i32, {5});
        return matmul(cast(unsqueeze(i, -1) == iota(g, 100), DType::f32), t);
    });
}

}  // namespace
}  // namespace cairn::test::hand_expressions
