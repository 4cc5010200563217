#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/weights/gguf_type.hpp"

namespace cairn::weights {

/// Types of metadata, by their numbers in files.
enum class GgufValueType : std::uint32_t {
    u8 = 0,
    i8 = 1,
    u16 = 2,
    i16 = 3,
    u32 = 4,
    i32 = 5,
    f32 = 6,
    boolean = 7,
    string = 8,
    array = 9,
    u64 = 10,
    i64 = 11,
    f64 = 12,
};

/// A value of the metadata, or an array of them, proved to lie inside the file.
struct GgufValue {
    GgufValueType type = GgufValueType::u8;  ///< of the elements of an array
    bool is_array = false;
    std::uint64_t count = 1;  ///< elements
    std::uint64_t begin =
        0;  ///< of the first element, in bytes from the start of the file; strings begin with a length
};

/// A tensor of the list, proved to lie inside the file.
struct GgufTensor {
    std::string name;
    const GgufType* type = nullptr;
    std::vector<std::int64_t> shape;   ///< the contiguous axis last
    std::uint64_t begin = 0, end = 0;  ///< bytes from the start of the file
};

struct GgufHeader {
    std::map<std::string, GgufValue, std::less<>> values;
    std::vector<GgufTensor> tensors;  ///< in the order of the file
};

/// Parses and checks the head of a whole GGUF file in memory; the tensors' own bytes are not touched. `file` names it
/// in messages. Throws Error(file) with the first fault.
GgufHeader parse_gguf_header(std::span<const std::byte> bytes, std::string_view file);

/// What a value is, for messages: `a string`, `an array of i32`.
std::string describe(const GgufValue& value);

/// The elements of a value of the file `bytes`; nothing if it is of another type: integers (u64 only up to 2^63 - 1),
/// numbers of any integer or float type, booleans, strings.
std::optional<std::vector<std::int64_t>> integers_of(const GgufValue& value, std::span<const std::byte> bytes);
std::optional<std::vector<double>> numbers_of(const GgufValue& value, std::span<const std::byte> bytes);
std::optional<std::vector<bool>> booleans_of(const GgufValue& value, std::span<const std::byte> bytes);
std::optional<std::vector<std::string>> strings_of(const GgufValue& value, std::span<const std::byte> bytes);

}  // namespace cairn::weights
