#pragma once

#include "cairn/types.hpp"
#include "types/half.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

/// Elements as they lie in memory, aligned or not.
namespace cairn::inline v0::types {

template <typename T>
T stored(const std::byte* data, std::size_t i) noexcept {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return value;
}

/// Element `i` of a tensor of a float dtype.
inline double stored_float(DType dtype, const std::byte* data, std::size_t i) noexcept {
    switch (dtype) {
        case DType::f64: return stored<double>(data, i);
        case DType::f32: return static_cast<double>(stored<float>(data, i));
        case DType::f16: return static_cast<double>(f16_to_f32(stored<std::uint16_t>(data, i)));
        default: return static_cast<double>(bf16_to_f32(stored<std::uint16_t>(data, i)));
    }
}

}  // namespace cairn::inline v0::types
