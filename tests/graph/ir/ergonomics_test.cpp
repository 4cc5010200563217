#include "cairn/cairn.hpp"
#include "graph/interpreter/interpreter.hpp"
#include "rewrite/simplify/simplify.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sstream>

// What a user writes without thinking of graphs: operators on sizes, scalars, lists, constants, streams.
namespace cairn::test {
namespace {

constexpr std::int64_t beyond = 9007199254740993;  // 2^53 + 1, which no double is
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

template <typename T>
std::string shown(const T& value) {
    std::ostringstream out;
    out << value;
    return out.str();
}

TEST(Sizes, HaveTheOperatorsOfNumbers) {
    Graph g;
    const Dim n = g.symbol("N", 1, 100);
    EXPECT_EQ(n / 2, floordiv(n, 2));
    EXPECT_EQ(7 / n, floordiv(7, n));
    EXPECT_EQ(n % 4, mod(n, 4));
    EXPECT_EQ(-n, Dim(0) - n);
    Dim m = n;
    m += 3;
    m *= 2;
    m -= 6;
    EXPECT_EQ(m, 2 * n);
    m /= 2;
    EXPECT_EQ(m, n);
}

TEST(Scalars, CanBeSizes) {
    Graph g;
    const Dim n = g.symbol("N", 1, 100);
    const Tensor x = g.input("x", DType::f32, {n});
    g.output("y", x / n);
    g.output("z", max(n, x) + 2 * n);
    interpreter::Inputs inputs;
    inputs.sizes["N"] = 2;
    inputs.tensors["x"] = interpreter::make_value(DType::f32, {2}, std::vector<double>{3, 5});
    const auto results = interpreter::interpret(*g.data(), inputs).outputs;
    EXPECT_EQ(results.at("y").data, (std::vector<double>{1.5, 2.5}));
    EXPECT_EQ(results.at("z").data, (std::vector<double>{7, 9}));
}

TEST(Operators, CompoundAssignmentIsTheOpAndTheHandle) {
    Graph g;
    Tensor x = g.input("x", DType::f32, {2});
    const Tensor first = x;
    x += 1;
    EXPECT_EQ(x.id(), (first + 1).id());
    x -= first;
    x *= 3;
    x /= 2;
    EXPECT_EQ(x.id(), (((first + 1) - first) * 3 / 2).id());
}

TEST(Lists, OneAxisNeedsNoBraces) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {2, 3});
    EXPECT_EQ(sum(x, 1).id(), sum(x, {1}).id());
    EXPECT_EQ(max_reduce(x, -1, true).id(), max_reduce(x, {-1}, true).id());
    EXPECT_EQ(mean(x, 0).id(), mean(x, std::vector<int>{0}).id());
    const std::vector<std::int64_t> computed{3, -1};
    EXPECT_EQ(reshape(x, computed).id(), reshape(x, {3, 2}).id());
}

TEST(Streams, ShowTheTextForms) {
    Graph g("g");
    const Dim n = g.symbol("N", 1, 9);
    const Tensor x = g.input("x", DType::f32, {n, 2});
    EXPECT_EQ(shown(x), "%0 f32[N,2]");
    EXPECT_EQ(shown(Tensor()), "(empty)");
    EXPECT_EQ(shown(x.shape()), "[N,2]");
    EXPECT_EQ(shown(n + 1), "1 + N");
    EXPECT_EQ(shown(DType::bf16), "bf16");
    EXPECT_EQ(shown(g), to_string(g));
}

TEST(Tensors, AShapeOutlivesTheGrowthOfItsGraph) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {2, 3});
    const Shape& shape = x.shape();
    Tensor y = x;
    for (int i = 0; i < 2000; ++i) y = tanh(y);
    EXPECT_EQ(&shape, &x.shape());
    EXPECT_EQ(to_string(shape), "[2,3]");
}

