#include "tests/kernels/row_references.hpp"
#include "tests/kernels/simd_case.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace cairn::test {
namespace {

Row row_of(const Operand& operand, std::int64_t row, std::int64_t width) {
    Row values;
    for (std::int64_t i = 0; i < width; ++i) values.push_back(operand.get(row * width + i));
    return values;
}

void expect_row(const Operand& actual, std::int64_t row, const Row& expected, double tolerance,
                const std::string& text) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double a = actual.get(row * static_cast<std::int64_t>(expected.size()) + static_cast<std::int64_t>(i)),
                     e = expected[i];
        ASSERT_TRUE(is_near(a, e, tolerance))
            << text << " row " << row << " element " << i << ": " << a << " for " << e;
    }
}

class SimdLastAxis : public SimdLevel {};

std::string sizes(std::int64_t rows, std::int64_t width) {
    return "[" + std::to_string(rows) + "," + std::to_string(width) + "]";
}
std::string strided(std::int64_t rows, std::int64_t width) {
    return sizes(rows, width) + ":(" + std::to_string(width + 3) + ",1)";
}

TEST_P(SimdLastAxis, Softmaxes) {
    std::mt19937 random(1);
    for (const std::int64_t width : {1, 2, 7, 8, 16, 17, 31, 64, 100, 1000}) {
        for (const std::int64_t rows : {1, 3, 40}) {
            for (const char* name : {"softmax", "log_softmax"}) {
                SimdCase c(std::string(name) + " axis=(-1) | f32" + strided(rows, width) + " -> f32" +
                           strided(rows, width));
                c.inputs[0].fill(random, 4);
                c.run(kernel(name), 1 + static_cast<int>(rows % 3));
                for (std::int64_t r = 0; r < rows; ++r) {
                    const Row x = row_of(c.inputs[0], r, width);
                    expect_row(c.outputs[0], r, name[0] == 's' ? softmax(x) : log_softmax(x), 1e-6, name);
                }
                EXPECT_EQ(c.outputs[0].first_touched_gap(), -1);
            }
        }
    }
}

TEST_P(SimdLastAxis, SoftmaxOfSpecialRows) {
    const double rows[][5] = {{-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY},
                              {INFINITY, 0, 1, 2, 3},
                              {NAN, 1, 2, 3, 4},
                              {1, 2, 3, 4, NAN},
                              {-INFINITY, 0, -1000, 88, 3e38},
                              {-3e38, -3e38, -3e38, -3e38, -3e38},
                              {0, 1e-45, -1e-45, 5, -5}};
    for (const auto& row : rows) {
        SimdCase c("softmax axis=(-1) | f32[1,5] -> f32[1,5]");
        for (int i = 0; i < 5; ++i) c.inputs[0].set(i, row[i]);
        const Row expected = softmax(row_of(c.inputs[0], 0, 5));
        c.run(kernel("softmax"));
        expect_row(c.outputs[0], 0, expected, 1e-6, "softmax");
    }
}

TEST_P(SimdLastAxis, Normalizations) {
    std::mt19937 random(2);
    for (const std::int64_t width : {1, 3, 8, 15, 33, 128, 768, 3001}) {
        for (const std::int64_t rows : {1, 5, 30}) {
            const std::string x = " f32" + strided(rows, width), row = " f32[" + std::to_string(width) + "]",
                              out = " f32" + sizes(rows, width);
            SimdCase layer("layer_norm eps=0.001 |" + x + row + row + " ->" + out),
                rms("rms_norm eps=0.001 |" + x + row + " ->" + out);
            SimdCase add_layer("add_layer_norm eps=0.001 |" + x + out + row + row + " ->" + out + out),
                add_rms("add_rms_norm eps=0.001 |" + x + out + row + " ->" + out + out);
            for (SimdCase* c : {&layer, &rms, &add_layer, &add_rms}) {
                for (Operand& input : c->inputs) input.fill(random);
                c->run(kernel(c->problem.definition), 1 + static_cast<int>(rows % 3));
                const bool sums = c->inputs[1].size() == c->inputs[0].size() && c->outputs.size() == 2,
                           centered = c->problem.definition.find("layer") != std::string::npos;
                const std::size_t gamma = sums ? 2 : 1;
                for (std::int64_t r = 0; r < rows; ++r) {
                    Row v = row_of(c->inputs[0], r, width);
                    if (sums) {
                        for (std::int64_t i = 0; i < width; ++i)
                            v[static_cast<std::size_t>(i)] = static_cast<float>(v[static_cast<std::size_t>(i)]) +
                                                             static_cast<float>(c->inputs[1].get(r * width + i));
                        expect_row(c->outputs[0], r, v, 0, c->problem.definition);
                    }
                    const Row beta = centered ? row_of(c->inputs[gamma + 1], 0, width) : Row();
                    expect_row(c->outputs.back(), r,
                               normalized(v, centered, 0.001, row_of(c->inputs[gamma], 0, width), beta), 3e-6,
                               c->problem.definition);
                }
            }
        }
    }
}

