#include "cairn/cairn.hpp"
#include "graph/types/dim_solve.hpp"
#include "tests/errors/message.hpp"
#include "tests/graph/types/random_size.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>
#include <vector>

/// Tests that symbols are solved from the shapes of inputs, for any size expressions.
namespace cairn::test {
namespace {

using testing::HasSubstr;

const Context& context() {
    static const Context made;
    return made;
}

/// The program saved to a file and loaded from it.
CompiledGraph reloaded(const CompiledGraph& model, const char* name) {
    const std::filesystem::path path = std::filesystem::path(CAIRN_BINARY_DIR) / name;
    model.save(path);
    CompiledGraph again = CompiledGraph::load(path, context());
    std::filesystem::remove(path);
    return again;
}

std::vector<std::int64_t> shape_of(const CompiledGraph& model, const char* output) {
    const auto shape = model.output(output).shape;
    return {shape.begin(), shape.end()};
}

/// A picture whose sides are multiples of 32, and the mean of each block.
CompiledGraph picture() {
    Graph g;
    const Dim h = g.symbol("h", 1, 8), w = g.symbol("w", 1, 8);
    const Tensor x = g.input("x", DType::f32, {1, 3, 32 * h, 32 * w});
    g.output("y", mean(reshape(x, {3, h, 32, w, 32}), {2, 4}));
    return compile(g, context(), {.splits = {{"h", {2}}}});
}

void expect_sides_are_solved(CompiledGraph model) {
    const std::vector<float> x(3 * 256 * 256, 2);
    for (const auto& [h, w] : {std::pair<std::int64_t, std::int64_t>{1, 2}, {3, 1}, {8, 8}, {2, 5}}) {
        model.set("x", x.data(), {1, 3, 32 * h, 32 * w});
        model.run();
        EXPECT_THAT(shape_of(model, "y"), testing::ElementsAre(3, h, w));
        EXPECT_EQ(model.output("y").as<float>().back(), 2);
    }
}

TEST(SolveSizes, AMultipleOfASymbolDeterminesIt) { expect_sides_are_solved(picture()); }

TEST(SolveSizes, ALoadedProgramSolvesTheSame) {
    CompiledGraph again = reloaded(picture(), "solve_sizes.cairn");
    EXPECT_THAT(message([&] { again.set("x", std::vector<float>(3 * 100 * 32), {1, 3, 100, 32}); }), HasSubstr("32*h"));
    expect_sides_are_solved(std::move(again));
}

TEST(SolveSizes, AnInstanceSolvesTheSame) { expect_sides_are_solved(picture().instance()); }

TEST(SolveSizes, ASizeWithoutSolutionIsRefusedWithTheNearestValidSizes) {
    CompiledGraph model = picture();
    const std::vector<float> x(3 * 512 * 512);
    EXPECT_EQ(
        message([&] {
            model.set("x", x.data(), {1, 3, 100, 32});
        }),
        "[set] input \"x\" is f32[1,3,32*h,32*w], got 100 on axis 2, which is 32*h for no h in 1..8: the nearest that "
        "fit are 96 and 128");
    EXPECT_EQ(
        message([&] {
            model.set("x", x.data(), {1, 3, 32, 512});
        }),
        "[set] input \"x\" is f32[1,3,32*h,32*w], got 512 on axis 3, which is 32*w for no w in 1..8: the nearest that "
        "fits is 256");
}

TEST(SolveSizes, AFailedCallChangesNothing) {
    CompiledGraph model = picture();
    const std::vector<float> x(3 * 256 * 256, 2);
    model.set("x", x.data(), {1, 3, 64, 96});
    EXPECT_THROW(model.set("x", x.data(), {1, 3, 32, 31}), Error);
    model.run();
    EXPECT_THAT(shape_of(model, "y"), testing::ElementsAre(3, 2, 3));
}

TEST(SolveSizes, AllAxesOfAnInputAgree) {
    Graph g;
    const Dim n = g.symbol("n", 1, 16);
    g.output("y", g.input("x", DType::f32, {2 * n, 3 * n + 1}) * 2.0f);
    CompiledGraph model = compile(g, context());
    const std::vector<float> x(64);
    EXPECT_EQ(
        message([&] {
            model.set("x", x.data(), {4, 10});
        }),
        "[set] input \"x\" is f32[2*n,1 + 3*n], got 4 on axis 0 and 10 on axis 1, which are 2*n and 1 + 3*n for no n "
        "in 1..16");
    model.set("x", x.data(), {4, 7});
    model.run();

    Graph bare;
    const Dim m = bare.symbol("m", 1, 16);
    bare.output("y", bare.input("x", DType::f32, {m, 2 * m}) * 2.0f);
    CompiledGraph other = compile(bare, context());
    EXPECT_EQ(message([&] {
                  other.set("x", x.data(), {3, 7});
              }),
              "[set] input \"x\" is f32[m,2*m], got 7 on axis 1, expected 2*m = 6 at m = 3");
}

TEST(SolveSizes, ASecondSymbolIsDerivedFromTheFirst) {
    Graph g;
    const Dim n = g.symbol("n", 1, 16), m = g.symbol("m", 0, 16);
    g.output("y", g.input("x", DType::f32, {n * m + n, n * n}) * 2.0f);
    CompiledGraph model = compile(g, context());
    const std::vector<float> x(16 * 17 * 256);
    model.set("x", x.data(), {15, 9});
    model.run();
    EXPECT_EQ(
        message([&] {
            model.set("x", x.data(), {16, 9});
        }),
        "[set] input \"x\" is f32[n + m*n,n*n], got 16 on axis 0, which is n + m*n for no m in 0..16 at n = 3: the "
        "nearest that fit are 15 and 18");
}

/// A program with inputs of n and of n * m rows.
void expect_derives(CompiledGraph model) {
    const std::vector<float> x(256);
    model.set("both", x.data(), {12});
    model.set("rows", x.data(), {4});
    model.run();
    EXPECT_THAT(shape_of(model, "m"), testing::ElementsAre(3));
    model.set("rows", x.data(), {6});  // the values that follow are derived again
    model.run();
    EXPECT_THAT(shape_of(model, "m"), testing::ElementsAre(2));
    model.set("rows", x.data(), {5});
    EXPECT_EQ(
        message([&] { model.run(); }),
        "[run] input \"both\" is f32[m*n], got 12 on axis 0, which is m*n for no m in 1..16 at n = 5: the nearest "
        "that fit are 10 and 15");
    model.set("both", x.data(), {35});
    model.run();
    EXPECT_THAT(shape_of(model, "m"), testing::ElementsAre(7));
    model.set("m", 5);  // now it is given
    EXPECT_THAT(message([&] { model.run(); }), HasSubstr("input \"both\" has size 35 on axis 0, expected m*n = 25"));
    model.set("both", x.data(), {25});
    model.run();
}

TEST(SolveSizes, SeveralInputsTogetherDetermineASymbol) {
    Graph g;
    const Dim n = g.symbol("n", 1, 16), m = g.symbol("m", 1, 16);
    g.output("a", g.input("rows", DType::f32, {n}) * 2.0f);
    g.output("b", g.input("both", DType::f32, {n * m}) * 2.0f);
    g.output("m", iota(g, m));
    const CompiledGraph model = compile(g, context());
    expect_derives(model.instance());
    expect_derives(reloaded(model, "solve_two.cairn"));
}

TEST(SolveSizes, AnAmbiguousSymbolMustBeSet) {
    Graph g;
    const Dim n = g.symbol("n", 1, 16);
    const Tensor x = g.input("x", DType::f32, {ceildiv(n, 4)});
    g.output("y", x * 2.0f);
    g.output("n", iota(g, n));
    CompiledGraph model = compile(g, context());
    const std::vector<float> data(4);
    model.set("x", data.data(), {2});
    EXPECT_EQ(message([&] { model.run(); }),
              "[run] the size n is not set: input \"x\" has 2 on axis 0, which is ceildiv(n, 4) for n = 5 and for 6");
    model.set("n", 7);
    model.run();
    EXPECT_THAT(shape_of(model, "n"), testing::ElementsAre(7));
    model.set("x", data.data(), {2});  // what was set stays
    model.run();
    EXPECT_THAT(shape_of(model, "n"), testing::ElementsAre(7));
}

TEST(SolveSizes, AValueDerivedFromAShapeIsDroppedWithTheShape) {
    Graph g;
    const Dim n = g.symbol("n", 1, 16);
    g.output("y", g.input("x", DType::f32, {min(n, 4)}) * 2.0f);
    CompiledGraph model = compile(g, context());
    const std::vector<float> data(4);
    model.set("x", data.data(), {3});
    model.run();
    model.set("x", data.data(), {4});
    EXPECT_THAT(message([&] { model.run(); }), HasSubstr("the size n is not set: input \"x\" has 4 on axis 0"));
}

TEST(SolveSizes, TheLengthOfAStateIsReadAtTheRun) {
    Graph g;
    const Dim past = g.symbol("past", 0, 8), t = g.symbol("t", 1, 4);
    State rows = g.state("rows", DType::f32, {past}, 0, 12);
    const Tensor mask = g.input("mask", DType::f32, {past + t});
    g.output("y", rows.append(slice(mask, 0, past, past + t)) * mask);
    CompiledGraph model = compile(g, context());
    const std::vector<float> ones(12, 1);
    for (const std::int64_t length : {3, 5, 6}) {
        model.set("mask", ones.data(), {length});
        model.run();
        EXPECT_THAT(shape_of(model, "y"), testing::ElementsAre(length));
    }
    EXPECT_EQ(
        message([&] { model.run(); }),
        "[run] input \"mask\" is f32[past + t], got 6 on axis 0, which is past + t for no t in 1..4 at past = 6: the "
        "nearest that fits is 7");
}

TEST(SolveSizes, TheContentsOfAStateDetermineSymbols) {
    Graph g;
    const Dim past = g.symbol("past", 0, 8), b = g.symbol("b", 1, 4);
    State rows = g.state("rows", DType::f32, {2 * b, past}, 1, 12);
    g.output("y", rows.append(g.input("x", DType::f32, {2 * b, 1})));
    CompiledGraph model = compile(g, context());
    const std::vector<float> data(24, 3);
    model.set_state("rows", data.data(), {4, 3});
    model.set("x", data.data(), {4, 1});
    model.run();
    EXPECT_THAT(shape_of(model, "y"), testing::ElementsAre(4, 4));
    EXPECT_THAT(model.output("y").as<float>(), testing::Each(3));
    EXPECT_EQ(
        message([&] {
            model.set_state("rows", data.data(), {5, 3});
        }),
        "[set_state] state \"rows\" is f32[2*b,past], got 5 on axis 0, which is 2*b for no b in 1..4: the nearest that "
        "fit are 4 and 6");
}

TEST(SolveSizes, TheNumberOfElementsCanDetermineAnySymbol) {
    Graph g;
    const Dim n = g.symbol("n", 1, 8), m = g.symbol("m", 1, 8);
    g.output("a", g.input("square", DType::f32, {n, n + 1}) * 2.0f);
    g.output("b", g.input("blocks", DType::f32, {3, 2 * m}) * 2.0f);
    CompiledGraph model = compile(g, context());
    const std::vector<float> x(12);
    model.set("square", x);
    model.set("blocks", x);
    model.run();
    EXPECT_THAT(shape_of(model, "a"), testing::ElementsAre(3, 4));
    EXPECT_THAT(shape_of(model, "b"), testing::ElementsAre(3, 4));
    EXPECT_EQ(
        message([&] { model.set("square", std::vector<float>(13)); }),
        "[set] input \"square\" is f32[n,1 + n], got 13 elements, which is n * (1 + n) for no n in 1..8: the nearest "
        "that fit are 12 and 20");
}

/// Random inputs of three symbols.
class RandomInputs {
public:
    explicit RandomInputs(std::uint64_t seed) : random_(seed) {
        std::vector<Dim> dims;
        for (const auto& [name, high] : {std::pair("a", 5), std::pair("b", 7), std::pair("c", 30)})
            dims.push_back(graph_.symbol(name, 1, high));
        for (std::size_t i = 0; i < 1 + random_() % 3; ++i) add_input(dims);
        for (const Dim& dim : dims) graph_.output(std::string(dim.symbol()), iota(graph_, dim));
    }
    const Graph& graph() const { return graph_; }
    std::size_t size() const { return inputs_.size(); }

