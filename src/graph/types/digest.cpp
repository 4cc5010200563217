#include <bit>
#include <string>

#include "graph/types/siphash.hpp"

namespace cairn::types {

namespace {

struct SipState {
    std::uint64_t v0, v1, v2, v3;

    void rounds(int count) noexcept {
        for (int i = 0; i < count; ++i) {
            v0 += v1;
            v2 += v3;
            v1 = std::rotl(v1, 13) ^ v0;
            v3 = std::rotl(v3, 16) ^ v2;
            v0 = std::rotl(v0, 32) + v3;
            v2 += v1;
            v3 = std::rotl(v3, 21) ^ v0;
            v1 = std::rotl(v1, 17) ^ v2;
            v2 = std::rotl(v2, 32);
        }
    }

    void absorb(std::uint64_t word) noexcept {
        v3 ^= word;
        rounds(2);
        v0 ^= word;
    }

    std::uint64_t sum() const noexcept { return v0 ^ v1 ^ v2 ^ v3; }
};

std::uint64_t little_endian(std::span<const std::byte> bytes) noexcept {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    return word;
}

}  // namespace

Digest siphash128(std::span<const std::byte> data, std::uint64_t key0, std::uint64_t key1) noexcept {
    // "somepseudorandomlygeneratedbytes" in ASCII; the 0xee selects the long output.
    SipState state{key0 ^ 0x736f6d6570736575u, key1 ^ 0x646f72616e646f6du ^ 0xee, key0 ^ 0x6c7967656e657261u,
                   key1 ^ 0x7465646279746573u};
    const std::uint64_t length = std::uint64_t{data.size()} << 56;
    while (data.size() >= 8) {
        state.absorb(little_endian(data.first(8)));
        data = data.subspan(8);
    }
    state.absorb(length | little_endian(data));
    state.v2 ^= 0xee;
    state.rounds(4);
    const std::uint64_t first = state.sum();
    state.v1 ^= 0xdd;
    state.rounds(4);
    return {state.sum(), first};
}

}  // namespace cairn::types

namespace cairn::inline v0 {

Digest digest(std::string_view text) noexcept { return types::siphash128(std::as_bytes(std::span(text)), 0, 0); }

std::string to_string(const Digest& digest) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::uint64_t half : {digest.high, digest.low}) {
        for (int shift = 60; shift >= 0; shift -= 4) text += digits[(half >> shift) & 15];
    }
    return text;
}

}  // namespace cairn::inline v0
