#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

/// Packs small strided elements into contiguous memory.
namespace cairn::kernels::cpu {

/// to[i] = at(i), a T, for i < n; stores eight bytes at a time.
template <typename T, typename At>
void store_packed(std::byte* to, std::int64_t n, At at) noexcept {
    constexpr int together = 8 / static_cast<int>(sizeof(T));
    constexpr std::int64_t bytes = sizeof(T);
    std::int64_t i = 0;
    for (; i + together <= n; i += together) {
        T elements[together];
        for (int k = 0; k < together; ++k) elements[k] = at(i + k);
        std::uint64_t all = 0;
        if constexpr (std::endian::native == std::endian::little)
            for (int k = together - 1; k >= 0; --k)
                all = together > 1 ? all << (8 * bytes % 64) | elements[k] : elements[k];
        else
            std::memcpy(&all, elements, 8);
        std::memcpy(to + i * bytes, &all, 8);
    }
    for (; i < n; ++i) {
        const T element = at(i);
        std::memcpy(to + i * bytes, &element, sizeof element);
    }
}

}  // namespace cairn::kernels::cpu
