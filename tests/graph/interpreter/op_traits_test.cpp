// The traits in the rows of ops, compared with the interpreter.
#include "graph/interpreter/interpreter.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/problem_graph.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace cairn::interpreter {
namespace {

using namespace ir;

bool is_plain(const OpInfo& row) {
    return row.kind == OpClass::elementwise && row.op != Op::cast && row.op != Op::where;
}
bool takes_floats(const OpInfo& row) { return has_floats(row.accepts); }
bool takes_integers(const OpInfo& row) { return has_integers(row.accepts); }

/// f(a, b) for all pairs of two lists: one row for each a.
Value on_pairs(const OpInfo& row, DType dtype, std::span<const double> a, std::span<const double> b) {
    const auto m = static_cast<std::int64_t>(a.size()), n = static_cast<std::int64_t>(b.size());
    Graph g("pairs");
    std::vector<Tensor> operands = {g.input("a", dtype, {m, 1}), g.input("b", dtype, {n})};
    operands.resize(static_cast<std::size_t>(row.min_operands));
    g.output("y", apply(row.name, operands, {}));
    return interpret(*g.data(), {{}, {{"a", make_value(dtype, {m, 1}, a)}, {"b", make_value(dtype, {n}, b)}}})
        .outputs.at("y");
}

std::vector<double> negated(std::span<const double> values) {
    std::vector<double> result;
    for (const double value : values) result.push_back(-value);
    return result;
}

bool same(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}
bool is_below_zero(double x) { return !std::isnan(x) && std::signbit(x); }
bool any_below_zero(const Value& value) {
    return std::ranges::any_of(value.data, is_below_zero) ||
           std::ranges::any_of(value.integers, [](std::int64_t x) { return x < 0; });
}

const std::vector<double> not_negative = {
    0, 0x1p-1060, 0.25, 0.5, 1, 1.75, 2, 3, 40.5, 1e300, std::numeric_limits<double>::infinity(), std::nan("")};

std::vector<double> all_floats() {
    std::vector<double> all = negated(not_negative);
    all.insert(all.end(), not_negative.begin(), not_negative.end());
    return all;
}

TEST(OpTraits, OfElementwiseOpsHoldForFloats) {
    const std::vector<double> all = all_floats();
    for (const OpInfo& row : op_table()) {
        if (!is_plain(row) || !takes_floats(row)) continue;
        SCOPED_TRACE(row.name);
        const Value results = on_pairs(row, DType::f64, all, all);
        EXPECT_EQ(results.dtype == DType::boolean, row.has(OpTrait::compares));
        EXPECT_FALSE(row.has(OpTrait::nonnegative) && any_below_zero(results));
        EXPECT_FALSE(row.has(OpTrait::keeps_sign) &&
                     any_below_zero(on_pairs(row, DType::f64, not_negative, not_negative)));
        const Value minus = on_pairs(row, DType::f64, negated(all), all);
        for (std::size_t i = 0; i < results.data.size(); ++i) {
            const double x = results.data[i], y = minus.data[i];
            ASSERT_TRUE(!row.has(OpTrait::odd) || same(-x, y)) << x << " " << y;
            ASSERT_TRUE(!row.has(OpTrait::even) || same(x, y)) << x << " " << y;
        }
        if (!row.has(OpTrait::commutes)) continue;
        const std::size_t n = all.size();
        for (std::size_t i = 0; i < n * n; ++i) {
            const std::size_t other = i % n * n + i / n;
            const bool equal = results.dtype == DType::boolean ? results.integers[i] == results.integers[other]
                                                               : results.data[i] == results.data[other] ||
                                                                     same(results.data[i], results.data[other]);
            ASSERT_TRUE(equal) << i;
        }
    }
}

// Ops that do not wrap keep their promises about signs for integers too.
TEST(OpTraits, OfElementwiseOpsHoldForIntegers) {
    std::vector<double> all, natural;
    for (int x = -128; x < 128; ++x) all.push_back(x);
    for (int x = 0; x < 128; ++x) natural.push_back(x);
    for (const OpInfo& row : op_table()) {
        if (!is_plain(row) || !takes_integers(row) || row.has(OpTrait::compares)) continue;
        SCOPED_TRACE(row.name);
        if (row.has(OpTrait::wraps)) {
            const Value wide = on_pairs(row, DType::i32, all, all), narrow = on_pairs(row, DType::i8, all, all);
            EXPECT_NE(wide.integers, narrow.integers) << "nothing wraps";
            continue;
        }
        EXPECT_FALSE(row.has(OpTrait::nonnegative) && any_below_zero(on_pairs(row, DType::i8, all, all)));
        EXPECT_FALSE(row.has(OpTrait::keeps_sign) && any_below_zero(on_pairs(row, DType::i8, natural, natural)));
        EXPECT_EQ(on_pairs(row, DType::i32, all, all).integers, on_pairs(row, DType::i8, all, all).integers);
    }
}

/// Ops of other classes on `%0 = input "x" : f64[2,3]`; `%9` is the result.
struct OtherCase {
    Op op;
    const char* lines;
};
const OtherCase others[] = {
    {Op::cast, "%9 = cast %0 dtype=(1) : f32[2,3]"},
    {Op::where, "%1 = constant {1, 0, 1} : bool[3]\n%9 = where %1, %0, %0 : f64[2,3]"},
    {Op::sum, "%9 = sum %0 axes=(-1) : f64[2,1]"},
    {Op::prod, "%9 = prod %0 axes=(-2) : f64[1,3]"},
    {Op::argmax, "%9 = argmax %0 axis=(-1) : i32[2,1]"},
    {Op::matmul, "%1 = constant {1, 0.5, 2} : f64[3,1]\n%9 = matmul %0, %1 : f64[2,1]"},
    {Op::reshape, "%9 = reshape %0 shape=(6) : f64[6]"},
    {Op::transpose, "%9 = transpose %0 permutation=(-1,-2) : f64[3,2]"},
    {Op::broadcast, "%9 = broadcast %0 shape=(2,2,3) : f64[2,2,3]"},
    {Op::slice, "%9 = slice %0 axis=(-1) start=(1) stop=(3) step=(1) : f64[2,2]"},
    {Op::window, "%9 = window %0 axis=(-1) size=(2) stride=(1) dilation=(1) : f64[2,2,2]"},
    {Op::concat, "%9 = concat %0, %0 axis=(-1) : f64[2,6]"},
    {Op::gather, "%1 = constant {1, 1, 0} : i32[3]\n%9 = gather %0, %1 axis=(-2) : f64[3,3]"},
    {Op::scatter, "%1 = constant {1, 0} : i32[2]\n%9 = scatter %0, %1, %0 axis=(-2) : f64[2,3]"},
    {Op::take_along_axis,
     "%1 = constant {1, 1, 0, 0, 0, 1} : i32[2,3]\n%9 = take_along_axis %0, %1 axis=(-2) : f64[2,3]"},
    {Op::cumsum, "%9 = cumsum %0 axis=(-1) : f64[2,3]"},
    {Op::argsort, "%9 = argsort %0 axis=(-1) descending=(0) : i32[2,3]"},
    {Op::copy_to, "%9 = copy_to %0 device=(1) : f64[2,3]"},
};

Value result_of(const OtherCase& each, const std::vector<double>& x) {
    const Graph g =
        parse_graph("graph g\n%0 = input \"x\" : f64[2,3]\n" + std::string(each.lines) + "\noutput \"y\" %9\n");
    return interpret(*g.data(), {{}, {{"x", make_value(DType::f64, {2, 3}, x)}}}).outputs.at("y");
}

TEST(OpTraits, OfOtherOpsHold) {
    const std::vector<double> x = {0.5, -1, 2, 0.25, -3, 8}, y = {0.5, 1, 2, 0, 3, 8};
    for (const OpInfo& row : op_table()) {
        if (is_plain(row) || row.traits == OpTrait::none) continue;
        SCOPED_TRACE(row.name);
        const auto* each = std::ranges::find(others, row.op, &OtherCase::op);
        ASSERT_NE(each, std::end(others)) << "has facts and no case";
        EXPECT_FALSE(row.has(OpTrait::commutes) || row.has(OpTrait::compares) || row.has(OpTrait::odd) ||
                     row.has(OpTrait::even));
        EXPECT_FALSE(row.has(OpTrait::nonnegative) && any_below_zero(result_of(*each, x)));
        EXPECT_FALSE(row.has(OpTrait::keeps_sign) && any_below_zero(result_of(*each, y)));
        if (!row.has(OpTrait::linear)) continue;
        std::vector<double> scaled;
        for (const double value : x) scaled.push_back(-2 * value);
        const Value once = result_of(*each, x), twice = result_of(*each, scaled);
        for (std::size_t i = 0; i < once.data.size(); ++i) EXPECT_EQ(-2 * once.data[i], twice.data[i]);
    }
}

}  // namespace
}  // namespace cairn::interpreter
