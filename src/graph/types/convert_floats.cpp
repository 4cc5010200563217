#include "graph/types/convert_floats.hpp"

#include "graph/types/element_access.hpp"

#include <cstring>

namespace cairn::types {
namespace {

template <typename T>
void store_element(std::byte* data, std::size_t i, T value) {
    std::memcpy(data + i * sizeof(T), &value, sizeof(T));
}

}  // namespace

void convert_floats(std::byte* to, DType to_dtype, const std::byte* from, DType from_dtype, std::size_t count) {
    if (!is_float(from_dtype)) throw InternalError("types", "integers are not converted as floats");
    const auto write = [&](const auto& rounded) {
        for (std::size_t i = 0; i < count; ++i) store_element(to, i, rounded(load_float(from_dtype, from, i)));
    };
    switch (to_dtype) {
        case DType::f64: return write([](double x) { return x; });
        case DType::f32: return write([](double x) { return static_cast<float>(x); });
        case DType::f16: return write([](double x) { return f64_to_f16(x); });
        case DType::bf16: return write([](double x) { return f64_to_bf16(x); });
        case DType::i64:
        case DType::i32:
        case DType::i8:
        case DType::u8:
        case DType::boolean: throw InternalError("types", "floats are not converted to integers");
    }
}

}  // namespace cairn::types
