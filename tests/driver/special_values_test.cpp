#include "cairn/composites.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/graph/ir/reference_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

/// The guarantees of docs/numbers.md: the interpreter, the reference kernels and the kernels of each level agree on
/// NaN, infinities, zeros of both signs, subnormals and extreme integers.
namespace cairn::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct NamedContext {
    std::string name;
    Context context;
};

const std::vector<NamedContext>& all_contexts() {
    static const std::vector<NamedContext> all = [] {
        const Context two({.threads = 2});
        const FeatureSet available = two.features();
        return std::vector<NamedContext>{{"reference", Context({.reference_only = true})},
                                         {"baseline", Context({.features = levels::baseline})},
                                         {"avx2", Context({.features = levels::avx2 & available})},
                                         {"avx512", Context({.features = levels::avx512 & available})},
                                         {"two threads", two}};
    }();
    return all;
}

using Unary = Tensor (*)(const Operand&);
using Binary = Tensor (*)(const Operand&, const Operand&);

struct Pairs {
    std::vector<double> first, second;
};

// All pairs of values, repeated `times` times, so that they occur in full vectors and in tails.
Pairs pairs_of(const std::vector<double>& values, int times = 3) {
    Pairs pairs;
    for (int i = 0; i < times; ++i)
        for (const double a : values)
            for (const double b : values) {
                pairs.first.push_back(a);
                pairs.second.push_back(b);
            }
    return pairs;
}

std::vector<double> specials(DType dtype) {
    const double least = dtype == DType::f64 ? 0x1p-1074 : dtype == DType::f16 ? 0x1p-24 : 0x1p-133;
    std::vector<double> values = {0.0,       -0.0,         1,     -1,     0.5, -2.5, 3, infinity,
                                  -infinity, std::nan(""), least, -least, 60,  1.5};
    if (!is_float(dtype))
        values = {0, 1, 2, 3, 7, 100, dtype == DType::u8 ? 255 : dtype == DType::i8 ? 127 : 2147483647.0};
    if (dtype == DType::i8) values.insert(values.end(), {-1, -128, -7});
    if (dtype == DType::i32) values.insert(values.end(), {-1, -2147483648.0, -7});
    if (dtype == DType::i64) values.insert(values.end(), {-1, -0x1p63, 0x1p63, -7});
    return values;
}

double epsilon(DType dtype) {
    return dtype == DType::f64 ? 1e-14 : dtype == DType::f32 ? 1e-6 : dtype == DType::f16 ? 2e-3 : 1.6e-2;
}

// Ignores overflow: a result computed in the dtype may be infinite where the interpreter's is finite.
std::string fault_of(const interpreter::Value& actual, const interpreter::Value& exact, bool signs) {
    for (std::size_t i = 0; i < exact.size(); ++i) {
        if (!is_float(exact.dtype)) {
            if (actual.integers[i] != exact.integers[i])
                return std::to_string(i) + ": " + std::to_string(actual.integers[i]) + ", expected " +
                       std::to_string(exact.integers[i]);
            continue;
        }
        const double a = actual.data[i],
                     e = interpreter::make_value(exact.dtype, {1}, std::vector{exact.data[i]}).data[0];
        if (std::isnan(a) && std::isnan(e)) continue;
        const bool signed_alike = !signs || e != 0 || std::signbit(a) == std::signbit(e);
        const double smallest = exact.dtype == DType::f64 ? 0x1p-1074 : exact.dtype == DType::f16 ? 0x1p-24 : 0x1p-133;
        if ((a == e || std::fabs(a - e) <= epsilon(exact.dtype) * std::fabs(e) + 2 * smallest) && signed_alike)
            continue;
        return std::to_string(i) + ": " + std::to_string(a) + ", expected " + std::to_string(e);
    }
    return {};
}

void expect_agreement(const Graph& graph, const interpreter::Inputs& inputs,
                      const std::vector<std::string>& unsigned_zeros) {
    const interpreter::Results exact = interpreter::interpret(*graph.data(), inputs);
    for (const auto& [kind, context] : all_contexts()) {
        const auto set = runtime::parse_program_set(compile(graph, context, {.verify = true}).program());
        const interpreter::Results actual = CompiledRun(set, context, inputs).run(inputs);
        for (const auto& [name, value] : exact.outputs) {
            const bool signs = std::find(unsigned_zeros.begin(), unsigned_zeros.end(), name) == unsigned_zeros.end();
            EXPECT_EQ(fault_of(actual.outputs.at(name), value, signs), "") << name << " in " << kind;
        }
    }
}

