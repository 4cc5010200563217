#pragma once

#include "cairn/elements.hpp"

#include <string_view>

/// Elements that callers hand over, whose C++ type is told as a dtype: f16 for std::uint16_t.
namespace cairn::types {

/// True when elements of the C++ type that detail::stored_as() gives as `given` are what `dtype` is made of.
inline bool is_element_type_of(DType dtype, DType given) noexcept {
    return given == dtype || (given == DType::f16 && dtype == DType::bf16);
}

/// Such a type in messages.
inline std::string_view element_type_text(DType given) noexcept {
    return given == DType::f16 ? "f16 or bf16 (std::uint16_t)" : to_string(given);
}

}  // namespace cairn::types
