#include "composite_values.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

// Sizes known only at run time, and exactness; onnx_test covers fixed sizes.
namespace cairn::test {
namespace {

TEST(Resizing, SupportsSymbolicSizes) {
    Trial t;
    const Dim n = t.symbol("N", 1, 20, 2), m = t.symbol("M", 0, 20, 3);
    const Tensor x = t.input("x", DType::f64, {1, 1, n}, {1, 1, 2}, {1, 4});
    EXPECT_EQ(t.value_of(resize_linear(x, {m}, CoordinateTransformation::align_corners)).data, (Numbers{1, 2.5, 4}));
    EXPECT_EQ(t.value_of(resize_linear(x, {2 * n})).data, (Numbers{1, 1.75, 3.25, 4}));
    EXPECT_EQ(t.value_of(resize_nearest(x, {m})).data, (Numbers{1, 1, 4})) << "half-way: the lower one";
    EXPECT_EQ(
        t.value_of(resize_nearest(x, {m}, CoordinateTransformation::half_pixel, ResizeRounding::prefer_higher)).data,
        (Numbers{1, 4, 4}));
    EXPECT_EQ(resize_linear(x, {n}).id(), x.id()) << "the same size";
    EXPECT_EQ(t.value_of(resize_linear(x, {1})).data, Numbers{2.5});
    EXPECT_EQ(t.value_of(resize_nearest(x, {0})).data, Numbers{});
}

// An integral coordinate selects exactly its element, even after three hundred coordinates that were rounded.
TEST(Resizing, IntegralCoordinatesAreExact) {
    for (const int size : {49, 99, 195, 1001}) {
        Trial t;
        const Dim n = t.symbol("N", 1, 2000, size), m = t.symbol("M", 1, 6000, 3 * size);
        std::vector<double> numbers(static_cast<std::size_t>(size));
        std::iota(numbers.begin(), numbers.end(), 0);
        const Tensor x = t.input("x", DType::f64, {1, 1, n}, {1, 1, size}, numbers);
        const auto got =
            t.value_of(resize_nearest(x, {m}, CoordinateTransformation::asymmetric, ResizeRounding::down)).data;
        for (std::size_t p = 0; p < got.size(); ++p) ASSERT_EQ(got[p], static_cast<double>(p / 3)) << size;
    }
}

}  // namespace
}  // namespace cairn::test
