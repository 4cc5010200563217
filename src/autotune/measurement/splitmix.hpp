#pragma once

#include <cstdint>

namespace cairn::autotune {

/// splitmix64 (Steele et al., OOPSLA 2014): the next number of a sequence that is the same on every machine.
inline std::uint64_t splitmix64(std::uint64_t& state) noexcept {
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

}  // namespace cairn::autotune
