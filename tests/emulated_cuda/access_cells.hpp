#pragma once

#include <array>
#include <cstdint>

namespace cairn::emulated_cuda {

/// One earlier access to a word of memory.
struct Access {
    std::uint32_t launch = 0;  // 0: no access
    std::uint32_t cluster = 0;
    std::uint32_t time = 0;
    std::uint16_t component = 0;  // of the clock: a thread, or the copies of a thread
    std::uint8_t bytes = 0;       // mask of the bytes of the word
    bool write : 1 = false;
    bool atomic : 1 = false;
};

/// The latest accesses to one word of 4 bytes: enough to find unordered accesses, as race detectors for CPUs do. If
/// many threads read a word in turn, some of their accesses are forgotten.
struct AccessCells {
    std::array<Access, 4> cells;

    /// Adds an access. Returns an earlier one with which it races, or null: both touch the same byte, one writes, not
    /// both are atomic, and `ordered(earlier)` is false.
    template <class Ordered>
    const Access* add(const Access& access, std::uint32_t random, const Ordered& ordered) {
        Access* place = nullptr;
        for (Access& cell : cells) {
            if (cell.launch == 0) {
                if (place == nullptr) place = &cell;
                continue;
            }
            const bool same_thread =
                cell.component == access.component && cell.cluster == access.cluster && cell.launch == access.launch;
            const bool before = ordered(cell);
            const bool overlap = (cell.bytes & access.bytes) != 0;
            const bool conflict = (cell.write || access.write) && !(cell.atomic && access.atomic);
            if (overlap && conflict && !before) return &cell;
            // An access is superseded by one that every conflicting access must follow as well.
            const bool covered = (cell.bytes & ~access.bytes) == 0 && (access.write || !cell.write);
            if (covered && before && (same_thread || access.write)) place = &cell;
        }
        // Reads do not displace writes, with which every other access conflicts.
        for (std::uint32_t i = 0; place == nullptr && i < cells.size(); ++i) {
            Access& cell = cells[(random + i) % cells.size()];
            if (!cell.write) place = &cell;
        }
        if (place == nullptr) place = &cells[random % cells.size()];
        *place = access;
        return nullptr;
    }
};

}  // namespace cairn::emulated_cuda
