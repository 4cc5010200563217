#pragma once

#include "cairn/explanation.hpp"
#include "program/program.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::program {

/// One kernel call of a cover. Values are named by their node numbers in the graph after the expand stage, and by where
/// they lie: `%7` dense, `%7[panel.f32]` packed, `%7:state` in the memory of a state.
struct CoverStep {
    std::string result;                                   ///< the value that is computed
    std::string kernel;                                   ///< Kernel::id
    std::string problem;                                  ///< problem_digest its Problem's text
    std::string operands;                                 ///< one word for each
    std::string results;                                  ///< one word for each; none of a packing
    double seconds = 0, error = 0, rounding = 0;          ///< as selection counted them; `error` includes `rounding`
    std::shared_ptr<const Problem> chosen_for = nullptr;  ///< of a step that was not read from a text
    /// Of all but `chosen_for`.
    friend bool operator==(const CoverStep& a, const CoverStep& b) {
        return a.result == b.result && a.kernel == b.kernel && a.problem == b.problem && a.operands == b.operands &&
               a.results == b.results && a.seconds == b.seconds && a.error == b.error && a.rounding == b.rounding;
    }
};

/// The kernel calls that one program was chosen to consist of, in the order in which selection lists them.
using CoverSteps = std::vector<CoverStep>;

/// What was selected: for each Problem that programs solve the kernel, where ranges of sizes end, and of the graph that
/// was compiled the whole cover of each range. The covers reproduce the programs of that graph; the calls alone
/// restrict the selection for any other.
struct Lock {
    struct Call {
        std::string kernel;             ///< Kernel::id
        double seconds = 0, error = 0;  ///< as they were counted
        friend bool operator==(const Call&, const Call&) = default;
    };
    /// The selection for one range of sizes.
    struct Cover {
        std::vector<ExplainedBucket::Range> ranges;  ///< none: all sizes
        CoverSteps steps;
        CoverSteps exact;  ///< of the exact program that verifies an inexact one; none: there is no such program
        friend bool operator==(const Cover&, const Cover&) = default;
    };
    std::map<std::string, std::vector<Call>, std::less<>> calls;         ///< by the text of the Problem
    std::map<std::string, std::vector<std::int64_t>, std::less<>> ends;  ///< of each symbol that splits cut, as
                                                                         ///< Split::upper_bounds
    std::string
        selection_key;   ///< digest of the graph and the options that the covers are for; empty: there are no covers
    std::string stored;  ///< dtype that states are stored in where it is narrower than declared; else empty
    Device states = Device::cpu;  ///< in the memory of which states lie
    std::vector<Cover> covers;

    /// Null where the kernel was not chosen for the Problem.
    const Call* find(std::string_view problem, std::string_view kernel) const;
    /// Adds what a program calls, in runs and once. Of one that was read from a text not all is known.
    void add(const Program& program);
    /// Names the Problems of recorded steps and adds their calls.
    void add_calls(CoverSteps& steps);
    friend bool operator==(const Lock&, const Lock&) = default;
};

/// A short name of a Problem's text: the first 16 digits of its digest.
std::string problem_digest(std::string_view problem);

/// Lines, the last of which is a SHA-256 of those before it:
///
///     cairn lock 2
///     graph 0f3c9be2b7a1d5c4e8f60a1b2c3d4e5f
///     split T 1 12
///     call 5d0a3cc6b1f2e977 1.2e-05 0 cpu.avx2.exp.f32@1 exp | f32[T,64] -> f32[T,64] where T in 2..12
///     cover T 2 12
///     step %5 cpu.avx2.exp.f32@1 5d0a3cc6b1f2e977 %0 -> %5
///     sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
std::string to_string(const Lock& lock);
/// Throws Error(argument) naming the line, for a text that was changed, and for another version of the format.
Lock parse_lock(std::string_view text);

}  // namespace cairn::program