interpreter::Inputs inputs_of(DType dtype, const Pairs& pairs) {
    const auto size = static_cast<std::int64_t>(pairs.first.size());
    interpreter::Inputs inputs;
    inputs.tensors["x"] = interpreter::make_value(dtype, {size}, pairs.first);
    inputs.tensors["z"] = interpreter::make_value(dtype, {size}, pairs.second);
    return inputs;
}

TEST(SpecialValues, EveryElementwiseOpOfFloats) {
    const std::pair<const char*, Unary> unary[] = {{"neg", [](const Operand& x) { return -x.tensor(); }},
                                                   {"abs", abs},
                                                   {"exp", exp},
                                                   {"log", log},
                                                   {"sqrt", sqrt},
                                                   {"rsqrt", rsqrt},
                                                   {"sin", sin},
                                                   {"cos", cos},
                                                   {"tanh", tanh},
                                                   {"erf", erf},
                                                   {"floor", floor}};
    const std::pair<const char*, Binary> binary[] = {
        {"add", [](const Operand& x, const Operand& z) { return x.tensor() + z; }},
        {"sub", [](const Operand& x, const Operand& z) { return x.tensor() - z; }},
        {"mul", [](const Operand& x, const Operand& z) { return x.tensor() * z; }},
        {"div", [](const Operand& x, const Operand& z) { return x.tensor() / z; }},
        {"max", max},
        {"min", min},
        {"pow", pow},
        {"eq", [](const Operand& x, const Operand& z) { return x.tensor() == z; }},
        {"lt", [](const Operand& x, const Operand& z) { return x.tensor() < z; }},
        {"ge", [](const Operand& x, const Operand& z) { return x.tensor() >= z; }}};
    for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
        SCOPED_TRACE(std::string(to_string(dtype)));
        const Pairs pairs = pairs_of(specials(dtype));
        Graph g("g");
        const Shape shape{static_cast<std::int64_t>(pairs.first.size())};
        const Tensor x = g.input("x", dtype, shape), z = g.input("z", dtype, shape);
        for (const auto& [name, op] : unary) g.output(name, op(x));
        for (const auto& [name, op] : binary) g.output(name, op(x, z));
        g.output("zero of either sign", x + 0.0);
        g.output("half power", pow(x, 0.5));
        for (const DType to : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i8,
                               DType::u8, DType::boolean})
            g.output("to " + std::string(to_string(to)), cast(x, to));
        expect_agreement(g, inputs_of(dtype, pairs), {"max", "min"});
    }
}

TEST(SpecialValues, EveryElementwiseOpOfIntegers) {
    for (const DType dtype : {DType::i8, DType::u8, DType::i32, DType::i64}) {
        SCOPED_TRACE(std::string(to_string(dtype)));
        const Pairs pairs = pairs_of(specials(dtype));
        Graph g("g");
        const Shape shape{static_cast<std::int64_t>(pairs.first.size())};
        const Tensor x = g.input("x", dtype, shape), z = g.input("z", dtype, shape);
        g.output("add", x + z);
        g.output("sub", x - z);
        g.output("mul", x * z);
        g.output("div", x / z);
        g.output("max", max(x, z));
        g.output("min", min(x, z));
        g.output("neg", -x);
        g.output("abs", abs(x));
        g.output("lt", x < z);
        g.output("sum", sum(x, {-1}));
        g.output("max_reduce", max_reduce(x, {-1}));
        g.output("argmax", argmax(x, -1));
        for (const DType to : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i8,
                               DType::u8, DType::boolean})
            g.output("to " + std::string(to_string(to)), cast(x, to));
        expect_agreement(g, inputs_of(dtype, pairs), {});
    }
}

