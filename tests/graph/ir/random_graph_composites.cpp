#include "cairn/dequantize.hpp"
#include "tests/graph/ir/random_graph_builder.hpp"

#include <algorithm>
#include <cmath>

/// Steps that call composites, or write them out in atomic ops as a user would who does not know them.
namespace cairn::test {

double RandomGraphBuilder::scale_for(double limit) const {
    return options_.dtype == DType::f16 ? std::exp2(std::floor(15 - std::log2(std::max(limit, 1.0)))) : 1;
}

bool RandomGraphBuilder::composite() {
    const BoundedValue x = any_float();
    const Tensor& t = x.tensor;
    const double l = x.limit, e = x.error;
    const bool rows = t.rank() > 0 && provably_le(1, t.dim(-1));
    const double n = rows ? static_cast<double>(t.dim(-1).upper_bound()) : 1;
    const double scale = scale_for(l), steep = 16 + 8 * l;
    const auto norm_error = [&](double limit) {
        return rounds_once() ? steep * e + limit + 4 : steep * (e + 2 * n * l);
    };
    const auto scaled = [&] { return scale == 1 ? t : t * scale; };
    switch (random_.below(11)) {
        case 0: return keep(relu(t), l, e, x.quantum);
        case 1: return keep(sigmoid(t), 1, e + 8);
        case 2: return keep(silu(t), l, (1 + l) * (e + 8));
        case 3: return keep(gelu(t), l, (1 + l) * (e + 8));
        case 4: return l <= 8 && keep(gelu_tanh(t), l, (1 + l) * (4 * e + 4 * l + 8));
        case 5: return rows && keep(softmax(t), 1, 2 * e + 4 * l + 8);
        case 6: return rows && keep(log_softmax(t), 2 * l + std::log(n) + 1, 3 * e + 8 * l + 8);
        case 7: {
            const double own = rounds_once() ? l : 2 * n * l;
            return rows && keep(variance(t, {-1}, random_.one_in(2)), 4 * l * l, 8 * l * (e + own));
        }
        case 8: {
            if (!rows) return false;
            const BoundedValue gamma = leaf({t.dim(-1)}), beta = leaf({t.dim(-1)});
            const double limit = 2 * std::sqrt(n) + 2;
            return keep(layer_norm(scaled(), gamma.tensor, beta.tensor, 0.25 * scale * scale), limit,
                        norm_error(limit));
        }
        case 9: {
            if (!rows) return false;
            const double limit = 2 * std::sqrt(n);
            const Tensor gamma = leaf({t.dim(-1)}).tensor;
            return keep(rms_norm(scaled(), gamma, 0.25 * scale * scale), limit, norm_error(limit));
        }
        default: {
            if (t.rank() < 2) return false;
            const Dim out = any_size();
            const Tensor w = leaf({t.dim(-1), out}).tensor;
            const Tensor b = leaf({out}).tensor;
            const auto k = static_cast<double>(t.dim(-1).upper_bound());
            return keep(linear(t, w, b), 2 * k * l + 2, 2 * k * e + 2 * k * k * l + 4);
        }
    }
}

// A matrix of a quantized file, in one or several uses; as made by random_inputs, its elements are sixteenths.
bool RandomGraphBuilder::use_blocks() {
    const std::vector<std::int64_t> row_counts = {1, 3, 32, 33, 40};
    const std::int64_t rows = random_.pick(row_counts), groups = random_.between(1, 2), depth = 32 * groups;
    const Tensor bytes = graph_.weight(name("q") + ".blocks", DType::u8, {rows, groups, 34});
    const BoundedValue w{dequantize_q8_0(bytes), 0.5, 0, 4};
    bool is_used = false;
    const auto use = [&](const BoundedValue& value) {
        is_used = keep(value.tensor, value.limit, value.error, value.quantum) || is_used;
    };
    if (random_.one_in(4)) use(w);
    if (random_.one_in(3)) {
        const Tensor ids = integer_input({any_size()}, rows);
        use({gather(w.tensor, ids, 0), w.limit, w.error, w.quantum});
    }
    if (is_used && random_.one_in(2)) return true;
    const BoundedValue x = leaf({any_size(), depth});
    const Tensor weight = transpose(w.tensor, {1, 0});
    const double limit = static_cast<double>(depth) * x.limit * w.limit;
    const Tensor product = matmul(x.tensor, weight);
    use({product, limit, limit * static_cast<double>(depth), x.quantum + w.quantum});
    return is_used;
}

bool RandomGraphBuilder::decomposed_composite() {
    const BoundedValue x = any_float();
    const Tensor& t = x.tensor;
    const double l = x.limit, e = x.error;
    const bool rows = t.rank() > 0 && provably_le(1, t.dim(-1));
    const double n = rows ? static_cast<double>(t.dim(-1).upper_bound()) : 1;
    switch (random_.below(5)) {
        case 0: {
            const Tensor inner = erf(t / std::sqrt(2.0)) + 1;
            return keep(0.5 * (t * inner), l, (1 + l) * (e + 8));
        }
        case 1: {
            if (!rows) return false;
            const Tensor shifted = exp(t - max_reduce(t, {-1}, true));
            const Tensor total = sum(shifted, {-1}, true);
            return keep(shifted / total, 1, 2 * e + 4 * l + 8) &&
                   (random_.one_in(2) || keep(total, n, n * (2 * e + 2 * l + 8)));
        }
        case 2: {
            if (!rows || !t.dim(-1).is_constant()) return false;
            const Tensor d = t - sum(t, {-1}, true) / n;
            const Tensor spread = sum(d * d, {-1}, true) / n;
            const Tensor scaled = d * rsqrt(spread + 0.25);
            const BoundedValue gamma = leaf({t.dim(-1)}), beta = leaf({t.dim(-1)});
            const Tensor stretched = scaled * gamma.tensor;
            return keep(stretched + beta.tensor, 2 * std::sqrt(n) + 2, (16 + 8 * l) * (e + 2 * n * l));
        }
        case 3: return keep(t * (1 / (exp(-t) + 1)), l, (1 + l) * (e + 8));
        default: return keep(where(t > 0, t, 0), l, e, x.quantum);
    }
}

// Its name keeps infinities out: whether an infinite or NaN score shows behind a mask is unspecified.
Tensor RandomGraphBuilder::added_mask(const Shape& shape) {
    return graph_.input(name("x") + ".below8", options_.dtype, shape);
}

bool RandomGraphBuilder::attend() {
    const Dim batch = any_size(), queries = any_size(), keys = random_.one_in(2) ? queries : any_size();
    const std::int64_t heads = random_.between(1, 2), group = random_.between(1, 2), size = 2 * random_.between(1, 2);
    if (!provably_le(1, keys)) return false;
    const BoundedValue q = leaf({batch, heads * group, queries, size});
    const BoundedValue k = leaf({batch, heads, keys, size}), v = leaf({batch, heads, keys, size});
    AttentionOptions options;
    options.causal = random_.one_in(2);
    if (random_.one_in(2)) options.scale = 0.25;
    if (random_.one_in(4)) options.softcap = 1.5;
    if (random_.one_in(4)) options.masked_score = -0.5;
    const int masked = random_.below(4);
    if (masked == 0) return keep(attention(q.tensor, k.tensor, v.tensor, options), 2, 400);
    const Dim planes = random_.one_in(2) ? batch : Dim(1), layers = random_.one_in(2) ? heads * group : 1;
    const Tensor mask = masked == 1   ? boolean_input({batch, keys})
                        : masked == 2 ? boolean_input({planes, layers, queries, keys})
                                      : added_mask({planes, layers, queries, keys});
    return keep(attention(q.tensor, k.tensor, v.tensor, mask, options), 2, 400);
}

bool RandomGraphBuilder::rotary() {
    Shape shape = any_shape(1, 3);
    const Dim count = shape.back();
    shape.push_back(2 * random_.between(1, 2));
    if (random_.one_in(3)) {
        const Dim words = random_.between(1, 5);
        const BoundedValue table = leaf({words, shape.back()});
        return keep(embedding(table.tensor, integer_input({count}, words.constant())), 2, 0, 3);
    }
    const BoundedValue x = leaf(shape);
    return keep(rope(x.tensor, integer_input({count}, 8), 100), 4, 64);
}

}  // namespace cairn::test
