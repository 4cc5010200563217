#include "cairn/cairn.hpp"

#include <algorithm>
#include <any>
#include <cmath>
#include <complex>
#include <functional>
#include <numeric>
#include <sstream>
#include <stack>
#include <valarray>

#include <gtest/gtest.h>

// Both namespaces at once, as in a user's file: the code must compile and call Cairn's functions.
using namespace std;
using namespace cairn;

namespace {

TEST(UsingStd, OpsOnTensorsResolveToCairn) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {3}), y = g.input("y", DType::f32, {3});
    const Tensor results[] = {min(x, y),
                              max(x, y),
                              pow(x, y),
                              clamp(x, x, y),
                              min(x, 1),
                              max(0, x),
                              pow(x, 2),
                              clamp(x, 0, 1),
                              abs(x),
                              exp(x),
                              log(x),
                              sqrt(x),
                              sin(x),
                              cos(x),
                              tanh(x),
                              erf(x),
                              floor(x),
                              round(x),
                              x + y,
                              x * 2,
                              1 - x,
                              -x,
                              x / y,
                              sum(x, 0),
                              prod(x, 0),
                              mean(x, 0),
                              argmax(x, 0),
                              cumsum(x, 0),
                              sort(x).values,
                              topk(x, 2).values,
                              repeat(x, 2, 0),
                              where(x < y, x, y),
                              softmax(x),
                              cairn::slice(x, 0, 1, 2),
                              cairn::stack({x, y}),
                              cairn::any(x < y),
                              all(x < y),
                              iota(g, 3),
                              reshape(x, {3, 1})};
    for (const Tensor& result : results) EXPECT_FALSE(result.empty());
    EXPECT_EQ(to_string(results[0].shape()), "[3]");
}

TEST(UsingStd, CallsWithNumbersAndSizesKeepTheirTypes) {
    Graph g;
    const Dim n = g.symbol("N", 1, 9);
    EXPECT_EQ(min(3, 4), 3);
    EXPECT_EQ(max(2.5, 1.5), 2.5);
    EXPECT_EQ(abs(-3), 3);
    EXPECT_EQ(min(n, n + 1), n);
    EXPECT_EQ(max(n, 0), n);
    EXPECT_EQ(min(0, n), Dim(0));
}

}  // namespace
