#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::memory_plan {

/// Pseudo-random numbers that are the same on every machine (Marsaglia, "Xorshift RNGs", 2003).
class Xorshift {
public:
    /// A number from 0 to `bound` - 1.
    std::uint32_t below(std::size_t bound) noexcept {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<std::uint32_t>((state_ >> 32) % bound);
    }

private:
    std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

}  // namespace cairn::memory_plan
