#include "io/onnx_node/known.hpp"

#include "cairn/graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace cairn::onnx {
namespace {

using testing::ElementsAre;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A tensor with these elements, which must outlive it.
template <typename T>
TensorProto tensor_over(ElementType type, const std::vector<T>& elements) {
    TensorProto tensor;
    tensor.type = type;
    tensor.dims = {static_cast<std::int64_t>(elements.size())};
    tensor.data = std::as_bytes(std::span(elements));
    return tensor;
}

TEST(Known, FloatsOf16BitsAreWhatTheirBitsSay) {
    // 1, -2, the largest, the least subnormal, a subnormal, -0, infinity.
    const std::vector<std::uint16_t> half{0x3c00, 0xc000, 0x7bff, 0x0001, 0x03ff, 0x8000, 0x7c00};
    const Known known = *known_from(tensor_over(ElementType::f16, half));
    EXPECT_THAT(known.floats, ElementsAre(1, -2, 65504, std::ldexp(1, -24), std::ldexp(1023, -24), 0, infinity));
    EXPECT_TRUE(std::signbit(known.floats[5]));
    const std::vector<std::uint16_t> brain{0x3f80, 0xff80, 0x0001};
    EXPECT_THAT(known_from(tensor_over(ElementType::bf16, brain))->floats,
                ElementsAre(1, -infinity, std::ldexp(1, -133)));
    const std::vector<std::uint16_t> nan{0x7e01};
    EXPECT_TRUE(std::isnan(known_from(tensor_over(ElementType::f16, nan))->floats[0]));
}

TEST(Known, IntegersOfEachTypeKeepTheirSign) {
    const std::vector<std::uint8_t> bytes{0xff, 0x01};
    EXPECT_THAT(known_from(tensor_over(ElementType::u8, bytes))->integers, ElementsAre(Dim(255), Dim(1)));
    EXPECT_THAT(known_from(tensor_over(ElementType::i8, bytes))->integers, ElementsAre(Dim(-1), Dim(1)));
    const std::vector<std::uint32_t> words{0xffffffff};
    EXPECT_THAT(known_from(tensor_over(ElementType::u32, words))->integers, ElementsAre(Dim(4294967295)));
    EXPECT_THAT(known_from(tensor_over(ElementType::i32, words))->integers, ElementsAre(Dim(-1)));
    EXPECT_FALSE(known_from(tensor_over(ElementType::u64, std::vector<std::uint64_t>{1})).has_value());
}

TEST(Known, LargeTensorsAreNotEvaluated) {
    EXPECT_TRUE(known_from(tensor_over(ElementType::f32, std::vector<float>(64))).has_value());
    EXPECT_FALSE(known_from(tensor_over(ElementType::f32, std::vector<float>(65))).has_value());
    EXPECT_TRUE(known_from(tensor_over(ElementType::i64, std::vector<std::int64_t>(4096))).has_value());
    EXPECT_FALSE(known_from(tensor_over(ElementType::i64, std::vector<std::int64_t>(4097))).has_value());
    TensorProto external = tensor_over(ElementType::f32, std::vector<float>(1));
    external.is_external = true;
    EXPECT_FALSE(known_from(external).has_value());
}

TEST(Known, NumbersAreRoundedToTheirType) {
    EXPECT_EQ(rounded_to(ElementType::f16, 65519.9), 65504);
    EXPECT_EQ(rounded_to(ElementType::f16, 65520), infinity);
    EXPECT_EQ(rounded_to(ElementType::f16, 2049), 2048) << "a tie goes to the even one";
    EXPECT_EQ(rounded_to(ElementType::f16, 2051), 2052);
    EXPECT_EQ(rounded_to(ElementType::f16, std::ldexp(1, -25)), 0);
    EXPECT_EQ(rounded_to(ElementType::f16, -std::ldexp(1.5, -25)), -std::ldexp(1, -24));
    EXPECT_EQ(rounded_to(ElementType::bf16, 257), 256);
    EXPECT_EQ(rounded_to(ElementType::bf16, 3.396e38), 3.3895313892515355e38);
    EXPECT_EQ(rounded_to(ElementType::bf16, 3.4e38 * 1.01), infinity);
    EXPECT_EQ(rounded_to(ElementType::f32, 1 + std::ldexp(1, -30)), 1);
    EXPECT_EQ(rounded_to(ElementType::f64, 1 + std::ldexp(1, -30)), 1 + std::ldexp(1, -30));
    EXPECT_TRUE(std::isnan(rounded_to(ElementType::f16, std::nan(""))));
}

TEST(Known, IntegersWrapToTheirType) {
    EXPECT_EQ(wrapped_to(ElementType::u8, 256 + 7), 7);
    EXPECT_EQ(wrapped_to(ElementType::i8, 200), -56);
    EXPECT_EQ(wrapped_to(ElementType::i32, std::int64_t{1} << 31), std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(wrapped_to(ElementType::u32, -1), 4294967295);
    EXPECT_EQ(wrapped_to(ElementType::boolean, -3), 1);
    EXPECT_EQ(wrapped_to(ElementType::i64, -3), -3);
}

TEST(Known, ArithmeticOfConstantsWraps) {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = -(least + 1);
    EXPECT_EQ(wrapping_sum(most, 1), Dim(least));
    EXPECT_EQ(wrapping_difference(0, least), Dim(least));
    EXPECT_EQ(wrapping_product(most, 2), Dim(-2));
    Graph graph;
    const Dim n = graph.symbol("n", 1, 8);
    EXPECT_EQ(wrapping_difference(wrapping_sum(n, 3), wrapping_product(n, 1)), Dim(3));
}

}  // namespace
}  // namespace cairn::onnx
