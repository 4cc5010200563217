#include <gtest/gtest.h>

#include "cairn/problem.hpp"

namespace cairn {
namespace {

TEST(Shape, TextCountAndStrides) {
    const auto symbols = Symbols::create();
    const Dim n = symbols->add("N", 1, 1024);
    EXPECT_EQ(to_string(Shape{}), "[]");
    EXPECT_EQ(to_string(Shape{n, 768}), "[N,768]");
    EXPECT_EQ(to_string(DType::bf16, Shape{2 * n + 3, 1}), "bf16[3 + 2*N,1]");
    EXPECT_EQ(element_count({}), Dim(1));
    EXPECT_EQ(element_count({n, 0}), Dim(0));
    EXPECT_EQ(element_count({n, 768, n}), 768 * n * n);
    EXPECT_EQ(dense_strides({}), std::vector<Dim>{});
    EXPECT_EQ(dense_strides({4, n, 768}), (std::vector<Dim>{768 * n, 768, 1}));
    EXPECT_EQ(dense_strides({3, 0, 2}), (std::vector<Dim>{0, 2, 1}));
    EXPECT_THROW(element_count({INT64_MAX, 2}), Error);
}

TEST(TensorDesc, IsDenseIfRowMajorExceptForAxesOfSizeOne) {
    const auto symbols = Symbols::create();
    const Dim n = symbols->add("N", 1, 1024);
    auto tensor = TensorDesc::dense(DType::f32, {1, n, 768});
    EXPECT_TRUE(tensor.is_dense());
    tensor.strides[0] = 5;
    EXPECT_TRUE(tensor.is_dense());
    tensor.strides[1] = 769;
    EXPECT_FALSE(tensor.is_dense());
    tensor = TensorDesc::dense(DType::f32, {n, 768});
    tensor.layout = "panel32";
    EXPECT_FALSE(tensor.is_dense());
    tensor = TensorDesc::dense(DType::f32, {n, 768});
    tensor.strides.pop_back();
    EXPECT_FALSE(tensor.is_dense());
    EXPECT_TRUE(TensorDesc::dense(DType::f32, {}).is_dense());
}

}  // namespace
}  // namespace cairn
