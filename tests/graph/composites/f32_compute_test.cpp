#include "cairn/cairn.hpp"
#include "graph/interpreter/interpreter.hpp"
#include "graph/ir/scalar_cast.hpp"
#include "graph/types/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

/// Composites of f16 and bf16 give what the same composite gives in float64 on the same operands, rounded once: for
/// every choice of axes, at magnitudes where a 16-bit intermediate result would overflow, vanish or lose digits, and
/// with each set of compile options that leaves another part of the work to single ops.
namespace cairn::test {
namespace {

using Sizes = std::vector<std::int64_t>;
using Operands = std::vector<Tensor>;
using Tensors = std::vector<Tensor>;

/// Elements of operand number `operand`, by index.
struct Magnitude {
    const char* name;
    double (*element)(DType dtype, std::size_t operand, std::size_t i);
    bool is_tiny = false;
};

double largest(DType dtype) { return dtype == DType::f16 ? 65504 : 0x1.fep20; }
double least(DType dtype) { return dtype == DType::f16 ? 0x1p-24 : 0x1p-133; }

const Magnitude magnitudes[] = {
    {"1000 everywhere", [](DType, std::size_t, std::size_t) { return 1000.0; }},
    {"around 1000", [](DType, std::size_t, std::size_t i) { return 1000.0 + 8.0 * static_cast<double>(i * 5 % 7); }},
    {"the largest", [](DType dtype, std::size_t, std::size_t) { return largest(dtype); }},
    {"the largest of both signs",
     [](DType dtype, std::size_t operand, std::size_t i) {
         return (i + operand) % 2 == 0 ? largest(dtype) : -largest(dtype);
     }},
    {"subnormal",
     [](DType dtype, std::size_t, std::size_t i) { return least(dtype) * static_cast<double>(i * 3 % 5 + 1); }, true},
    {"of both signs", [](DType, std::size_t operand,
                         std::size_t i) { return (static_cast<double>((i * 37 + operand * 11) % 97) - 48) / 4; }},
};

/// A composite with the shapes of its operands. `build` makes one or more outputs.
struct Case {
    std::string name;
    std::vector<Sizes> operands;
    std::function<Tensors(const Operands&)> build;
    double noise = 0;                ///< error of f32 where terms cancel
    bool scales_and_shifts = false;  ///< operands 1 and 2 are gamma and beta, numbers near 1 at every magnitude
};

const std::vector<std::vector<int>>& all_axes(std::size_t rank) {
    static const std::vector<std::vector<int>> of[] = {
        {{}}, {{}, {0}}, {{}, {0}, {-1}, {0, 1}}, {{}, {0}, {1}, {-1}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}}};
    return of[rank];
}

/// The shapes on which reductions and norms are tested: many terms, one, and none.
const std::vector<Sizes>& shapes() {
    static const std::vector<Sizes> list{{4, 3, 100}, {2, 4096}, {4096, 2}, {4096}, {3, 1, 4}, {3, 0, 4}};
    return list;
}

void add_reductions(std::vector<Case>& cases) {
    for (const Sizes& shape : shapes())
        for (const bool keepdims : {false, true}) {
            const auto add = [&](const std::string& name, Tensor (*reduce)(const Operand&, const IntList&, bool)) {
                cases.push_back({name, {shape}, [=](const Operands& x) {
                                     Tensors results;
                                     for (const std::vector<int>& axes : all_axes(shape.size()))
                                         results.push_back(reduce(x[0], axes, keepdims));
                                     return results;
                                 }});
            };
            add("mean", mean);
            add("variance", variance);
        }
}

// Norms along each axis; gamma and beta have the size of that axis.
void add_norms(std::vector<Case>& cases) {
    for (const Sizes& shape : shapes())
        for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
            const Sizes row{shape[static_cast<std::size_t>(axis)]};
            cases.push_back({"softmax", {shape}, [=](const Operands& x) { return Tensors{softmax(x[0], axis)}; }});
            cases.push_back(
                {"log_softmax", {shape}, [=](const Operands& x) { return Tensors{log_softmax(x[0], axis)}; }, 2e-7});
            cases.push_back({"layer_norm",
                             {shape, row, row},
                             [=](const Operands& x) {
                                 return Tensors{layer_norm(x[0], x[1], x[2], 1e-5, axis),
                                                layer_norm(x[0], x[1], 1e-5, axis), layer_norm(x[0], 1e-5, axis)};
                             },
                             1e-4,
                             true});
            cases.push_back({"rms_norm",
                             {shape, row},
                             [=](const Operands& x) {
                                 return Tensors{rms_norm(x[0], x[1], 1e-6, axis), rms_norm(x[0], 1e-6, axis)};
                             },
                             0,
                             true});
        }
}

