#include "io/weights/safetensors_dtype.hpp"

#include "cairn/dequantize.hpp"

#include <algorithm>
#include <array>

namespace cairn::weights {

namespace {

constexpr std::array<SafetensorsDType, 22> rows = {{{"BOOL", 8, DType::boolean},
                                                    {"F4", 4, {}},
                                                    {"F6_E2M3", 6, {}},
                                                    {"F6_E3M2", 6, {}},
                                                    {"U8", 8, DType::u8},
                                                    {"I8", 8, DType::i8},
                                                    {"F8_E5M2", 8, DType::u8, dequantize_f8_e5m2},
                                                    {"F8_E4M3", 8, DType::u8, dequantize_f8_e4m3},
                                                    {"F8_E8M0", 8, {}},
                                                    {"F8_E4M3FNUZ", 8, {}},
                                                    {"F8_E5M2FNUZ", 8, {}},
                                                    {"I16", 16, {}},
                                                    {"U16", 16, {}},
                                                    {"F16", 16, DType::f16},
                                                    {"BF16", 16, DType::bf16},
                                                    {"I32", 32, DType::i32},
                                                    {"U32", 32, {}},
                                                    {"F32", 32, DType::f32},
                                                    {"C64", 64, {}},
                                                    {"F64", 64, DType::f64},
                                                    {"I64", 64, DType::i64},
                                                    {"U64", 64, {}}}};

}  // namespace

const SafetensorsDType* find_safetensors_dtype(std::string_view name) noexcept {
    const auto* row = std::find_if(rows.begin(), rows.end(), [&](const auto& each) { return each.name == name; });
    return row == rows.end() ? nullptr : row;
}

std::string_view safetensors_name(DType dtype) noexcept {
    return std::find_if(rows.begin(), rows.end(),
                        [&](const auto& each) { return each.dtype == dtype && each.widen == nullptr; })
        ->name;
}

}  // namespace cairn::weights
