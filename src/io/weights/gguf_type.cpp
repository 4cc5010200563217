#include "io/weights/gguf_type.hpp"

#include <algorithm>
#include <array>

namespace cairn::weights {

namespace {

// Numbers and sizes: enum ggml_type and type_traits of ggml-org/ggml, as in its Python package (gguf.constants).
constexpr auto gguf_types =
    std::to_array<GgufType>({{0, "F32", 1, 4, DType::f32},        {1, "F16", 1, 2, DType::f16},
                             {2, "Q4_0", 32, 18, DType::u8},      {3, "Q4_1", 32, 20, DType::u8},
                             {6, "Q5_0", 32, 22, DType::u8},      {7, "Q5_1", 32, 24, DType::u8},
                             {8, "Q8_0", 32, 34, DType::u8},      {10, "Q2_K", 256, 84, DType::u8},
                             {11, "Q3_K", 256, 110, DType::u8},   {12, "Q4_K", 256, 144, DType::u8},
                             {13, "Q5_K", 256, 176, DType::u8},   {14, "Q6_K", 256, 210, DType::u8},
                             {16, "IQ2_XXS", 256, 66, DType::u8}, {17, "IQ2_XS", 256, 74, DType::u8},
                             {18, "IQ3_XXS", 256, 98, DType::u8}, {19, "IQ1_S", 256, 50, DType::u8},
                             {20, "IQ4_NL", 32, 18, DType::u8},   {21, "IQ3_S", 256, 110, DType::u8},
                             {22, "IQ2_S", 256, 82, DType::u8},   {23, "IQ4_XS", 256, 136, DType::u8},
                             {24, "I8", 1, 1, DType::i8},         {25, "I16", 1, 2, {}},
                             {26, "I32", 1, 4, DType::i32},       {27, "I64", 1, 8, DType::i64},
                             {28, "F64", 1, 8, DType::f64},       {29, "IQ1_M", 256, 56, DType::u8},
                             {30, "BF16", 1, 2, DType::bf16},     {34, "TQ1_0", 256, 54, DType::u8},
                             {35, "TQ2_0", 256, 66, DType::u8},   {39, "MXFP4", 32, 17, DType::u8}});

}  // namespace

const GgufType* find_gguf_type(std::uint32_t id) noexcept {
    const auto row =
        std::find_if(gguf_types.begin(), gguf_types.end(), [&](const GgufType& each) { return each.id == id; });
    return row == gguf_types.end() ? nullptr : &*row;
}

}  // namespace cairn::weights
