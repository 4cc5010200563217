#include "autotune/measurement/operand_memory.hpp"

#include "autotune/measurement/splitmix.hpp"
#include "cairn/error.hpp"
#include "device/mapped_memory.hpp"
#include "graph/types/half.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <utility>

namespace cairn::autotune {
namespace {

constexpr std::size_t numbers = 8191;
// Bytes filled between two checks of the clock: about 2 MB, whole patterns.
constexpr std::size_t step = 128 * numbers * sizeof(std::uint16_t);

using Pattern = std::array<std::uint16_t, numbers>;

/// Normal numbers by the Box-Muller transform, with a deviation of 1/8: sums of hundreds or thousands of products of
/// them are about 1, as in models. Activation functions of much larger ones have subnormal intermediate results, which
/// take some CPUs a hundred times as long. Their count is odd, so that operands at different places differ.
Pattern normal_numbers() {
    Pattern table{};
    std::uint64_t state = 1;
    for (std::uint16_t& number : table) {
        const double u = (static_cast<double>(splitmix64(state) >> 11) + 1) * 0x1p-53,
                     v = static_cast<double>(splitmix64(state) >> 11) * 0x1p-53;
        number = types::f64_to_bf16(std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v) / 8);
    }
    return table;
}

void repeat(const Pattern& table, std::byte* data, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += sizeof table)
        std::memcpy(data + at, table.data(), std::min(bytes - at, sizeof table));
}

/// Fills the bytes [from, to) of a region, one step at a time.
void fill_on(device::Memory& memory, std::size_t from, std::size_t to, const Pattern& table,
             const std::stop_token& stop) {
    for (std::size_t at = from; at < to; at += step) {
        if (stop.stop_requested()) throw Cancelled("measure");
        const std::size_t end = std::min(at + step, to);
        memory.touch(0, end);
        device::MappedMemory mapped(memory, {at, end - at}, device::MapAccess::overwrite);
        repeat(table, mapped.row(0), end - at);
        mapped.write_back();
    }
}

}  // namespace

void fill_with_pattern(std::byte* data, std::size_t bytes) { repeat(normal_numbers(), data, bytes); }

void OperandMemory::fill_streamed(std::size_t least, const FillOptions& filling) {
    if (!is_partly_filled()) return;
    const Pattern table = normal_numbers();
    while (filled_ < streamed_.capacity() && (filled_ < least || std::chrono::steady_clock::now() < filling.until)) {
        const std::size_t end = std::min(filled_ + step, streamed_.capacity());
        fill_on(*streamed_.memory, filled_, end, table, filling.stop);
        filled_ = end;
    }
}

void OperandMemory::reserve(std::size_t streamed, std::size_t kept, std::size_t written, const FillOptions& filling) {
    if (streamed > streamed_.capacity()) {
        cursor = filled_ = 0;
        streamed_ = {};
        streamed_ = {backend_.reserve(std::max(streamed, rotation), use_)};
    }
    if (streamed > 0) fill_streamed(streamed, filling);
    if (kept > kept_.capacity()) {
        Region longer{backend_.reserve(std::max(kept, 2 * kept_.capacity()), device::MemoryUse::arena)};
        fill_on(*longer.memory, 0, longer.capacity(), normal_numbers(), filling.stop);
        kept_ = std::move(longer);
    }
    if (written > written_.capacity()) {
        Region longer{backend_.reserve(std::max(written, 2 * written_.capacity()), device::MemoryUse::scratch)};
        for (std::size_t at = 0; at < longer.capacity(); at = std::min(at + step, longer.capacity())) {
            if (filling.stop.stop_requested()) throw Cancelled("measure");
            longer.memory->touch(0, std::min(at + step, longer.capacity()));
        }
        written_ = std::move(longer);
    }
}

}  // namespace cairn::autotune
