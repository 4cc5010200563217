#pragma once

#include "cairn/types.hpp"
#include "graph/types/half.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

/// Access to single elements in memory, aligned or not.
namespace cairn::types {

template <typename T>
T load_element(const std::byte* data, std::size_t i) noexcept {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return value;
}

/// Element `i` of a tensor of a float dtype.
inline double load_float(DType dtype, const std::byte* data, std::size_t i) noexcept {
    switch (dtype) {
        case DType::f64: return load_element<double>(data, i);
        case DType::f32: return static_cast<double>(load_element<float>(data, i));
        case DType::f16: return static_cast<double>(f16_to_f32(load_element<std::uint16_t>(data, i)));
        default: return static_cast<double>(bf16_to_f32(load_element<std::uint16_t>(data, i)));
    }
}

}  // namespace cairn::types