    std::vector<std::int64_t> random_values() {
        return {1 + static_cast<std::int64_t>(random_() % 5), 1 + static_cast<std::int64_t>(random_() % 7),
                1 + static_cast<std::int64_t>(random_() % 30)};
    }
    std::vector<std::int64_t> shape(std::size_t input, const std::vector<std::int64_t>& values) const {
        std::vector<std::int64_t> shape;
        for (const auto& size : inputs_[input]) shape.push_back(size->evaluate(values).value());
        return shape;
    }

    /// The symbols that shapes at these values determine, one after the other, by trying all of their values.
    std::vector<bool> determined(const std::vector<std::int64_t>& values) const {
        std::vector<bool> known(3, false);
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t s = 0; s < 3; ++s) {
                if (known[s] || solutions(s, values, known) != 1) continue;
                known[s] = changed = true;
            }
        }
        return known;
    }

private:
    static constexpr std::int64_t highest[] = {5, 7, 30};

    void add_input(const std::vector<Dim>& dims) {
        for (int attempt = 0; attempt < 100; ++attempt) {
            std::vector<std::shared_ptr<PlainSize>> sizes;
            Shape shape;
            try {
                for (std::size_t axis = 0; axis < 1 + random_() % 2; ++axis) {
                    sizes.push_back(random_size(random_, 3, 3, random_() % 2 == 0));
                    shape.push_back(sizes.back()->dim(dims));
                }
                if (!std::all_of(sizes.begin(), sizes.end(), [](const auto& size) { return is_defined(*size); }))
                    continue;
                if (element_count(shape).is_constant() || element_count(shape).upper_bound() > 100'000) continue;
                const Tensor x = graph_.input("x" + std::to_string(inputs_.size()), DType::u8, shape);
                graph_.output("y" + std::to_string(inputs_.size()), x);
                inputs_.push_back(sizes);
                shapes_.push_back(shape);
                return;
            } catch (const Error&) { continue; }  // a size that may be negative, or divides by zero
        }
    }

    /// Number of values of a symbol that satisfy the sizes depending on it and on known ones alone; 0 if no size does.
    int solutions(std::size_t symbol, std::vector<std::int64_t> values, const std::vector<bool>& known) const {
        const std::vector<std::int64_t> right = values;
        std::vector<const PlainSize*> sizes;
        for (std::size_t i = 0; i < inputs_.size(); ++i)
            for (std::size_t axis = 0; axis < inputs_[i].size(); ++axis)
                if (depends_only_on(shapes_[i][axis], symbol, known)) sizes.push_back(inputs_[i][axis].get());
        if (sizes.empty()) return 0;
        int count = 0;
        for (values[symbol] = 1; values[symbol] <= highest[symbol]; ++values[symbol])
            count += std::all_of(sizes.begin(), sizes.end(),
                                 [&](const PlainSize* size) { return size->evaluate(values) == size->evaluate(right); })
                         ? 1
                         : 0;
        return count;
    }

    /// False where a divisor may be 0.
    static bool is_defined(const PlainSize& size) {
        for (std::int64_t a = 1; a <= highest[0]; ++a)
            for (std::int64_t b = 1; b <= highest[1]; ++b)
                for (std::int64_t c = 1; c <= highest[2]; ++c)
                    if (!size.evaluate(std::vector<std::int64_t>{a, b, c})) return false;
        return true;
    }

    static bool depends_only_on(const Dim& size, std::size_t symbol, const std::vector<bool>& known) {
        for (std::size_t s = 0; s < 3; ++s)
            if (s != symbol && !known[s] && detail::depends_on(size, s)) return false;
        return detail::depends_on(size, symbol);
    }

    std::mt19937_64 random_;
    Graph graph_;
    std::vector<std::vector<std::shared_ptr<PlainSize>>> inputs_;
    std::vector<Shape> shapes_;
};

void expect_round_trip(CompiledGraph& model, const RandomInputs& inputs, const std::vector<std::int64_t>& values,
                       std::size_t first) {
    static const std::vector<std::uint8_t> data(100'000);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::size_t input = (first + i) % inputs.size();
        model.set("x" + std::to_string(input), data.data(), inputs.shape(input, values));
    }
    const std::vector<bool> determined = inputs.determined(values);
    const char* const names[] = {"a", "b", "c"};
    if (std::count(determined.begin(), determined.end(), true) < 3) {
        EXPECT_THAT(message([&] { model.run(); }), HasSubstr("is not set"));
        for (std::size_t s = 0; s < 3; ++s)
            if (!determined[s]) model.set(names[s], values[s]);
    }
    EXPECT_EQ(message([&] { model.run(); }), "nothing was thrown");
    for (std::size_t s = 0; s < 3; ++s) EXPECT_EQ(model.output(names[s]).shape[0], values[s]) << names[s];
    for (std::size_t i = 0; i < inputs.size(); ++i)
        EXPECT_EQ(shape_of(model, ("y" + std::to_string(i)).c_str()), inputs.shape(i, values));
}

TEST(SolveSizes, RandomShapesDetermineTheirSymbols) {
    int all_determined = 0;
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        RandomInputs inputs(seed);
        if (inputs.size() == 0) continue;
        SCOPED_TRACE(to_string(inputs.graph()));
        const CompiledGraph model = compile(inputs.graph(), context());
        const CompiledGraph loaded = reloaded(model, "solve_random.cairn");
        for (std::size_t i = 0; i < 3; ++i) {
            const std::vector<std::int64_t> values = inputs.random_values();
            CompiledGraph once = i == 2 ? loaded.instance() : model.instance();
            expect_round_trip(once, inputs, values, i);
            const std::vector<bool> determined = inputs.determined(values);
            all_determined += std::count(determined.begin(), determined.end(), true) == 3 ? 1 : 0;
        }
        if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(all_determined, 20);
}

}  // namespace
}  // namespace cairn::test
