#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cairn/types.hpp"

namespace cairn::weights {

/// What begins the errors of GGUF files.
inline constexpr std::string_view gguf_format = "gguf";

/// A type of tensors in GGUF files: blocks of `elements` neighbours in `bytes` bytes.
struct GgufType {
    std::uint32_t id;
    std::string_view name;  ///< `Q4_K`
    std::uint32_t elements, bytes;
    std::optional<DType> dtype;  ///< of single elements, if Cairn has it; blocks are bytes
};

/// The row of that number; null if it is not known.
const GgufType* find_gguf_type(std::uint32_t id) noexcept;

}  // namespace cairn::weights
