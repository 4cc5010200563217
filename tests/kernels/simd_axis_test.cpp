#include "tests/kernels/row_references.hpp"
#include "tests/kernels/simd_case.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace cairn::test {
namespace {

/// A dense tensor [outer, length, inner], reduced along the middle axis.
struct Sizes {
    std::int64_t outer, length, inner;
    std::string text() const {
        return "[" + std::to_string(outer) + "," + std::to_string(length) + "," + std::to_string(inner) + "]";
    }
    std::int64_t index_of(std::int64_t column, std::int64_t i) const {
        return (column / inner * length + i) * inner + column % inner;
    }
    Row column(const Operand& operand, std::int64_t number) const {
        Row values;
        for (std::int64_t i = 0; i < length; ++i) values.push_back(operand.get(index_of(number, i)));
        return values;
    }
};

Row row_of(const Operand& operand) {
    Row values;
    for (std::int64_t i = 0; i < operand.size(); ++i) values.push_back(operand.get(i));
    return values;
}

/// Expects each column of output 0 to be `expected` of the column of input 0.
void expect_columns(const SimdCase& c, const Sizes& sizes, const std::function<Row(const Row&)>& expected,
                    double tolerance) {
    for (std::int64_t n = 0; n < sizes.outer * sizes.inner; ++n) {
        const Row e = expected(sizes.column(c.inputs[0], n)), a = sizes.column(c.outputs[0], n);
        for (std::size_t i = 0; i < e.size(); ++i)
            ASSERT_TRUE(is_near(a[i], e[i], tolerance))
                << to_string(c.problem) << " column " << n << " element " << i << ": " << a[i] << " for " << e[i];
    }
}

class SimdAxis : public SimdLevel {};

// Widths around the vectors and strips of every level; more rows than are summed at once.
const Sizes all_sizes[] = {{1, 5, 1},  {2, 1, 3},   {3, 40, 4},  {1, 70, 7},   {2, 33, 16}, {1, 9, 17},
                           {2, 7, 31}, {1, 12, 63}, {1, 66, 64}, {2, 100, 65}, {1, 3, 200}, {40, 2, 9}};

TEST_P(SimdAxis, Softmaxes) {
    std::mt19937 random(1);
    for (const Sizes& sizes : all_sizes)
        for (const char* name : {"softmax", "log_softmax"}) {
            SimdCase c(std::string(name) + " axis=(1) | f32" + sizes.text() + " -> f32" + sizes.text());
            c.inputs[0].fill(random, 4);
            SimdCase over = c;
            over.inputs[0] = c.inputs[0].copy();
            over.outputs[0].share(over.inputs[0]);
            c.run(kernel(name), 2);
            const auto expected = [&](const Row& x) { return name[0] == 's' ? softmax(x) : log_softmax(x); };
            expect_columns(c, sizes, expected, 2e-6);
            over.run(kernel(name), 3);
            EXPECT_TRUE(over.outputs[0].same_bits(c.outputs[0])) << "in place";
        }
}

TEST_P(SimdAxis, SoftmaxOfSpecialColumnsAndShortRows) {
    const double columns[][5] = {{-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY},
                                 {INFINITY, 0, 1, 2, 3},
                                 {NAN, 1, 2, 3, 4},
                                 {1, 2, 3, 4, NAN},
                                 {-INFINITY, 0, -1000, 88, 3e38},
                                 {-3e38, -3e38, -3e38, -3e38, -3e38},
                                 {0, 1e-45, -1e-45, 5, -5}};
    for (const Sizes& sizes : {Sizes{1, 5, 35}, Sizes{35, 5, 1}}) {
        SimdCase c("softmax axis=(-2) | f32" + sizes.text() + " -> f32" + sizes.text());
        for (std::int64_t n = 0; n < 35; ++n)
            for (std::int64_t i = 0; i < 5; ++i) c.inputs[0].set(sizes.index_of(n, i), columns[n % 7][i]);
        c.run(kernel("softmax"));
        expect_columns(c, sizes, softmax, 2e-6);
    }
}

// Columns processed piece by piece: a maximum that comes late, pieces that are all -inf.
TEST_P(SimdAxis, SoftmaxOfSpecialLongColumns) {
    const Sizes sizes{1, 1100, 8};
    const auto element = [](std::int64_t n, std::int64_t i) -> double {
        const double some = static_cast<double>(i * 37 % 11) - 5;
        switch (n) {
            case 0: return -INFINITY;
            case 1: return i < 70 ? -INFINITY : some;
            case 2: return i < 40 ? some : -INFINITY;
            case 3: return i == 3 ? NAN : -INFINITY;
            case 4: return i == 500 ? INFINITY : some;
            case 5: return static_cast<double>(i) / 8;
            case 6: return i == 1099 ? NAN : some;
            default: return -static_cast<double>(i) / 8;
        }
    };
    for (const std::string name : {"softmax", "log_softmax"}) {
        SimdCase c(name + " axis=(-2) | f32" + sizes.text() + " -> f32" + sizes.text());
        for (std::int64_t n = 0; n < sizes.inner; ++n)
            for (std::int64_t i = 0; i < sizes.length; ++i) c.inputs[0].set(sizes.index_of(n, i), element(n, i));
        c.run(kernel(name), 2);
        expect_columns(
            c, sizes, [&](const Row& x) { return name[0] == 's' ? softmax(x) : log_softmax(x); }, 2e-6);
    }
}

// A variance combined from pieces, each with its own mean far from zero.
TEST_P(SimdAxis, VariancesOfLongColumnsAreCombined) {
    const Sizes sizes{1, 1100, 20};
    SimdCase c("layer_norm axis=(1) eps=1e-05 | f32" + sizes.text() + " -> f32" + sizes.text());
    for (std::int64_t n = 0; n < sizes.inner; ++n)
        for (std::int64_t i = 0; i < sizes.length; ++i)
            c.inputs[0].set(sizes.index_of(n, i),
                            1000 + static_cast<double>(i / 50 % (n + 1)) + 0.25 * static_cast<double>(i % 3));
    c.run(kernel("layer_norm"), 2);
    expect_columns(
        c, sizes, [](const Row& x) { return normalized(x, true, 1e-5, {}, {}); }, 2e-5);
}

TEST_P(SimdAxis, NormsWithAndWithoutGammaAndBeta) {
    std::mt19937 random(2);
    for (const Sizes& sizes : all_sizes)
        for (const std::string name : {"layer_norm", "rms_norm"})
            for (int factors = 0; factors <= (name == "layer_norm" ? 2 : 1); ++factors) {
                std::string text = name + " axis=(1) eps=0.001 | f32" + sizes.text();
                for (int i = 0; i < factors; ++i) text += " f32[" + std::to_string(sizes.length) + "]";
                SimdCase c(text + " -> f32" + sizes.text());
                for (Operand& input : c.inputs) input.fill(random);
                c.run(kernel(name), 2);
                const Row gamma = factors > 0 ? row_of(c.inputs[1]) : Row(),
                          beta = factors > 1 ? row_of(c.inputs[2]) : Row();
                const auto norm = [&](const Row& x) { return normalized(x, name == "layer_norm", 0.001, gamma, beta); };
                expect_columns(c, sizes, norm, 1e-5);
            }
}

TEST_P(SimdAxis, NormsOfRowsWithoutGammaOrBeta) {
    std::mt19937 random(3);
    const Sizes sizes{7, 100, 1};
    for (const std::string name : {"layer_norm", "rms_norm", "add_layer_norm", "add_rms_norm"})
        for (const bool gamma : {false, true}) {
            const bool adds = name.starts_with("add"), centered = name.ends_with("layer_norm");
            const std::string x = " f32[7,100]";
            SimdCase c(name + " eps=0.001 |" + x + (adds ? x : "") + (gamma ? " f32[100]" : "") + " ->" + x +
                       (adds ? x : ""));
            for (Operand& input : c.inputs) input.fill(random);
            c.run(kernel(name), 2);
            const Operand& sum = adds ? c.outputs[0] : c.inputs[0];
            for (std::int64_t r = 0; r < 7; ++r) {
                const Row e =
                    normalized(sizes.column(sum, r), centered, 0.001, gamma ? row_of(c.inputs.back()) : Row(), {});
                for (std::int64_t i = 0; i < 100; ++i)
                    ASSERT_TRUE(is_near(c.outputs.back().get(r * 100 + i), e[static_cast<std::size_t>(i)], 3e-6))
                        << name;
            }
        }
}

/// The level's kernel of the Problem's definition that accepts it.
const Kernel& accepting(const std::string& level, const Problem& problem) {
    for (const Kernel& kernel : kernels_of(level))
        if (kernel.definition == problem.definition && kernel.accepts(problem).empty()) return kernel;
    throw std::out_of_range("no kernel for " + to_string(problem));
}

/// Half a unit in the last place of a number of f16 or bf16.
double half_unit(DType dtype, double number) {
    const auto [digits, lowest] = dtype == DType::f16 ? std::pair{11, -13} : std::pair{8, -125};
    int exponent = 0;
    std::frexp(number, &exponent);
    return std::ldexp(0.5, std::max(exponent, lowest) - digits);
}

// Intermediate results are not rounded: exponentials of a row would lose digits in f16, and sums in bf16.
TEST_P(SimdAxis, NarrowResultsAreRoundedOnce) {
    std::mt19937 random(7);
    for (const DType dtype : {DType::f16, DType::bf16})
        for (const Sizes& sizes : {Sizes{2, 3000, 1}, Sizes{37, 9, 1}, Sizes{2, 300, 21}})
            for (const std::string name : {"softmax", "log_softmax", "layer_norm", "rms_norm"}) {
                const std::string type(to_string(dtype)),
                    factor = " " + type + "[" + std::to_string(sizes.length) + "]";
                const bool is_norm = name.ends_with("norm"), is_layer = name == "layer_norm";
                SimdCase c(name + " axis=(1)" + (is_norm ? " eps=0.001" : "") + " | " + type + sizes.text() +
                           (is_norm ? factor : "") + (is_layer ? factor : "") + " -> " + type + sizes.text());
                for (Operand& input : c.inputs) input.fill(random, 3);
                const std::string failure = c.run(accepting(GetParam(), c.problem), 2);
                ASSERT_EQ(failure, "");
                const Row gamma = is_norm ? row_of(c.inputs[1]) : Row(), beta = is_layer ? row_of(c.inputs[2]) : Row();
                for (std::int64_t n = 0; n < sizes.outer * sizes.inner; ++n) {
                    const Row x = sizes.column(c.inputs[0], n), y = sizes.column(c.outputs[0], n);
                    const Row e = is_norm                 ? normalized(x, is_layer, 0.001, gamma, beta)
                                  : name == "log_softmax" ? log_softmax(x)
                                                          : softmax(x);
                    for (std::size_t i = 0; i < e.size(); ++i)
                        ASSERT_NEAR(y[i], e[i], half_unit(dtype, e[i]) + 4e-6 * (is_norm ? 10 : std::fabs(e[i])))
                            << to_string(c.problem) << " column " << n << " element " << i;
                }
            }
}

// A column of equal values has that value as its mean, however its sum is rounded.
TEST_P(SimdAxis, ColumnsOfEqualValuesNormalizeToZero) {
    const Sizes sizes{1, 300, 20};
    SimdCase c("layer_norm axis=(1) eps=1e-12 | f32" + sizes.text() + " -> f32" + sizes.text());
    for (std::int64_t i = 0; i < c.inputs[0].size(); ++i) c.inputs[0].set(i, 1.1 + static_cast<double>(i % 20));
    c.run(kernel("layer_norm"));
    for (std::int64_t i = 0; i < c.outputs[0].size(); ++i) EXPECT_EQ(c.outputs[0].get(i), 0) << i;
}

// Elements that differ only in their last digits, along columns and short rows.
TEST_P(SimdAxis, CloseElementsAreAccurate) {
    for (const Sizes& sizes : {Sizes{1, 3, 20}, Sizes{20, 3, 1}}) {
        SimdCase c("layer_norm axis=(1) eps=1e-12 | f32" + sizes.text() + " -> f32" + sizes.text());
        for (std::int64_t n = 0; n < 20; ++n)
            for (std::int64_t i = 0; i < 3; ++i)
                c.inputs[0].set(sizes.index_of(n, i), 1 + 0x1p-20 * static_cast<double>((n + 1) * i * i));
        c.run(kernel("layer_norm"));
        const auto norm = [](const Row& x) { return normalized(x, true, 1e-12, {}, {}); };
        expect_columns(c, sizes, norm, 1e-5);
    }
}

TEST_P(SimdAxis, ReductionsAcrossColumns) {
    std::mt19937 random(4);
    for (const Sizes& sizes :
         {Sizes{2, 0, 5}, Sizes{1, 70, 7}, Sizes{3, 40, 64}, Sizes{1, 9, 1100}, Sizes{2, 33, 2500}, Sizes{600, 3, 9}})
        for (const std::string op : {"sum", "mean", "max_reduce"}) {
            if (sizes.length == 0 && op == "mean") continue;
            const Sizes kept{sizes.outer, 1, sizes.inner};
            SimdCase c(op + " axes=(-2)" + (op == "mean" ? " keepdims=(1)" : "") + " | f32" + sizes.text() + " -> f32" +
                       kept.text());
            c.inputs[0].fill(random);
            if (sizes.length > 2) {
                c.inputs[0].set(sizes.index_of(3, 1), NAN);
                c.inputs[0].set(sizes.index_of(4, 2), -INFINITY);
            }
            c.run(kernel(op), 3);
            for (std::int64_t n = 0; n < sizes.outer * sizes.inner; ++n) {
                double sum = 0, largest = -INFINITY;
                for (const double v : sizes.column(c.inputs[0], n)) {
                    sum += v;
                    if (largest == largest && (v > largest || v != v)) largest = v;
                }
                const double e = op == "sum" ? sum : op == "mean" ? sum / static_cast<double>(sizes.length) : largest;
                ASSERT_TRUE(is_near(c.outputs[0].get(n), e, 1e-5))
                    << to_string(c.problem) << " column " << n << ": " << c.outputs[0].get(n) << " for " << e;
            }
        }
}

TEST(SimdAxisRows, RefusalsHaveReasons) {
    const auto refusal = [&](const std::string& text) {
        const Problem problem = parse_problem(text, *Symbols::create());
        return find(kernels_of("baseline"), problem.definition).accepts(problem);
    };
    EXPECT_EQ(refusal("sum axes=(1,3) | f32[2,3,4,5] -> f32[2,1,4,1]"), "");
    EXPECT_EQ(refusal("sum axes=(1) | bool[2,3] -> bool[2,1]"), "needs numbers");
    EXPECT_EQ(refusal("sum axes=(1) | f16[2,3] -> f32[2,1]"), "has a wrong result dtype");
    EXPECT_EQ(refusal("sum axes=(2) | f32[2,3] -> f32[2,1]"), "needs axes of x");
    EXPECT_EQ(refusal("mean axes=(1) keepdims=(0) | f32[2,3,4] -> f32[2,3]"),
              "needs an output of one element for all along the axes");
    EXPECT_EQ(refusal("argmax axis=(0) | f32[2,3] -> i64[1,3]"), "has a wrong result dtype");
    EXPECT_EQ(refusal("softmax axis=(0) | f32[2,3] -> f32[2,3]:(1,2)"),
              "needs a contiguous last axis, and axes that merge into one stride");
    EXPECT_EQ(refusal("softmax axis=(1) | f32[2,3]:(1,2) -> f32[2,3]"), "needs a contiguous last axis");
    EXPECT_EQ(refusal("layer_norm axis=(1) eps=1 | f32[2,3,4] f32[4] -> f32[2,3,4]"),
              "needs contiguous gamma and beta of the axis");
    EXPECT_EQ(refusal("rms_norm eps=1 | f32[2,3] f32[3] f32[3] -> f32[2,3]"), "a wrong number of operands");
    EXPECT_EQ(refusal("add_rms_norm axis=(0) eps=1 | f32[2,3] f32[2,3] -> "
                      "f32[2,3] f32[2,3]"),
              "works along the last axis only");
}

INSTANTIATE_TEST_SUITE_P(Levels, SimdAxis, testing::ValuesIn(level_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cairn::test