// Rows with one special element each, and rows of one special value.
TEST(SpecialValues, RowsOfCompositesAndReductions) {
    const std::vector<double> values = specials(DType::f32);
    constexpr std::size_t width = 37;
    std::vector<double> rows;
    for (const double value : values)
        for (const std::size_t position : {std::size_t{0}, std::size_t{35}, width})
            for (std::size_t i = 0; i < width; ++i)
                rows.push_back(i == position || position == width ? value : static_cast<double>(i % 7) / 8);
    const auto count = static_cast<std::int64_t>(rows.size() / width);
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {count, 37}),
                 one = g.constant(DType::f32, {37}, std::vector<double>(37, 1));
    g.output("softmax", softmax(x));
    g.output("log_softmax", log_softmax(x));
    g.output("layer_norm", layer_norm(x, one, one * 0.5));
    g.output("rms_norm", rms_norm(x, one));
    g.output("sum", sum(x, {-1}));
    g.output("max_reduce", max_reduce(x, {-1}));
    g.output("argmax", argmax(x, -1));
    g.output("mean", mean(x, {-1}));
    g.output("relu", relu(x));
    g.output("silu", silu(x));
    g.output("sigmoid", sigmoid(x));
    g.output("gelu", gelu(x));
    g.output("gelu_tanh", gelu_tanh(x));
    interpreter::Inputs inputs;
    inputs.tensors["x"] = interpreter::make_value(DType::f32, {count, 37}, rows);
    const ReferenceResults expected = reference_results(*g.data(), inputs);
    for (const auto& [kind, context] : all_contexts()) {
        const auto set = runtime::parse_program_set(compile(g, context, {.verify = true}).program());
        EXPECT_EQ(difference(CompiledRun(set, context, inputs).run(inputs), expected), "") << kind;
    }
}

// Beyond 64 bits a count wraps to the lowest integer; as a float each number is rounded once.
TEST(SpecialValues, IntegersAtTheirLimits) {
    constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max(), first = -last - 1;
    constexpr std::int64_t half = (std::int64_t{1} << 60) + (std::int64_t{1} << 36);  // between two f32
    Graph g;
    g.output("wraps", iota(g, 3, DType::i64, last - 1));
    g.output("end", slice(iota(g, 5, DType::i64, last - 1), 0, 2, 4));
    g.output("rounds", iota(g, 2, DType::f32, half + 1));
    CompiledGraph model = compile(g, Context());
    model.run();
    EXPECT_THAT(model.output("wraps").as<std::int64_t>(), testing::ElementsAre(last - 1, last, first));
    EXPECT_THAT(model.output("end").as<std::int64_t>(), testing::ElementsAre(first, first + 1));
    EXPECT_THAT(model.output("rounds").as<float>(), testing::ElementsAre(0x1.000002p60F, 0x1.000002p60F));
    Graph outside;
    const Tensor x = outside.input("x", DType::f32, {3});
    outside.output("y", gather(x, iota(outside, 2, DType::i64, last)));
    CompiledGraph refused = compile(outside, Context());
    refused.set("x", std::vector{1.0F, 2.0F, 3.0F});
    EXPECT_THROW(refused.run(), Error);
}

/// The result of each context for the element `input`, cast to the dtype.
std::vector<double> each_result(DType dtype, float input, Tensor (*work)(const Tensor& x),
                                const std::vector<std::string>& disable) {
    std::vector<double> results;
    for (const auto& [kind, context] : all_contexts()) {
        Graph g("g");
        g.output("y", cast(work(cast(g.input("x", DType::f32, {1}), dtype)), DType::f64));
        CompiledGraph model = compile(g, context, {.disable = disable});
        model.set("x", {input});
        model.run();
        results.push_back(model.output("y").as<double>()[0]);
    }
    return results;
}

// An elementwise group computes f16 in f32 and rounds its result; f32 overflows at the step that exceeds its range.
TEST(SpecialValues, StepsOfAGroupAreRoundedToF32) {
    const auto add_and_subtract = [](const Tensor& h) { return (h + 1024) - h; };
    EXPECT_THAT(each_result(DType::f16, 0.3F, add_and_subtract, {}), testing::Each(1024));
    EXPECT_THAT(each_result(DType::f16, 0.3F, add_and_subtract, {"elementwise"}), testing::Each(1023.5));
    const auto too_large = [](const Tensor& x) { return x * 3e38F / 3e38F; };
    for (const DType dtype : {DType::f32, DType::bf16})
        EXPECT_THAT(each_result(dtype, 3e38F, too_large, {}), testing::Each(infinity));
    EXPECT_THAT(each_result(DType::f32, 3e38F, [](const Tensor& x) { return abs(x) * abs(x); }, {}),
                testing::Each(infinity));
}

}  // namespace
}  // namespace cairn::test
