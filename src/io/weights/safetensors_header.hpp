#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/weights/safetensors_dtype.hpp"

namespace cairn::weights {

/// A tensor as described by a header, proved to lie inside the file.
struct TensorInfo {
    std::string name;
    const SafetensorsDType* dtype = nullptr;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0;  ///< bytes from the start of the file
};

struct SafetensorsHeader {
    std::vector<TensorInfo> tensors;  ///< in the order of their bytes
    std::map<std::string, std::string, std::less<>> metadata;
};

/// The longest header that is accepted: 100,000,000 bytes, as in the reference loader.
inline constexpr std::uint64_t max_header_bytes = 100'000'000;

/// Parses and checks the header of a whole safetensors file in memory; the tensors' own bytes are not touched. `file`
/// names it in messages. Checks, in this order: 8 length bytes; the length at most 100,000,000 and inside the file; `{`
/// first; UTF-8; JSON; the fields of each tensor, none missing, repeated or unknown; then in the order of offsets: each
/// tensor begins where the previous one ended and does not end before it begins, the product of its shape, its bits and
/// its bytes do not overflow and equal its span; the last ends where the file ends. Throws Error(file) with the first
/// fault.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> bytes, std::string_view file);

}  // namespace cairn::weights