void add_images(std::vector<Case>& cases) {
    for (const Sizes& image : {Sizes{2, 4, 9, 10}, Sizes{1, 4, 70}, Sizes{2, 4, 1, 1}}) {
        cases.push_back({"group_norm",
                         {image, {4}, {4}},
                         [](const Operands& x) {
                             return Tensors{group_norm(x[0], 2, x[1], x[2]), instance_norm(x[0], x[1], x[2])};
                         },
                         1e-4,
                         true});
        cases.push_back({"batch_norm",
                         {image, {4}, {4}, {4}, {4}},
                         [](const Operands& x) { return Tensors{batch_norm(x[0], x[1], x[2], x[3], abs(x[4]))}; },
                         1e-4,
                         true});
        cases.push_back(
            {"upsample_linear", {image}, [](const Operands& x) { return Tensors{upsample_linear(x[0], 3)}; }, 1e-6});
    }
    const Sizes image{2, 3, 12, 13};
    cases.push_back({"avg_pool", {image}, [](const Operands& x) {
                         return Tensors{avg_pool(x[0], {3, 2}), avg_pool(x[0], 3, {.stride = 1, .padding = 1}),
                                        avg_pool(x[0], 3, {.stride = 2, .padding = 1, .count_padding = true}),
                                        avg_pool(x[0], 5, {.stride = 3, .ceil_mode = true}), avg_pool(x[0], 12)};
                     }});
    cases.push_back(
        {"avg_pool", {{1, 2, 5000}}, [](const Operands& x) {
             return Tensors{avg_pool(x[0], 4100, {.stride = 300}), avg_pool(x[0], 4100, {.stride = 300, .padding = 7})};
         }});
    cases.push_back({"resize_linear", {image}, [](const Operands& x) {
                         return Tensors{resize_linear(x[0], {7, 30}),
                                        resize_linear(x[0], {5, 5}, CoordinateTransformation::align_corners)};
                     }});
}

void add_activations(std::vector<Case>& cases) {
    cases.push_back({"sigmoid", {{2, 97}, {2, 97}}, [](const Operands& x) {
                         return Tensors{sigmoid(x[0]), silu(x[0]), swiglu(x[0], x[1])};
                     }});
    cases.push_back({"gelu", {{2, 97}}, [](const Operands& x) { return Tensors{gelu(x[0]), gelu_tanh(x[0])}; }, 2e-6});
    cases.push_back({"geglu", {{2, 97}, {2, 97}}, [](const Operands& x) { return Tensors{geglu(x[0], x[1])}; }, 2e-5});
}

void add_attention(std::vector<Case>& cases) {
    const Sizes q{1, 4, 5, 16}, k{1, 2, 9, 16}, v{1, 2, 9, 6};
    cases.push_back({"attention", {q, k, v}, [](const Operands& x) {
                         return Tensors{attention(x[0], x[1], x[2]), attention(x[0], x[1], x[2], {.causal = true})};
                     }});
    cases.push_back({"attention with a mask", {q, k, v, {1, 1, 5, 9}}, [](const Operands& x) {
                         return Tensors{attention(x[0], x[1], x[2], x[3])};
                     }});
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    add_reductions(cases);
    add_norms(cases);
    add_images(cases);
    add_activations(cases);
    add_attention(cases);
    return cases;
}

struct Built {
    Graph graph;
    std::vector<std::string> inputs;
};

Built build(const Case& test, DType dtype) {
    Built built;
    Operands operands;
    for (const Sizes& shape : test.operands) {
        built.inputs.push_back("x" + std::to_string(operands.size()));
        operands.push_back(built.graph.input(built.inputs.back(), dtype, Shape(shape.begin(), shape.end())));
    }
    const Tensors results = test.build(operands);
    for (std::size_t i = 0; i < results.size(); ++i) built.graph.output("y" + std::to_string(i), results[i]);
    return built;
}

std::size_t count_of(const Sizes& shape) {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    return count;
}

