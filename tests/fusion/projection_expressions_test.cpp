#include "tests/fusion/expressions.hpp"

#include <gtest/gtest.h>

namespace cairn::test::projection_expressions {
namespace {

using T = const Tensor&;

struct OperandVariant {
    const char* text;
    std::function<Tensor(const Tensors&)> build;
};

Tensors linear_operands(Graph& g) {
    return {g.input("x", DType::f32, {g.symbol("N", 1, 5), 3, 4}), g.weight("w", DType::f32, {4, 6}),
            g.weight("b", DType::f32, {6}), g.weight("wt", DType::f32, {6, 4})};
}

TEST(Expressions, Linear) {
    const Family family{"fused", linear_operands, "fused {3=matmul(0,1):f32 4=add(3,2):f32} results (x, w, b)"};
    const OperandVariant products[] = {
        {"x@w", [](const Tensors& t) { return matmul(t[0], t[1]); }},
        {"2 (x/2 @ w)", [](const Tensors& t) { return 2 * matmul(t[0] / 2, t[1]); }},
        {"-(x @ -w)", [](const Tensors& t) { return -matmul(t[0], -t[1]); }},
        {"x @ [1,K,N]", [](const Tensors& t) { return matmul(t[0], unsqueeze(t[1], 0)); }},
        {"x @ w'' ", [](const Tensors& t) { return matmul(t[0], swap_axes(swap_axes(t[1], 0, 1), 0, 1)); }},
    };
    const OperandVariant sums[] = {
        {"+ b", [](const Tensors& t) { return t[0] + t[2]; }},
        {"b +", [](const Tensors& t) { return t[2] + t[0]; }},
        {"- -b", [](const Tensors& t) { return t[0] - -t[2]; }},
        {"+ [1,1,N]",
         [](const Tensors& t) {
             return t[0] + reshape(t[2], {1, 1, 6});
         }},
        {"+ broadcast(b)", [](const Tensors& t) { return t[0] + broadcast(t[2], t[0].shape()); }},
    };
    std::vector<Expression> found;
    for (const OperandVariant& product : products)
        for (const OperandVariant& sum : sums)
            found.push_back({std::string(product.text) + sum.text, [product, sum](const Tensors& t) {
                                 return sum.build({product.build(t), t[1], t[2]});
                             }});
    expect_found(family, found);
    expect_missed(
        family,
        {
            {"no b", [](const Tensors& t) { return matmul(t[0], t[1]); }},
            {"- b", [](const Tensors& t) { return matmul(t[0], t[1]) - t[2]; }},
            {"+ 2b", [](const Tensors& t) { return tanh(matmul(t[0], t[1]) + 2 * t[2]); }},
            {"* b", [](const Tensors& t) { return matmul(t[0], t[1]) * t[2]; }},
            {"b * first", [](const Tensors& t) { return matmul(t[0] * slice(t[2], 0, 0, 4), t[1]) * t[2]; }},
            {"max with b", [](const Tensors& t) { return max(matmul(t[0], t[1]), t[2]); }},
            {"1.001 x@w", [](const Tensors& t) { return 1.001 * matmul(t[0], t[1]) + t[2]; }},
            {"2 (x@w + b)", [](const Tensors& t) { return 2 * (matmul(t[0], t[1]) + t[2]); }},
            {"-(x@w) + b", [](const Tensors& t) { return -matmul(t[0], t[1]) + t[2]; }},
            {"+ 1", [](const Tensors& t) { return matmul(t[0], t[1]) + 1; }},
            {"+ b + 1", [](const Tensors& t) { return matmul(t[0], t[1]) + t[2] + 1; }},
            {"+ b of rows",
             [](const Tensors& t) {
                 return matmul(t[0], t[1]) + reshape(slice(t[2], 0, 0, 3), {3, 1});
             }},
            {"+ b[0]", [](const Tensors& t) { return matmul(t[0], t[1]) + slice(t[2], 0, 0, 1); }},
            {"x@w squared", [](const Tensors& t) { return matmul(t[0], t[1]) * matmul(t[0], t[1]) + t[2]; }},
            {"two products", [](const Tensors& t) { return matmul(t[0], t[1]) + matmul(t[0] * t[0], t[1]) + t[2]; }},
            {"w varies with the batch",
             [](const Tensors& t) {
                 return matmul(t[0], broadcast(sum(t[0], {-1, -2}, true), {t[0].dim(0), 4, 6})) + t[2];
             }},
            {"rounded between",
             [](const Tensors& t) { return cast(cast(matmul(t[0], t[1]), DType::f16), DType::f32) + t[2]; }},
            {"rounded b and w", [](const Tensors& t) { return floor(matmul(t[0], t[1])) + t[2]; }},
            {"exp(b)/b", [](const Tensors& t) { return matmul(t[0], t[1]) / t[2]; }},
            {"sum of x", [](const Tensors& t) { return sum(t[0], {-1}, true) + t[2]; }},
            {"relu", [](const Tensors& t) { return relu(matmul(t[0], t[1]) + t[2]); }},
        });
}

TEST(Expressions, LinearOfATransposedWeightReadsTheTranspose) {
    Graph g("g");
    const Tensors t = linear_operands(g);
    g.output("y", matmul(t[0], transpose(t[3], {1, 0})) + t[2]);
    const Proposed matches = proposed(g);
    const fusion::Match* match = match_at_output(matches, "fused");
    ASSERT_NE(match, nullptr);
    EXPECT_EQ(matches.graph->node(match->inputs[1]).op, ir::Op::transpose);
}

Tensors embedding_operands(Graph& g) {
    return {g.weight("table", DType::f32, {5, 6}), g.input("ids.below5", DType::i32, {g.symbol("N", 1, 5), 3}),
            g.input("other.below3", DType::i32, {3}), g.weight("b", DType::f32, {6})};
}

TEST(Expressions, Embedding) {
    const Family family{"embedding", embedding_operands, "embedding (table, ids.below5)"};
    const OperandVariant gathers[] = {
        {"gather(table, ids)", [](const Tensors& t) { return gather(t[0], t[1]); }},
        {"gather(table, rows of ids)",
         [](const Tensors& t) {
             return reshape(gather(t[0], reshape(t[1], {-1})), {t[1].dim(0), 3, 6});
         }},
        {"gather of columns of table'",
         [](const Tensors& t) { return gather(swap_axes(swap_axes(t[0], 0, 1), 0, 1), t[1], 0); }},
        {"gather(2 table)/2", [](const Tensors& t) { return gather(2 * t[0], t[1]) / 2; }},
        {"-gather(-table)", [](const Tensors& t) { return -gather(-t[0], t[1]); }},
        {"gather(table / 3) * 3", [](const Tensors& t) { return gather(t[0] / 3, t[1]) * 3; }},
        {"gather(table, ids + 0)", [](const Tensors& t) { return gather(t[0], t[1] + 0); }},
        {"gather(table, --ids)", [](const Tensors& t) { return gather(t[0], -(-t[1])); }},
        {"gather(table, ids * 1)", [](const Tensors& t) { return gather(t[0], t[1] * 1); }},
        {"gather(table, (ids + 1) - 1)", [](const Tensors& t) { return gather(t[0], (t[1] + 1) - 1); }},
    };
    std::vector<Expression> found;
    for (const OperandVariant& form : gathers) {
        found.push_back({form.text, form.build});
        found.push_back({std::string("reshaped ") + form.text, [form](const Tensors& t) {
                             const Tensor y = form.build(t);
                             return reshape(reshape(y, {-1, 6}), y.shape()) * 1;
                         }});
    }
    expect_found(family, found);
    const auto y = [](const Tensors& t) { return gather(t[0], t[1]); };
    expect_missed(family, {
                              {"columns", [](const Tensors& t) { return gather(t[0], t[1], 1); }},
                              {"2 y", [y](const Tensors& t) { return 2 * y(t); }},
                              {"1.001 y", [y](const Tensors& t) { return 1.001 * y(t); }},
                              {"-y", [y](const Tensors& t) { return -y(t); }},
                              {"y + b", [y](const Tensors& t) { return y(t) + t[3]; }},
                              {"y + 1", [y](const Tensors& t) { return y(t) + 1; }},
                              {"y * y", [y](const Tensors& t) { return y(t) * y(t); }},
                              {"transposed y", [y](const Tensors& t) { return swap_axes(y(t), 1, 2); }},
                              {"reshaped y",
                               [y](const Tensors& t) {
                                   return reshape(y(t), {-1, 6});
                               }},
                              {"one row", [](const Tensors& t) { return slice(t[0], 0, 1, 2); }},
                              {"first rows", [](const Tensors& t) { return slice(t[0], 0, 0, 3); }},
                              {"first columns of y", [y](const Tensors& t) { return slice(y(t), -1, 0, 3); }},
                              {"max of y", [y](const Tensors& t) { return max_reduce(y(t), {-1}, true); }},
                              {"sum of y", [y](const Tensors& t) { return sum(y(t), {1}); }},
                              {"tanh(y)", [y](const Tensors& t) { return tanh(y(t)); }},
                              {"y in f16", [y](const Tensors& t) { return cast(y(t), DType::f16); }},
                              {"y rounded", [y](const Tensors& t) { return cast(cast(y(t), DType::f16), DType::f32); }},
                              {"of four axes",
                               [](const Tensors& t) {
                                   return gather(reshape(t[0], {5, 2, 3}), t[1]);
                               }},
                              {"of rows of a cube",
                               [](const Tensors& t) {
                                   return gather(reshape(t[0], {5, 2, 3}), t[2], 2);
                               }},
                              {"two tables", [y](const Tensors& t) { return y(t) + gather(t[0], t[2]); }},
                          });
}

}  // namespace
}  // namespace cairn::test::projection_expressions
