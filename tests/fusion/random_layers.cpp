#include "random_layers.hpp"

#include "cairn/composites.hpp"
#include "cairn/ops.hpp"

#include <map>
#include <random>
#include <string>

namespace cairn::test {
namespace {

class RandomLayers {
public:
    explicit RandomLayers(std::uint64_t seed) : seed_(seed), whole_(seed) {}

    Graph make(int layers) {
        const Dim rows = whole_() % 2 ? Dim(3) : graph_.symbol("N", 1, 5);
        Tensor x = graph_.input("x", DType::f32, {rows, width});
        first_ = x;
        mask_ = graph_.input("mask", DType::boolean, {1, rows});
        is_strange_ = whole_() % 4 != 0;
        for (int layer = 0; layer < layers; ++layer) {
            make_.seed(strange(6) ? seed_ + 1 : seed_);
            x = next(x);
            if (strange(6)) graph_.output("y" + std::to_string(layer), x);
        }
        graph_.output("y", whole_() % 2 ? x : slice(x, 0, 0, 1));
        return graph_;
    }

private:
    static constexpr int width = 8;

    // `any` decides what all layers have in common, `strange` what only some have.
    int any(int below) { return static_cast<int>(make_() % static_cast<unsigned>(below)); }
    bool strange(int one_in) { return is_strange_ && whole_() % static_cast<unsigned>(one_in) == 0; }

    Tensor weight(const Shape& shape) {
        const std::string text = to_string(DType::f32, shape);
        if (strange(12) && weights_.contains(text)) return weights_.at(text);
        return weights_[text] = graph_.weight("w" + std::to_string(count_++), DType::f32, shape);
    }
    double number(double usual) { return strange(12) ? usual * 2 : usual; }
    Tensor linear(const Tensor& x, int rows, int columns) {
        const Tensor y = matmul(x, any(2) ? weight({rows, columns}) : transpose(weight({columns, rows}), {1, 0}));
        return finished(any(3) ? y + weight({columns}) : y);
    }
    // Elementwise ops that may follow a product.
    Tensor finished(const Tensor& y) {
        switch (any(12)) {
            case 0: return y * number(0.25) + weight({y.dim(-1)});
            case 1: return min(max(y, -1.5), 1.5);
            case 2: return where(weight({y.dim(-1)}) > 0.0, tanh(y), y * y);
            case 3: return cast(cast(sigmoid(y), DType::bf16), DType::f32) * weight({y.dim(-1)});
            default: return y;
        }
    }
    Tensor normed(const Tensor& x) {
        switch (any(5)) {
            case 0: return layer_norm(x, weight({width}), weight({width}), number(1e-5));
            case 1: return rms_norm(x, weight({width}), number(1e-6));
            case 2: {
                const Tensor d = x - mean(x, {-1}, true);
                return d / sqrt(mean(d * d, {-1}, true) + number(1e-5)) * weight({width});
            }
            case 3: return tanh(x) * number(0.5);
            default: return x;
        }
    }
    Tensor activated(const Tensor& x) {
        switch (any(6)) {
            case 0: return gelu(x);
            case 1: return gelu_tanh(x);
            case 2: return number(0.5) * x * (1.0 + tanh(0.79788456 * (x + number(0.044715) * x * x * x)));
            case 3: return silu(x);
            case 4: return relu(x);
            default: return x;
        }
    }
    Tensor attended(const Tensor& x) {
        const Tensor merged = linear(x, width, 3 * width);
        const auto part = [&](int i) { return slice(merged, 1, i * width, (i + 1) * width); };
        Tensor scores = matmul(part(0), transpose(part(1), {1, 0})) * number(0.25);
        if (any(2)) scores = where(mask_, scores, -1e9);
        return matmul(softmax(scores, -1), part(2));
    }
    Tensor fed(const Tensor& x) {
        const Tensor inner = activated(linear(x, width, 2 * width));
        const Tensor gated = any(2) ? inner * linear(x, width, 2 * width) : inner;
        return linear(gated, 2 * width, width);
    }
    Tensor next(Tensor x) {
        for (int part = any(2); part < 2; ++part) {
            const Tensor before = normed(x);
            Tensor y = any(2) ? attended(before) : fed(before);
            if (strange(12)) y = y * 2;
            if (strange(12)) y = y + first_;
            x = any(4) ? x + y : y;
            if (!any(3)) x = normed(x);
        }
        return x;
    }

    std::uint64_t seed_;
    std::mt19937_64 whole_, make_;
    bool is_strange_ = false;
    Graph graph_{"layers"};
    Tensor first_, mask_;
    std::map<std::string, Tensor> weights_;  // the last of each shape
    int count_ = 0;
};

}  // namespace

Graph random_layers(std::uint64_t seed, int layers) { return RandomLayers(seed).make(layers); }

}  // namespace cairn::test
