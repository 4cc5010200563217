#include <gtest/gtest.h>

#include "cairn/types.hpp"

#include <array>
#include <set>
#include <utility>

namespace cairn {
namespace {

TEST(DType, NamesSizesAndKinds) {
    const struct {
        DType dtype;
        std::string_view name;
        std::size_t bytes;
        bool is_float, is_integer;
    } rows[] = {{DType::f64, "f64", 8, true, false},      {DType::f32, "f32", 4, true, false},
                {DType::f16, "f16", 2, true, false},      {DType::bf16, "bf16", 2, true, false},
                {DType::i64, "i64", 8, false, true},      {DType::i32, "i32", 4, false, true},
                {DType::i8, "i8", 1, false, true},        {DType::u8, "u8", 1, false, true},
                {DType::boolean, "bool", 1, false, false}};
    for (const auto& row : rows) {
        EXPECT_EQ(to_string(row.dtype), row.name);
        EXPECT_EQ(parse_dtype(row.name), row.dtype);
        EXPECT_EQ(size_of(row.dtype), row.bytes);
        EXPECT_EQ(is_float(row.dtype), row.is_float) << row.name;
        EXPECT_EQ(is_integer(row.dtype), row.is_integer) << row.name;
    }
    for (const auto* wrong : {"", "F32", "f8", "boolean", "f32 "}) EXPECT_EQ(parse_dtype(wrong), std::nullopt) << wrong;
    EXPECT_EQ(to_string(Device::cpu), "cpu");
    EXPECT_EQ(to_string(Device::cuda()), "cuda");
}

TEST(DType, WideningLosesNothing) {
    constexpr std::array all{DType::f64, DType::f32, DType::f16, DType::bf16,   DType::i64,
                             DType::i32, DType::i8,  DType::u8,  DType::boolean};
    std::set<std::pair<DType, DType>> found;
    for (const DType from : all)
        for (const DType to : all)
            if (is_widening(from, to)) found.emplace(from, to);
    EXPECT_EQ(found, (std::set<std::pair<DType, DType>>{{DType::f32, DType::f64},
                                                        {DType::f16, DType::f32},
                                                        {DType::f16, DType::f64},
                                                        {DType::bf16, DType::f32},
                                                        {DType::bf16, DType::f64}}));
}

}  // namespace
}  // namespace cairn
