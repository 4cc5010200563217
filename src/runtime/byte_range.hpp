#pragma once

#include "cairn/args.hpp"
#include "cairn/types.hpp"

#include <cstddef>
#include <cstdint>

namespace cairn::runtime {

/// A range of memory: address and length in bytes.
struct ByteRange {
    const void* data = nullptr;
    std::size_t bytes = 0;

    bool overlaps(const ByteRange& other) const noexcept {
        const auto begin = reinterpret_cast<std::uintptr_t>(data), from = reinterpret_cast<std::uintptr_t>(other.data);
        return bytes != 0 && other.bytes != 0 && begin < from + other.bytes && from < begin + bytes;
    }
};

/// Size of a dense tensor in bytes.
inline std::size_t byte_count(const TensorArg& tensor, std::size_t element_bytes) noexcept {
    std::size_t bytes = element_bytes;
    for (int i = 0; i < tensor.rank; ++i) bytes *= static_cast<std::size_t>(tensor.shape[i]);
    return bytes;
}
inline std::size_t byte_count(const TensorArg& tensor, DType dtype) noexcept {
    return byte_count(tensor, size_of(dtype));
}

}  // namespace cairn::runtime
