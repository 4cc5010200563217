#pragma once

#include <cstdint>
#include <vector>

namespace cairn::compare {

/// A fixed piece of work that is timed beside every turn: its time tells how fast the machine was just then. All
/// threads compute 2^22 multiply-adds each on a table of 16 KiB, and then read 4 MiB each.
class Calibration {
public:
    explicit Calibration(std::int64_t threads);
    /// Seconds of one piece of work, the least of five.
    double measure();

private:
    double work(std::size_t thread);

    std::vector<std::vector<float>> tables_;
    std::vector<std::vector<std::uint64_t>> memory_;
    volatile double sink_ = 0;
};

}  // namespace cairn::compare
