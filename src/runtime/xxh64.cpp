#include "runtime/xxh64.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace cairn::runtime {
namespace {

constexpr std::uint64_t prime1 = 0x9e3779b185ebca87, prime2 = 0xc2b2ae3d27d4eb4f, prime3 = 0x165667b19e3779f9,
                        prime4 = 0x85ebca77c2b2ae63, prime5 = 0x27d4eb2f165667c5;

template <typename T>
std::uint64_t load(const std::byte* from) noexcept {
    T word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

std::uint64_t round(std::uint64_t lane, std::uint64_t word) noexcept {
    return std::rotl(lane + word * prime2, 31) * prime1;
}

std::uint64_t avalanche(std::uint64_t hash) noexcept {
    hash = (hash ^ (hash >> 33)) * prime2;
    hash = (hash ^ (hash >> 29)) * prime3;
    return hash ^ (hash >> 32);
}

/// Hash of the leading stripes of 32 bytes, which are removed from `bytes`.
std::uint64_t of_stripes(std::span<const std::byte>& bytes) noexcept {
    if (bytes.size() < 32) return prime5;
    std::array<std::uint64_t, 4> lanes{prime1 + prime2, prime2, 0, 0 - prime1};
    for (; bytes.size() >= 32; bytes = bytes.subspan(32))
        for (std::size_t i = 0; i < 4; ++i) lanes[i] = round(lanes[i], load<std::uint64_t>(bytes.data() + 8 * i));
    std::uint64_t hash =
        std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (const std::uint64_t lane : lanes) hash = (hash ^ round(0, lane)) * prime1 + prime4;
    return hash;
}

}  // namespace

std::uint64_t xxh64(std::span<const std::byte> bytes) noexcept {
    const std::uint64_t size = bytes.size();
    std::uint64_t hash = of_stripes(bytes) + size;
    for (; bytes.size() >= 8; bytes = bytes.subspan(8))
        hash = std::rotl(hash ^ round(0, load<std::uint64_t>(bytes.data())), 27) * prime1 + prime4;
    if (bytes.size() >= 4) {
        hash = std::rotl(hash ^ (load<std::uint32_t>(bytes.data()) * prime1), 23) * prime2 + prime3;
        bytes = bytes.subspan(4);
    }
    for (const std::byte byte : bytes)
        hash = std::rotl(hash ^ (std::to_integer<std::uint64_t>(byte) * prime5), 11) * prime1;
    return avalanche(hash);
}

}  // namespace cairn::runtime
