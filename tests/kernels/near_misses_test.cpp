#include "kernels/near_misses.hpp"

#include "cairn/cairn.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

using Build = Tensor (*)(Graph& g);

Tensor x(Graph& g) { return g.input("x", DType::f32, {2, 5, 64}); }
Tensor scores(Graph& g) {
    return matmul(g.input("q", DType::f32, {2, 8, 7, 64}), swap_axes(g.input("k", DType::f32, {2, 8, 7, 64}), -1, -2)) *
           0.125;
}
Tensor v(Graph& g) { return g.input("v", DType::f32, {2, 8, 7, 64}); }

void expect_reason(const char* definition, const char* reason, Build build) {
    Graph g("g");
    const std::string why = why_not(build(g), definition, Context());
    EXPECT_NE(why.find(reason), why.npos) << definition << ": " << why;
}

TEST(NearMisses, OfNorms) {
    expect_reason("layer_norm", "loses its digits", [](Graph& g) {
        const Tensor of = x(g), m = mean(of, {-1}, true);
        return (of - m) * rsqrt(mean(of * of, {-1}, true) - m * m + 1e-5) * g.weight("w", DType::f32, {64}) +
               g.weight("b", DType::f32, {64});
    });
    expect_reason("layer_norm", "loses its digits", [](Graph& g) {
        const Tensor of = x(g), m = mean(of, {0}, true);
        return (of - m) / sqrt(mean(pow(of, 2), {0}, true) - pow(m, 2) + 1e-5);
    });
    expect_reason("layer_norm", "divided by D - 1", [](Graph& g) {
        const Tensor of = x(g), d = of - mean(of, {-1}, true);
        return d / sqrt(sum(d * d, {-1}, true) / 63 + 1e-5);
    });
    expect_reason("layer_norm", "eps is added to the square root", [](Graph& g) {
        const Tensor of = x(g), d = of - mean(of, {-1}, true);
        return d / (sqrt(mean(d * d, {-1}, true)) + 1e-5) * g.weight("w", DType::f32, {64});
    });
    expect_reason("rms_norm", "eps is added to the square root", [](Graph& g) {
        const Tensor of = x(g);
        return of / (sqrt(mean(of * of, {-1}, true)) + 1e-5);
    });
}

TEST(NearMisses, OfActivations) {
    expect_reason("relu", "makes 0 of NaN", [](Graph& g) {
        const Tensor of = x(g);
        return where(of > 0, of, 0);
    });
    expect_reason("relu", "makes NaN of -inf", [](Graph& g) {
        const Tensor of = x(g);
        return of * cast(of > 0, DType::f32);
    });
    expect_reason("relu", "inf of large x", [](Graph& g) {
        const Tensor of = x(g);
        return (of + abs(of)) / 2;
    });
    expect_reason("gelu", "an approximation of its own", [](Graph& g) {
        const Tensor of = x(g);
        return of / (1 + exp(-1.702 * of));
    });
}

TEST(NearMisses, OfProducts) {
    expect_reason("linear", "write matmul", [](Graph& g) {
        const Tensor of = g.input("x", DType::f32, {10, 64});
        return sum(unsqueeze(of, -1) * g.weight("w", DType::f32, {64, 32}), {1}) + g.weight("b", DType::f32, {32});
    });
    expect_reason("embedding", "write embedding", [](Graph& g) {
        const Tensor ids = g.input("ids", DType::i32, {5});
        return matmul(cast(unsqueeze(ids, -1) == iota(g, 100), DType::f32), g.weight("t", DType::f32, {100, 64}));
    });
}

TEST(NearMisses, OfAttention) {
    expect_reason("attention", "by a product with the mask", [](Graph& g) {
        const Tensor mask = cast(unsqueeze(iota(g, 7), -1) >= iota(g, 7), DType::f32);
        return matmul(softmax(scores(g) * mask - 1e10 * (1 - mask)), v(g));
    });
    expect_reason("attention", "by a product with the mask", [](Graph& g) {
        const Tensor mask = g.input("m", DType::f32, {7, 7});
        return matmul(softmax(scores(g) * mask + (1 - mask) * -10000), v(g));
    });
    expect_reason("attention", "after the softmax", [](Graph& g) {
        const Tensor p = softmax(scores(g)) * g.input("m", DType::f32, {2, 1, 1, 7});
        return matmul(p / sum(p, {-1}, true), v(g));
    });
}

// As programs in half precision write it. Causal scores cast after the mask have a definition.
TEST(NearMisses, OfAttentionMaskedAroundAWideSoftmax) {
    for (const DType dtype : {DType::bf16, DType::f16})
        for (const bool is_within : {false, true})
            for (int mask = is_within ? 0 : 1; mask < 5; ++mask) {
                Graph g("g");
                const auto heads = [&](const char* name) { return g.input(name, dtype, {2, 8, 7, 64}); };
                Tensor s = matmul(heads("q"), swap_axes(heads("k"), -1, -2)) * 0.125;
                if (is_within) s = cast(s, DType::f32);
                const Tensor causal = unsqueeze(iota(g, 7), -1) >= iota(g, 7);
                switch (mask) {
                    case 0: s = where(causal, s, -10000.0); break;
                    case 1: s = where(g.input("m", DType::boolean, {2, 1, 1, 7}), s, -10000.0); break;
                    case 2: s = where(g.input("m", DType::boolean, {2, 1, 7, 7}), -10000.0, s); break;
                    case 3: s = s + g.input("m", s.dtype(), {2, 1, 1, 7}); break;
                    default: s = s + g.input("m", s.dtype(), {2, 1, 7, 7}); break;
                }
                const Tensor y = matmul(cast(softmax(cast(s, DType::f32)), dtype), heads("v"));
                const std::string why = why_not(y, "attention", Context());
                EXPECT_NE(why.find("masked around an f32 softmax"), why.npos)
                    << to_string(dtype) << " " << is_within << " mask " << mask << ": " << why;
            }
}

TEST(NearMisses, AreNotReportedForMatchesOrOtherValues) {
    Graph g("g");
    EXPECT_EQ(why_not(layer_norm(x(g)), "layer_norm", Context()), "");
    const Tensor other = sin(g.input("z", DType::f32, {4}));
    for (const kernels::NearMiss& miss : kernels::near_misses()) {
        const std::string why = why_not(other, miss.definition.name, Context());
        EXPECT_EQ(why.find(miss.reason), why.npos) << why;
    }
}

}  // namespace
}  // namespace cairn::test