// A mean of 1e4 with deviations of 1: a variance from squares would keep two digits.
TEST_P(SimdLastAxis, LayerNormIsAccurateWithALargeMean) {
    SimdCase c("layer_norm eps=1e-05 | f32[1,768] f32[768] f32[768] -> f32[1,768]");
    for (int i = 0; i < 768; ++i) {
        c.inputs[0].set(i, 10000.0 + i % 3 - 1);
        c.inputs[1].set(i, 1);
        c.inputs[2].set(i, 0);
    }
    c.run(kernel("layer_norm"));
    for (int i = 0; i < 768; ++i) EXPECT_NEAR(c.outputs[0].get(i), (i % 3 - 1) * 1.2247449, 1e-3);
}

TEST_P(SimdLastAxis, NormsMayOverwriteTheirOperands) {
    std::mt19937 random(4);
    const std::string text =
        "add_layer_norm eps=0.001 | f32[40,100] f32[40,100] f32[100] f32[100] -> f32[40,100] f32[40,100]";
    for (const auto& [sum_over, norm_over] : {std::pair{0, 1}, {1, 0}}) {
        SimdCase apart(text);
        for (Operand& input : apart.inputs) input.fill(random);
        SimdCase over = apart;
        for (Operand& input : over.inputs) input = input.copy();
        over.outputs[0].share(over.inputs[static_cast<std::size_t>(sum_over)]);
        over.outputs[1].share(over.inputs[static_cast<std::size_t>(norm_over)]);
        apart.run(kernel("add_layer_norm"), 2);
        over.run(kernel("add_layer_norm"), 2);
        EXPECT_TRUE(over.outputs[0].same_bits(apart.outputs[0]));
        EXPECT_TRUE(over.outputs[1].same_bits(apart.outputs[1]));
    }
}

TEST_P(SimdLastAxis, Reductions) {
    std::mt19937 random(3);
    for (const std::int64_t width : {0, 1, 2, 8, 9, 40, 333, 1300}) {
        for (const char* name : {"sum", "mean", "max_reduce", "argmax"}) {
            const std::string op(name);
            if (width == 0 && (op == "argmax" || op == "mean")) continue;
            if (width > 333 && op != "argmax") continue;
            SimdCase c(op + (op == "argmax" ? " axis=(-1)" : " axes=(-1)") + (op == "mean" ? " keepdims=(0)" : "") +
                       " | f32" + sizes(6, width) + " -> " + (op == "argmax" ? "i32" : "f32") +
                       (op == "mean" ? "[6]" : "[6,1]"));
            c.inputs[0].fill(random);
            for (std::int64_t i = 0; i < width; ++i) c.inputs[0].set(width + i, i % 5 == 3 ? 7 : 1);  // ties
            if (width > 0) c.inputs[0].set(2 * width + width / 2, NAN), c.inputs[0].set(3 * width, -INFINITY);
            for (std::int64_t i = 0; i < width; ++i) c.inputs[0].set(4 * width + i, -INFINITY);
            c.run(kernel(op), 2);
            for (std::int64_t r = 0; r < 6; ++r) {
                double sum = 0, largest = -INFINITY, index = 0;
                for (std::int64_t i = 0; i < width; ++i) {
                    const double v = c.inputs[0].get(r * width + i);
                    sum += v;
                    if (largest == largest && (v > largest || v != v)) largest = v, index = static_cast<double>(i);
                }
                const double expected = op == "sum"      ? sum
                                        : op == "mean"   ? sum / static_cast<double>(width)
                                        : op == "argmax" ? index
                                                         : largest;
                const double actual = c.outputs[0].get(r);
                EXPECT_TRUE(std::isnan(expected) ? std::isnan(actual)
                                                 : actual == expected || std::fabs(actual - expected) <= 2e-5)
                    << op << " width " << width << " row " << r << ": " << actual << " for " << expected;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, SimdLastAxis, testing::ValuesIn(level_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cairn::test
