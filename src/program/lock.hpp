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

/// One kernel call of a cover. Operands are named by node id in the graph after the expand stage and by physical
/// property: `%7` dense, `%7[panel.f32]` in a layout, `%7:state` in the memory of a state.
struct CoverStep {
    std::string result;                           ///< computed value
    std::string kernel;                           ///< Kernel::id
    std::string problem;                          ///< problem_digest() of its Problem's text
    std::string operands;                         ///< space-separated, one word per operand
    std::string results;                          ///< space-separated, one word per result; empty for a packing step
    double seconds = 0, error = 0, rounding = 0;  ///< estimates of the selection
    std::shared_ptr<const Problem> chosen_for = nullptr;  ///< null if the step was parsed from text
    /// Compares all members except `chosen_for`.
    friend bool operator==(const CoverStep& a, const CoverStep& b) {
        return a.result == b.result && a.kernel == b.kernel && a.problem == b.problem && a.operands == b.operands &&
               a.results == b.results && a.seconds == b.seconds && a.error == b.error && a.rounding == b.rounding;
    }
};

/// The kernel calls selected for one program, in the order of the selection.
using CoverSteps = std::vector<CoverStep>;

/// Recorded selection: the kernels chosen for each Problem, the boundaries of the buckets and, for the graph that was
/// compiled, the cover of each bucket. The covers reproduce the programs of that graph. For any other graph the calls
/// alone restrict the selection.
struct Lock {
    struct Call {
        std::string kernel;             ///< Kernel::id
        double seconds = 0, error = 0;  ///< as estimated by the selection
        friend bool operator==(const Call&, const Call&) = default;
    };
    /// The cover of one bucket.
    struct Cover {
        std::vector<ExplainedBucket::Range> ranges;  ///< empty: all sizes
        CoverSteps steps;
        CoverSteps exact;  ///< of the exact program that verifies an inexact one; empty: no such program
        friend bool operator==(const Cover&, const Cover&) = default;
    };
    std::map<std::string, std::vector<Call>, std::less<>> calls;         ///< keyed by the Problem's text
    std::map<std::string, std::vector<std::int64_t>, std::less<>> ends;  ///< per split symbol, as Split::upper_bounds
    std::string selection_key;    ///< digest of the graph and the options of the covers; empty: there are no covers
    std::string stored;           ///< storage dtype of states if narrower than declared; else empty
    Device states = Device::cpu;  ///< device whose memory holds the states
    std::vector<Cover> covers;

    /// The recorded call; null if the kernel was not chosen for the Problem.
    const Call* find(std::string_view problem, std::string_view kernel) const;
    /// Adds the kernel calls of a program's bind and run sections. A program parsed from text lacks `error` and
    /// `chosen_for`.
    void add(const Program& program);
    /// Fills in `problem` of recorded steps and adds their calls. The steps need `chosen_for`.
    void add_calls(CoverSteps& steps);
    friend bool operator==(const Lock&, const Lock&) = default;
};

/// Short name of a Problem: the first 16 digits of the digest of its text.
std::string problem_digest(std::string_view problem);

/// The text form: one record per line; the last line is the SHA-256 of those before it.
///
///     cairn lock 2
///     graph 0f3c9be2b7a1d5c4e8f60a1b2c3d4e5f
///     split T 1 12
///     call 5d0a3cc6b1f2e977 1.2e-05 0 cpu.avx2.exp.f32@1 exp | f32[T,64] -> f32[T,64] where T in 2..12
///     cover T 2 12
///     step %5 cpu.avx2.exp.f32@1 5d0a3cc6b1f2e977 %0 -> %5
///     sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
std::string to_string(const Lock& lock);
/// Parses the text form. Throws Error(argument) for an ill-formed line, naming it, for a modified text, and for another
/// version of the format.
Lock parse_lock(std::string_view text);

}  // namespace cairn::program
