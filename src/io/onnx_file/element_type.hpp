#pragma once

#include "cairn/types.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace cairn::inline v0::onnx {

/// Type of an element, in the numbering of TensorProto.DataType.
enum class ElementType : std::uint8_t {
    undefined = 0,
    f32 = 1,
    u8 = 2,
    i8 = 3,
    u16 = 4,
    i16 = 5,
    i32 = 6,
    i64 = 7,
    string = 8,
    boolean = 9,
    f16 = 10,
    f64 = 11,
    u32 = 12,
    u64 = 13,
    complex64 = 14,
    complex128 = 15,
    bf16 = 16,
    f8_e4m3fn = 17,
    f8_e4m3fnuz = 18,
    f8_e5m2 = 19,
    f8_e5m2fnuz = 20,
    u4 = 21,
    i4 = 22,
    f4_e2m1 = 23,
    f8_e8m0 = 24,
    u2 = 25,
    i2 = 26,
    f6_e2m3 = 27,
    f6_e3m2 = 28
};
inline constexpr int last_element_type = 28;

/// The name that onnx.proto has for it: `FLOAT16`.
std::string_view to_string(ElementType type) noexcept;
/// Bits of an element in raw data; 0 for strings, and for types without a stored form that is known here.
int bits_of(ElementType type) noexcept;
/// The dtype of Cairn with the same elements, and the inverse.
std::optional<DType> dtype_of(ElementType type) noexcept;
ElementType element_type_of(DType dtype) noexcept;
/// The type of a number in a file; empty: there is none.
std::optional<ElementType> element_type_of(std::int64_t number) noexcept;

}  // namespace cairn::inline v0::onnx
