#include "expand/expand.hpp"

#include "cairn/composites.hpp"
#include "cairn/ops.hpp"
#include "expand/row.hpp"
#include "row_cases.hpp"
#include "simplify/simplify.hpp"
#include "tests/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cairn::test {
namespace {

// Blocks of norms, products with bound matrices of any width, biases, factors, movement and residuals, as models have
// them and as none has.
class RandomModel {
public:
    explicit RandomModel(std::uint64_t seed) : random_(seed) {}

    Graph make() {
        const Dim n = graph_.symbol("N", 0, 4);
        Tensor x = graph_.input("x", DType::f32, any(2) ? Shape{n, 3, width} : Shape{n, width});
        for (int block = 0; block < 3; ++block) x = next(x);
        graph_.output("y", x);
        return graph_;
    }

private:
    static constexpr int width = 4;

    int any(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
    Tensor weight(Shape shape) { return graph_.weight("w" + std::to_string(count_++), DType::f32, std::move(shape)); }
    Tensor matrix(int rows, int columns) {
        return any(2) ? weight({rows, columns}) : transpose(weight({columns, rows}), {1, 0});
    }
    Tensor row(int size) { return any(3) ? weight({size}) : weight({1, size}); }
    Tensor normed(const Tensor& x) {
        switch (any(5)) {
            case 0: return layer_norm(x, weight({width}), weight({width}), 0.125);
            case 1: return rms_norm(x, weight({width}), 0.125);
            case 2: return tanh(x) * row(width) - row(width);
            case 3: return tanh(x) / (weight({width}) + 4) + weight({width});
            default: return x;
        }
    }
    Tensor product(const Tensor& x, int columns, bool biased) {
        Tensor y = matmul(x, matrix(width, columns));
        if (biased) y = y + row(columns);
        if (any(3) == 0) y = y * 0.125;
        if (any(4) == 0) y = any(2) ? y * row(columns) : y / 4.0;
        return y;
    }
    // Every product made an output too, now and then, or seen in another shape.
    Tensor next(const Tensor& before) {
        const Tensor x = normed(before);
        const bool biased = any(2) != 0, mixed = any(4) == 0;
        Tensor sum = before;
        for (int i = 1 + any(4); i > 0; --i) {
            const int columns = any(3) ? width : 1 + any(5);
            const Tensor y = product(x, columns, mixed ? any(2) != 0 : biased);
            if (any(6) == 0) graph_.output("out" + std::to_string(count_++), y);
            const Tensor seen = any(2) ? y : swap_axes(reshape(y, {-1, 1, columns}), 1, 2);
            if (seen.rank() == 3 && y.rank() != 3) graph_.output("seen" + std::to_string(count_++), tanh(seen));
            sum = sum + tanh(sum_of_columns(y)) * 0.5;
        }
        return sum;
    }
    static Tensor sum_of_columns(const Tensor& y) { return y.dim(-1) == Dim(width) ? y : sum(y, {-1}, true); }

    std::mt19937_64 random_;
    Graph graph_{"g"};
    int count_ = 0;
};

TEST(Expand, RandomModels) {
    std::size_t spellings = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const Graph graph = RandomModel(seed).make();
        for (const auto& each : {graph.data(), simplify::simplify(*graph.data()).graph}) {
            const expand::Expansion expansion = checked_expansion(Graph(each));
            for (ir::NodeId id = 0; id < expansion.graph->nodes().size(); ++id)
                if (expansion.classes.value_of(id) != id) ++spellings;
        }
        if (HasFailure()) FAIL() << "seed " << seed << "\n" << to_string(graph);
    }
    EXPECT_GT(spellings, 3000u);
}

TEST(Expand, RandomGraphs) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        checked_expansion(Graph(simplify::simplify(*random_graph(seed).data()).graph));
        if (HasFailure()) FAIL() << "seed " << seed;
    }
}

TEST(Expand, WithoutRowsTheGraphStays) {
    const Graph graph = RandomModel(3).make();
    expand::Options options;
    for (const expand::Row& row : expand::all_rows()) options.disabled.emplace_back(row.name);
    const expand::Expansion expansion = expand::expand(*graph.data(), options);
    EXPECT_EQ(to_string(Graph(expansion.graph)), to_string(graph));
    EXPECT_TRUE(expansion.classes.are_single());
}

TEST(Expand, RowsSayTheirLaws) {
    for (const expand::Row& row : expand::all_rows()) {
        EXPECT_FALSE(row.name.empty());
        EXPECT_NE(row.law.find('='), std::string_view::npos) << row.name;
    }
}

// Each block: a norm, queries, keys and values, a gate and what it opens.
Graph layers(int count) {
    Graph g("g");
    Tensor x = g.input("x", DType::f32, {g.symbol("N", 1, 8), 4});
    for (int i = 0; i < count; ++i) {
        const auto weight = [&](const char* name, Shape shape) {
            return g.weight(name + std::to_string(i), DType::f32, std::move(shape));
        };
        const Tensor n = layer_norm(x, weight("gamma", {4}), weight("beta", {4}), 1e-5);
        const auto part = [&](const char* name) { return matmul(n, weight(name, {4, 4})); };
        x = x + tanh(part("q") * 0.5 + part("k")) * part("v");
    }
    g.output("y", x);
    return g;
}

TEST(Expand, GrowsWithTheGraph) {
    const auto size = [](int count) { return expand::expand(*layers(count).data()).graph->nodes().size(); };
    EXPECT_LE(size(200), 10 * size(20) + 20);
}

TEST(Expand, NamesStatesAndLinesStay) {
    Graph g("model");
    const Tensor x = g.input("x", DType::f32, {2, 4});
    State state = g.state("s", DType::f32, {2, 5}, std::vector<float>(10));
    const Tensor y = matmul(x, g.weight("w", DType::f32, {4, 5})) * 0.5;
    g.output("z", state.write(y, 0));
    const expand::Expansion expansion = checked_expansion(g);
    EXPECT_EQ(expansion.graph->name(), "model");
    ASSERT_EQ(expansion.graph->states().size(), 1u);
    const ir::NodeId latest = expansion.graph->states()[0].latest;
    EXPECT_EQ(expansion.graph->outputs()[0].node, latest);
    const auto all = expansion.classes.spellings(expansion.graph->node(latest).operands[1]);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(expansion.graph->node(all[0]).where.line(), expansion.graph->node(all[1]).where.line());
}

}  // namespace
}  // namespace cairn::test
