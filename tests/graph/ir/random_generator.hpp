#pragma once

#include <cstdint>
#include <vector>

namespace cairn::test {

/// Random numbers that are the same on every platform (splitmix64).
class RandomGenerator {
public:
    explicit RandomGenerator(std::uint64_t seed) noexcept
        : state_(seed * 0x9e3779b97f4a7c15ULL + 0x632be59bd9b4e019ULL) {}

    std::uint64_t next() noexcept {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31U);
    }
    /// 0 .. count - 1.
    int below(int count) noexcept { return static_cast<int>(next() % static_cast<std::uint64_t>(count)); }
    /// low .. high, both included.
    std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
        return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
    }
    /// True once in `count` times.
    bool one_in(int count) noexcept { return below(count) == 0; }
    template <typename T>
    const T& pick(const std::vector<T>& list) noexcept {
        return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
    }

private:
    std::uint64_t state_;
};

}  // namespace cairn::test
