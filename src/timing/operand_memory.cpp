#include "timing/operand_memory.hpp"

#include "timing/splitmix.hpp"
#include "types/half.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>

namespace cairn::inline v0::timing {
namespace {

constexpr std::size_t step = 2 << 20;

/// Normal numbers by Box and Muller. Their count is odd, so that operands at different places differ.
std::array<std::uint16_t, 8191> normal_numbers() {
    std::array<std::uint16_t, 8191> table{};
    std::uint64_t state = 1;
    for (std::uint16_t& number : table) {
        const double u = (static_cast<double>(mix(state) >> 11) + 1) * 0x1p-53,
                     v = static_cast<double>(mix(state) >> 11) * 0x1p-53;
        number = types::f64_to_bf16(std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v));
    }
    return table;
}

device::Arena filled(std::size_t bytes) {
    device::Arena memory = device::Arena::reserve(bytes, {.huge_pages = bytes >= step});
    memory.touch(bytes);
    fill_with_pattern(memory.data(), bytes);
    return memory;
}

}  // namespace

void fill_with_pattern(std::byte* data, std::size_t bytes) {
    const auto table = normal_numbers();
    for (std::size_t at = 0; at < bytes; at += sizeof table)
        std::memcpy(data + at, table.data(), std::min(bytes - at, sizeof table));
}

void OperandMemory::reserve(std::size_t streamed, std::size_t kept, std::size_t written) {
    if (streamed > streamed_.capacity()) {
        cursor = 0;
        streamed_ = {};
        streamed_ = filled(std::max(streamed, rotation));
    }
    if (kept > kept_.capacity()) kept_ = filled(std::max(kept, 2 * kept_.capacity()));
    if (written > written_.capacity()) {
        written_ = device::Arena::reserve(std::max(written, 2 * written_.capacity()));
        written_.touch(written_.capacity());
    }
}

}  // namespace cairn::inline v0::timing
