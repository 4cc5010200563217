#pragma once

#include "program/program.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::program {

/// What was chosen: of each Problem that programs solve the kernel, and where ranges of sizes end. Enough to choose the
/// same again without a time measured, whatever else becomes of the graph.
struct Lock {
    struct Call {
        std::string kernel;             ///< Kernel::id
        double seconds = 0, error = 0;  ///< as they were counted
        friend bool operator==(const Call&, const Call&) = default;
    };
    std::map<std::string, std::vector<Call>, std::less<>> calls;         ///< by the text of the Problem
    std::map<std::string, std::vector<std::int64_t>, std::less<>> ends;  ///< of each symbol that splits cut, as
                                                                         ///< Split::upper_bounds
    /// Null where the kernel was not chosen for the Problem.
    const Call* find(std::string_view problem, std::string_view kernel) const;
    /// Adds what a program calls, in runs and once. Of one that was read from a text not all is known.
    void add(const Program& program);
    friend bool operator==(const Lock&, const Lock&) = default;
};

/// Lines, the last of which is a SHA-256 of those before it:
///
///     cairn lock 1
///     split T 1 12
///     call 1.2e-05 0 cpu.avx2.linear.f32@1 linear | f32[T,64] f32[64,64]! -> f32[T,64] where T in 2..12
///     sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
std::string to_string(const Lock& lock);
/// Throws Error(argument) naming the line, and for a text that was changed.
Lock parse_lock(std::string_view text);

}  // namespace cairn::inline v0::program
