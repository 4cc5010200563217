#pragma once

#include <cstdint>

namespace cairn::emulated_cuda {

/// A generator of random numbers (splitmix64): the same sequence for a seed on every machine.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint32_t next() {
        std::uint64_t bits = state_ += 0x9e3779b97f4a7c15u;
        bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
        bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
        return static_cast<std::uint32_t>(bits >> 32);
    }
    /// A number below `bound`, which is not 0.
    std::uint32_t below(std::size_t bound) {
        return static_cast<std::uint32_t>((std::uint64_t{next()} * static_cast<std::uint64_t>(bound)) >> 32);
    }

private:
    std::uint64_t state_;
};

}  // namespace cairn::emulated_cuda
