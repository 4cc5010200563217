#pragma once

#include "cairn/ops.hpp"

#include <optional>
#include <string_view>

namespace cairn::weights {

/// What begins the errors of safetensors files and their indices.
inline constexpr std::string_view safetensors_format = "safetensors";

/// A dtype of the safetensors format.
struct SafetensorsDType {
    std::string_view name;       ///< `BF16`
    unsigned bits;               ///< of one element
    std::optional<DType> dtype;  ///< Cairn's own, if there is one; u8 for bytes that a composite widens
    Tensor (*widen)(const Operand& bytes) = nullptr;  ///< that composite
};

/// The row of that name; null if the format has no such dtype.
const SafetensorsDType* find_safetensors_dtype(std::string_view name) noexcept;
/// The format's name for a dtype of Cairn.
std::string_view safetensors_name(DType dtype) noexcept;

}  // namespace cairn::weights