TEST(Constants, HaveTheDtypeOfTheirValues) {
    Graph g;
    const std::vector<float> floats{1, 2};
    const bool flags[] = {true, false};
    EXPECT_EQ(shown(g.constant(floats, {2})), "%0 f32[2]");
    EXPECT_EQ(shown(g.constant({1.5, 2.5}, {2, 1})), "%1 f64[2,1]");
    EXPECT_EQ(shown(g.constant({1, 2}, {2})), "%2 i32[2]");
    EXPECT_EQ(shown(g.constant(flags, {2})), "%3 bool[2]");
    EXPECT_EQ(shown(g.constant(std::vector<std::uint8_t>{255}, {1})), "%4 u8[1]");
    EXPECT_EQ(shown(g.constant(std::span<const std::int64_t>(&beyond, 1), {1})), "%5 i64[1]");
    EXPECT_EQ(g.data()->node(5).exact_integers->at(0), beyond);
    EXPECT_EQ(g.data()->node(3).values->at(0), 1);
    EXPECT_EQ(g.constant(floats, {2}).id(), g.constant(DType::f32, {2}, std::vector<double>{1, 2}).id());
    EXPECT_THROW(g.constant(floats, {3}), Error);
}

interpreter::Value value_of(const Graph& g, std::int64_t x) {
    interpreter::Inputs inputs;
    interpreter::Value value;
    value.dtype = DType::i64;
    value.shape = {1};
    value.integers = {x};
    inputs.tensors["x"] = value;
    const auto meant = interpreter::interpret(*g.data(), inputs).outputs.at("y");
    const auto simplified = simplify::simplify(*g.data());
    EXPECT_EQ(interpreter::interpret(*simplified.graph, inputs).outputs.at("y").integers, meant.integers);
    const Graph again = parse_graph(to_string(g));
    EXPECT_EQ(to_string(again), to_string(g));
    EXPECT_EQ(interpreter::interpret(*again.data(), inputs).outputs.at("y").integers, meant.integers);

    CompiledGraph compiled = compile(g, Context());
    compiled.set("x", &x, {1});
    compiled.run();
    const auto run = compiled.output("y").as<std::int64_t>();
    EXPECT_EQ(std::vector<std::int64_t>(run.begin(), run.end()), meant.integers);
    return meant;
}

TEST(Constants, RepresentEveryI64) {
    Graph scalar;
    scalar.output("y", scalar.input("x", DType::i64, {1}) + beyond);
    EXPECT_EQ(value_of(scalar, 4).integers, std::vector<std::int64_t>{beyond + 4});

    Graph table;
    const Tensor numbers = table.constant({beyond, -beyond, highest, std::int64_t{3}}, {4});
    table.output("y", table.input("x", DType::i64, {1}) - numbers);
    EXPECT_EQ(value_of(table, 0).integers, (std::vector<std::int64_t>{-beyond, beyond, -highest, -3}));

    Graph made;
    const Tensor same = made.constant(DType::i64, beyond) == made.constant(DType::i64, beyond - 1);
    made.output("y", where(same, made.input("x", DType::i64, {1}), made.constant(DType::i64, highest)));
    EXPECT_EQ(value_of(made, 7).integers, std::vector<std::int64_t>{highest});
}

TEST(Constants, DifferInTheirLastDigit) {
    Graph g;
    EXPECT_NE(g.constant(DType::i64, beyond).id(), g.constant(DType::i64, beyond - 1).id());
    EXPECT_EQ(g.constant(DType::i64, beyond).id(), g.constant(DType::i64, Dim(beyond)).id());
    EXPECT_EQ(to_string(parse_graph("graph g\n%0 = constant {1e18, 9007199254740993} : i64[2]\noutput \"y\" %0\n")),
              "graph g\n%0 = constant {1000000000000000000, 9007199254740993} : i64[2]\noutput \"y\" %0\n");
}

}  // namespace
}  // namespace cairn::test
