#pragma once

#include "cairn/elements.hpp"

#include <string_view>

/// C++ element types of callers' data, represented by a dtype: f16 for std::uint16_t.
namespace cairn::types {

/// True if elements of the C++ type for which detail::stored_as() returns `given` can be elements of `dtype`.
inline bool is_element_type_of(DType dtype, DType given) noexcept {
    return given == dtype || (given == DType::f16 && dtype == DType::bf16);
}

/// The name of such a type in messages.
inline std::string_view element_type_text(DType given) noexcept {
    return given == DType::f16 ? "f16 or bf16 (std::uint16_t)" : to_string(given);
}

}  // namespace cairn::types