std::vector<double> elements(const Case& test, const Magnitude& magnitude, DType dtype, std::size_t operand) {
    const bool is_factor = (operand == 1 || operand == 2) && test.scales_and_shifts;
    std::vector<double> result;
    for (std::size_t i = 0; i < count_of(test.operands[operand]); ++i)
        result.push_back(is_factor ? 0.5 + static_cast<double>(i % 5) / 4
                                   : ir::round_to(dtype, magnitude.element(dtype, operand, i)));
    return result;
}

std::vector<std::uint16_t> stored(DType dtype, const std::vector<double>& numbers) {
    std::vector<std::uint16_t> bits;
    for (const double number : numbers)
        bits.push_back(dtype == DType::f16 ? types::f64_to_f16(number) : types::f64_to_bf16(number));
    return bits;
}

double number_in(DType dtype, std::uint16_t bits) {
    return dtype == DType::f16 ? types::f16_to_f32(bits) : types::bf16_to_f32(bits);
}

// One rounding and the error of f32 together are less than the distance to the next number.
bool is_rounded(DType dtype, double got, double exact, double noise) {
    const double wanted = ir::round_to(dtype, exact);
    if (std::isnan(wanted) || std::isnan(got)) return std::isnan(wanted) && std::isnan(got);
    if (got == wanted) return true;
    if (std::isinf(wanted)) return ir::round_to(dtype, exact * (1 - 0x1p-20)) == got;
    const double neighbour = std::max(std::fabs(exact) * (dtype == DType::f16 ? 0x1p-10 : 0x1p-7), least(dtype));
    return std::fabs(got - exact) <= neighbour + noise;
}

struct Options {
    const char* name;
    bool reference_only;
    std::vector<std::string> disable;
};
const Options option_sets[] = {{"default", false, {}},
                               {"reference kernels", true, {}},
                               {"without fuse", false, {"fuse"}},
                               {"without fuse and elementwise", false, {"fuse", "elementwise"}},
                               {"without simplify", false, {"simplify"}},
                               {"without simplify, fuse, elementwise", false, {"simplify", "fuse", "elementwise"}}};

const Context& context_of(const Options& options) {
    static const Context all, reference({.reference_only = true});
    return options.reference_only ? reference : all;
}

void expect_rounded_once(const Case& test, DType dtype, const Options& options) {
    const Built narrow = build(test, dtype), exact = build(test, DType::f64);
    CompiledGraph model = compile(narrow.graph, context_of(options), {.disable = options.disable});
    for (const Magnitude& magnitude : magnitudes) {
        interpreter::Inputs inputs;
        std::map<std::string, std::vector<std::uint16_t>> data;
        for (std::size_t i = 0; i < test.operands.size(); ++i) {
            const std::vector<double> numbers = elements(test, magnitude, dtype, i);
            inputs.tensors.emplace(narrow.inputs[i], interpreter::make_value(DType::f64, test.operands[i], numbers));
            auto& bits = data[narrow.inputs[i]] = stored(dtype, numbers);
            bits.reserve(1);  // gives an empty vector an address
            model.set(narrow.inputs[i], static_cast<const void*>(bits.data()), test.operands[i]);
        }
        model.run();
        const double noise = magnitude.is_tiny ? 0 : test.noise;
        for (const auto& [name, wanted] : interpreter::interpret(*exact.graph.data(), inputs).outputs) {
            const OutputView got = model.output(name);
            ASSERT_EQ(got.dtype, dtype);
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                const double number = number_in(dtype, got.as<std::uint16_t>()[i]);
                ASSERT_TRUE(is_rounded(dtype, number, wanted.data[i], noise))
                    << name << '[' << i << "] is " << number << ", in float64 " << wanted.data[i] << ", of "
                    << magnitude.name;
            }
        }
    }
}

class CompositePrecision : public testing::TestWithParam<std::tuple<DType, std::size_t>> {};

TEST_P(CompositePrecision, IsRoundedOnce) {
    const auto& [dtype, number] = GetParam();
    const Options& options = option_sets[number];
    for (const Case& test : all_cases()) {
        std::string shapes;
        for (const Sizes& shape : test.operands) shapes += ' ' + to_string(dtype, Shape(shape.begin(), shape.end()));
        SCOPED_TRACE(test.name + shapes + ", " + options.name);
        expect_rounded_once(test, dtype, options);
    }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, CompositePrecision,
                         testing::Combine(testing::Values(DType::f16, DType::bf16),
                                          testing::Range<std::size_t>(0, std::size(option_sets))));

}  // namespace
}  // namespace cairn::test
