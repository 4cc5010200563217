#include "io/onnx_file/element_type.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace cairn::onnx {
namespace {

TEST(ElementTypes, HaveNamesBitsAndDtypes) {
    EXPECT_EQ(to_string(ElementType::bf16), "BFLOAT16");
    EXPECT_EQ(bits_of(ElementType::i4), 4);
    EXPECT_EQ(dtype_of(ElementType::bf16), DType::bf16);
    EXPECT_EQ(dtype_of(ElementType::u16), std::nullopt);
    for (int number = 1; number <= last_element_type; ++number) {
        const auto type = static_cast<ElementType>(number);
        const auto dtype = dtype_of(type);
        if (!dtype.has_value()) continue;
        EXPECT_EQ(static_cast<std::size_t>(bits_of(type)), 8 * size_of(*dtype));
        EXPECT_EQ(element_type_of(*dtype), type);
    }
}

TEST(ElementTypes, AreNumberedAsInFiles) {
    for (std::int64_t number = 0; number <= last_element_type; ++number)
        EXPECT_EQ(element_type_of(number), static_cast<ElementType>(number));
    EXPECT_EQ(element_type_of(std::int64_t{-1}), std::nullopt);
    EXPECT_EQ(element_type_of(std::int64_t{last_element_type + 1}), std::nullopt);
    EXPECT_EQ(element_type_of(DType::f32), ElementType{1});
    EXPECT_EQ(element_type_of(DType::bf16), ElementType{16});
}

}  // namespace
}  // namespace cairn::onnx
