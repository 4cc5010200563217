#include "kernels/cuda/rows/tensor_format.hpp"

namespace cairn::kernels::cuda {
namespace {

std::int64_t most_parts(TensorFormat format) { return parts_of(format, DType::f32); }

}  // namespace

std::string_view name_of(TensorFormat format) {
    switch (format) {
        case TensorFormat::bf16x6: return "bf16x6";
        case TensorFormat::f16x3: return "f16x3";
        case TensorFormat::f16: return "f16";
    }
    return {};
}

std::string_view type_of(TensorFormat format, std::int64_t slice) {
    switch (format) {
        case TensorFormat::bf16x6: return "SplitBf16";
        case TensorFormat::f16x3: return "SplitF16";
        case TensorFormat::f16: return slice == 64 ? "RoundedF16<64>" : "RoundedF16<32>";
    }
    return {};
}

Arithmetic arithmetic_of(TensorFormat format) {
    return format == TensorFormat::bf16x6 ? Arithmetic::bf16 : Arithmetic::f16;
}

std::int64_t parts_of(TensorFormat format, DType dtype) {
    switch (format) {
        case TensorFormat::bf16x6: return dtype == DType::f32 ? 3 : dtype == DType::f16 ? 2 : 1;
        case TensorFormat::f16x3: return dtype == DType::f32 ? 2 : 1;
        case TensorFormat::f16: return 1;
    }
    return 0;
}

std::int64_t products_of(TensorFormat format, DType a, DType b) {
    std::int64_t products = 0;
    for (std::int64_t of_a = 0; of_a < parts_of(format, a); ++of_a)
        for (std::int64_t of_b = 0; of_b < parts_of(format, b); ++of_b) products += of_a + of_b < most_parts(format);
    return products;
}

std::int64_t line_bytes(TensorFormat format, DType dtype, std::int64_t lines, std::int64_t width) {
    constexpr std::int64_t padding = 8, element = 2;
    return parts_of(format, dtype) * lines * (width + padding) * element;
}

}  // namespace cairn::kernels::cuda
