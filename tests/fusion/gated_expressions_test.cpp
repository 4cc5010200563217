#include "tests/fusion/hand_written_expressions.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

using T = const Tensor&;

Tensor rows(Graph& g) { return g.input("x", DType::f32, {g.symbol("N", 1, 5), 3, 16}); }
Tensor weight(Graph& g, const char* name, std::int64_t columns = 32) {
    return g.weight(name, DType::f32, {16, columns});
}
Tensor bias(Graph& g, const char* name, std::int64_t columns = 32) { return g.weight(name, DType::f32, {columns}); }

struct Gate {
    std::string name;
    Tensor (*of)(const Operand& x);
};
const Gate gates[] = {{"swiglu", silu}, {"geglu", gelu}, {"geglu_tanh", gelu_tanh}};

TEST(GatedExpressions, OfTwoProducts) {
    for (const Gate& gate : gates) {
        expect_match("linear_" + gate.name, "both biased", [&](Graph& g) {
            const Tensor x = rows(g);
            return gate.of(matmul(x, weight(g, "w")) + bias(g, "b")) * (matmul(x, weight(g, "v")) + bias(g, "c"));
        });
        expect_match("linear_" + gate.name, "the gate's product is the later one", [&](Graph& g) {
            const Tensor x = rows(g), up = matmul(x, weight(g, "v")) + bias(g, "c");
            return up * gate.of(bias(g, "b") + matmul(x, weight(g, "w")));
        });
        expect_match("linear_" + gate.name, "the gate biased", [&](Graph& g) {
            const Tensor x = rows(g);
            return gate.of(matmul(x, weight(g, "w")) + bias(g, "b")) * matmul(x, weight(g, "v"));
        });
    }
    expect_match("linear_swiglu", "behind a norm, weights transposed", [](Graph& g) {
        const Tensor h = rms_norm(rows(g));
        const auto product = [&](const char* w, const char* b) {
            return matmul(h, transpose(g.weight(w, DType::f32, {32, 16}), {1, 0})) + bias(g, b);
        };
        const Tensor gate = product("w", "b"), up = product("v", "c");
        return gate / (1 + exp(-gate)) * up;
    });
}

TEST(GatedExpressions, OfOneProduct) {
    for (const Gate& gate : gates)
        for (const bool is_biased : {false, true})
            for (const bool is_gate_first : {false, true}) {
                const std::string text =
                    std::string(is_biased ? "biased" : "plain") + (is_gate_first ? ", gate first" : ", gate last");
                expect_match("linear_halves_" + gate.name, text, [&](Graph& g) {
                    Tensor h = matmul(rows(g), weight(g, "w", 64));
                    if (is_biased) h = h + bias(g, "b", 64);
                    const Tensor first = slice(h, -1, 0, 32), last = slice(h, -1, 32, 64);
                    return is_gate_first ? gate.of(first) * last : first * gate.of(last);
                });
            }
    expect_match("linear_halves_swiglu", "by chunk, of a transposed weight", [](Graph& g) {
        const auto parts = chunk(linear(rows(g), swap_axes(g.weight("w", DType::f32, {64, 16}), 0, 1)), 2, -1);
        return swiglu(parts[0], parts[1]);
    });
}

// Greedy decoding: the index of the largest logit.
TEST(LargestColumnExpressions, OfAProduct) {
    const auto table = [](Graph& g) { return transpose(g.weight("table", DType::f32, {32, 16}), {1, 0}); };
    expect_match("linear_argmax", "GPT-2: tied to the embedding",
                 [&](Graph& g) { return argmax(matmul(rows(g), table(g)), -1); });
    expect_match("linear_argmax", "of the last position",
                 [&](Graph& g) { return argmax(matmul(slice(rows(g), 1, 2, 3), table(g)), 2, true); });
    expect_match("linear_argmax", "biased",
                 [&](Graph& g) { return argmax(matmul(rows(g), weight(g, "w")) + bias(g, "b"), -1); });
    expect_match("linear_argmax", "by linear, rows in one axis", [&](Graph& g) {
        return argmax(linear(reshape(rows(g), {-1, 16}), weight(g, "w"), bias(g, "b")), 1);
    });
    expect_refused("linear_argmax", "along rows", "",
                   [&](Graph& g) { return argmax(matmul(rows(g), weight(g, "w")), 1); });
    expect_refused("linear_argmax", "of what follows the product", "",
                   [&](Graph& g) { return argmax(abs(matmul(rows(g), weight(g, "w"))), -1); });
    expect_refused("linear_argmax", "of the smallest", "",
                   [&](Graph& g) { return argmax(-matmul(rows(g), weight(g, "w")) * 0.5, -1); });
}

// Parts that are not halves, the same half twice, parts along rows.
TEST(GatedExpressions, OfOtherParts) {
    const auto missed = [](const char* text, const HandWrittenExpression& build) {
        expect_refused("linear_halves_swiglu", text, "", build);
    };
    missed("thirds", [](Graph& g) {
        const Tensor h = matmul(rows(g), weight(g, "w", 96));
        return silu(slice(h, -1, 0, 32)) * slice(h, -1, 32, 64);
    });
    missed("one half twice", [](Graph& g) {
        const Tensor h = matmul(rows(g), weight(g, "w", 64));
        return silu(slice(h, -1, 0, 32)) * slice(h, -1, 0, 32);
    });
    missed("one row for another", [](Graph& g) {
        const Tensor h = matmul(rows(g), weight(g, "w", 64));
        return silu(slice(h, 1, 0, 1)) * slice(h, 1, 1, 2);
    });
}

}  // namespace
}  // namespace cairn::test
