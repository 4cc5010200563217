#pragma once

#include "device/backend.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Declares the index of a file of packed weights: the values it holds, their offsets, and checksums of their bytes.
namespace cairn::runtime {

/// Maximum number of bytes that one checksum covers.
inline constexpr std::uint64_t checksum_block_bytes = std::uint64_t{1} << 20;

/// Index of a file of packed weights.
struct PackedIndex {
    struct Value {
        std::uint64_t offset = 0, bytes = 0;   ///< in the file's data
        std::vector<std::uint64_t> checksums;  ///< xxh64 of each block
        friend bool operator==(const Value&, const Value&) = default;
    };
    std::map<std::string, Value, std::less<>> values;  ///< by name
    friend bool operator==(const PackedIndex&, const PackedIndex&) = default;
};

/// The text form: a line with the checksum and its block size, a line per value, and a digest of those lines and
/// `weights`.
///
///     xxh64 of blocks of 1048576
///     5f0c... 0 2359296 8d1a... 77b0... 0c52...
///     digest 9a3e...
std::string to_string(const PackedIndex& index, std::string_view weights);
/// Parses the text form. Throws Error(argument) with the reason if to_string() has not made the text for these weights.
PackedIndex parse_packed_index(std::string_view text, std::string_view weights);

/// A block of bytes and its expected checksum.
struct ChecksumBlock {
    std::span<const std::byte> bytes;
    std::uint64_t sum = 0;
};

/// Splits a value into blocks, with the checksums of `value`, or 0 if it has none.
void add_blocks(std::span<const std::byte> bytes, const PackedIndex::Value& value, std::vector<ChecksumBlock>& blocks);
/// Computes the checksums of all blocks, with these threads if they are given.
std::vector<std::uint64_t> checksums_of(std::span<const ChecksumBlock> blocks, device::HostThreads* threads);

}  // namespace cairn::runtime
