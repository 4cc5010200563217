#pragma once

#include <cstdint>
#include <vector>

namespace cairn::compare {

/// A fixed piece of work that is timed beside every turn: its time tells how fast the machine was just then. All
/// threads compute 2^26 multiply-adds each on a table of 16 KiB, and then read 4 MiB 16 times each. That takes about 20
/// ms: a piece of few milliseconds often fits between two switches of a busy system, and shows nothing.
class Calibration {
public:
    explicit Calibration(std::int64_t threads);
    /// Seconds of one piece of work.
    double measure();

private:
    double work(std::size_t thread);

    std::vector<std::vector<float>> tables_;
    std::vector<std::vector<std::uint64_t>> memory_;
    volatile double sink_ = 0;
};

}  // namespace cairn::compare
