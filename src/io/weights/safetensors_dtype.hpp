#pragma once

#include <optional>
#include <string_view>

#include "cairn/types.hpp"

namespace cairn::weights {

/// A dtype of the safetensors format.
struct SafetensorsDType {
    std::string_view name;       ///< `BF16`
    unsigned bits;               ///< of one element
    std::optional<DType> dtype;  ///< Cairn's own, where there is one
};

/// The row of that name; null when the format has no such dtype.
const SafetensorsDType* find_safetensors_dtype(std::string_view name) noexcept;
/// The name the format gives to a dtype of Cairn.
std::string_view safetensors_name(DType dtype) noexcept;

}  // namespace cairn::weights
