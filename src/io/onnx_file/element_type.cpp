#include "io/onnx_file/element_type.hpp"

#include <algorithm>
#include <array>

namespace cairn::inline v0::onnx {
namespace {

struct Row {
    std::string_view name;
    int bits = 0;
    std::optional<DType> dtype = {};
};

/// By number.
constexpr std::array<Row, last_element_type + 1> rows{{{"UNDEFINED"},
                                                       {"FLOAT", 32, DType::f32},
                                                       {"UINT8", 8, DType::u8},
                                                       {"INT8", 8, DType::i8},
                                                       {"UINT16", 16},
                                                       {"INT16", 16},
                                                       {"INT32", 32, DType::i32},
                                                       {"INT64", 64, DType::i64},
                                                       {"STRING"},
                                                       {"BOOL", 8, DType::boolean},
                                                       {"FLOAT16", 16, DType::f16},
                                                       {"DOUBLE", 64, DType::f64},
                                                       {"UINT32", 32},
                                                       {"UINT64", 64},
                                                       {"COMPLEX64", 64},
                                                       {"COMPLEX128", 128},
                                                       {"BFLOAT16", 16, DType::bf16},
                                                       {"FLOAT8E4M3FN", 8},
                                                       {"FLOAT8E4M3FNUZ", 8},
                                                       {"FLOAT8E5M2", 8},
                                                       {"FLOAT8E5M2FNUZ", 8},
                                                       {"UINT4", 4},
                                                       {"INT4", 4},
                                                       {"FLOAT4E2M1", 4},
                                                       {"FLOAT8E8M0", 8},
                                                       {"UINT2", 2},
                                                       {"INT2", 2},
                                                       {"FLOAT6E2M3"},
                                                       {"FLOAT6E3M2"}}};

const Row& row_of(ElementType type) noexcept { return rows[static_cast<std::size_t>(type)]; }

}  // namespace

std::string_view to_string(ElementType type) noexcept { return row_of(type).name; }
int bits_of(ElementType type) noexcept { return row_of(type).bits; }
std::optional<DType> dtype_of(ElementType type) noexcept { return row_of(type).dtype; }

ElementType element_type_of(DType dtype) noexcept {
    const auto row = std::ranges::find(rows, std::optional(dtype), &Row::dtype);
    return static_cast<ElementType>(row - rows.begin());
}

std::optional<ElementType> element_type_of(std::int64_t number) noexcept {
    if (number < 0 || number > last_element_type) return std::nullopt;
    return static_cast<ElementType>(number);
}

}  // namespace cairn::inline v0::onnx
