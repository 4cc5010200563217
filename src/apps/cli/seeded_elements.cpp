#include "apps/cli/seeded_elements.hpp"

#include "cairn/problem.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cairn::cli {
namespace {

/// splitmix64 (Steele et al., OOPSLA 2014).
std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

template <typename T, typename Value>
std::vector<std::byte> made_of(std::size_t count, const Value& value) {
    std::vector<std::byte> bytes(count * sizeof(T));
    for (std::size_t i = 0; i < count; ++i) {
        const T element = value(i);
        std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
    }
    return bytes;
}

}  // namespace

std::uint16_t f16_bits(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 31 << 15, exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
    constexpr std::uint32_t bias_difference = 127 - 15;
    if (exponent <= bias_difference) return static_cast<std::uint16_t>(sign);
    return static_cast<std::uint16_t>(sign | (exponent - bias_difference) << 10 | fraction >> 13);
}

std::vector<std::byte> seeded_elements(std::uint64_t seed, std::string_view name, std::size_t count,
                                       const ElementKind& kind) {
    constexpr std::uint64_t step = 0x9e3779b97f4a7c15;
    const std::uint64_t begin = mixed(digest(name).low + mixed(seed + 1));
    const auto random = [&](std::size_t i) { return mixed(begin + (i + 1) * step); };
    const auto real = [&](std::size_t i) {
        return (static_cast<double>(random(i) >> 11) * 0x1p-52 - 1) * kind.scale;  // 53 bits: -1 .. 1
    };
    const auto whole = [&](std::size_t i) {
        return static_cast<std::int64_t>(random(i) % static_cast<std::uint64_t>(std::max<std::int64_t>(kind.below, 1)));
    };
    switch (kind.dtype) {
        case DType::f64: return made_of<double>(count, real);
        case DType::f32: return made_of<float>(count, [&](std::size_t i) { return static_cast<float>(real(i)); });
        case DType::f16:
            return made_of<std::uint16_t>(count, [&](std::size_t i) { return f16_bits(static_cast<float>(real(i))); });
        case DType::bf16:
            return made_of<std::uint16_t>(count, [&](std::size_t i) {
                return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(real(i))) >> 16);
            });
        case DType::i64: return made_of<std::int64_t>(count, whole);
        case DType::i32:
            return made_of<std::int32_t>(count, [&](std::size_t i) { return static_cast<std::int32_t>(whole(i)); });
        case DType::i8:
            return made_of<std::int8_t>(count, [&](std::size_t i) { return static_cast<std::int8_t>(whole(i) % 128); });
        case DType::u8:
            return made_of<std::uint8_t>(count,
                                         [&](std::size_t i) { return static_cast<std::uint8_t>(whole(i) % 256); });
        case DType::boolean:
            return made_of<std::uint8_t>(count,
                                         [&](std::size_t i) { return static_cast<std::uint8_t>(random(i) >> 63); });
    }
    return {};
}

}  // namespace cairn::cli
