#pragma once

#include "cairn/version.hpp"

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::inline v0 {

/// What refused a kernel, and therefore which option could admit it.
enum class RefusedBy : std::uint8_t {
    nobody,     ///< it may be taken
    kernel,     ///< itself: Kernel::accepts, or another of its functions
    features,   ///< the CPU, or ContextOptions::features, lacks instructions that it needs
    device,     ///< its device is not there
    rule,       ///< a rule in the timing database
    lock,       ///< CompileOptions::lock names other kernels
    tolerance,  ///< CompileOptions::tolerance, or the tolerance of an output, is less than its error
};

/// What a kernel said when it was asked for something, and what it is expected to cost.
struct ExplainedKernel {
    std::string kernel;   ///< Kernel::id
    std::string problem;  ///< the text form of what it was asked for, operands as they lie, copied or packed
    std::string refusal;  ///< why it is not taken, whatever it costs; empty: it may be
    /// Time of one call, measured or estimated, as a mean over ExplainedBucket::sizes. 0 if the kernel was refused or
    /// its measurement failed.
    double seconds = 0;
    bool measured = false;  ///< false: `seconds` is an estimate
    std::string
        expected_from;  ///< the machine, told of by a seed, that the estimate is carried over from; mostly empty
    /// Why the estimate is not the kernel's own cost, or why the kernel was not taken although it is faster than the
    /// one that was. Usually empty.
    std::string note;
    double error = 0;                          ///< relative, as Kernel::error counts it; 0: exact
    bool error_measured = false;               ///< false: `error` is what the kernel promises
    bool is_reference = false;                 ///< one of the plain kernels that stand behind all others
    RefusedBy refused_by = RefusedBy::nobody;  ///< where there is a refusal
    /// Sizes and reason of a failed measurement (`at N = 4: out of memory`). Such a kernel is taken only if there is no
    /// other.
    std::string failure = {};
    /// True if the tune ended before this kernel was measured and others were: it is taken only if no measured kernel
    /// can be.
    bool ranked_last = false;
    bool at_least = false;  ///< the measurement was cut short: `seconds` are a lower bound
    friend bool operator==(const ExplainedKernel&, const ExplainedKernel&) = default;
};

/// One call of a kernel in a program.
struct ExplainedInstruction {
    ExplainedKernel chosen;                      ///< of a loaded program: kernel, problem and the seconds once expected
    std::vector<ExplainedKernel> other_kernels;  ///< every other kernel for the same, in the order of KernelSet; copies
                                                 ///< that save what a state held before it is written over have none
    bool once = false;               ///< done once when weights are bound, not in each run
    std::string op;                  ///< what the program calls the value: `layer_norm`, `matmul`
    std::string where;               ///< the line that made the value (`model.cpp:17`); empty where it is not known
    std::vector<int> reads, writes;  ///< numbers in ExplainedBucket::buffers, one each of the problem's operands
    /// Names given by name() to the values it computes, results first: `layer 3 attention`.
    std::vector<std::string> names = {};
    friend bool operator==(const ExplainedInstruction&, const ExplainedInstruction&) = default;
};

/// What instructions of a bucket hand to one another.
struct ExplainedBuffer {
    std::string kind;        ///< as of BufferMemory, or `input`
    std::string name;        ///< of a weight, state, input or output; else empty
    std::int64_t bytes = 0;  ///< where the size is constant, as of all weights; else 0
    friend bool operator==(const ExplainedBuffer&, const ExplainedBuffer&) = default;
};

/// One way to come by a value: by a match of a definition, fused or not, in one spelling of the value.
struct ExplainedAlternative {
    std::string definition;  ///< of the match: `linear`, `elementwise`, an op's name
    std::string view;        ///< the value is not made itself but seen so (`slice`) in another one that `definition` is
                             ///< of, or copied out of it: q in the merged product of q, k and v; else empty
    std::string laws;        ///< by which this spelling equals the program's: `exact`, `distributed reassociated`
    std::vector<ExplainedKernel> kernels;  ///< each kernel of the definition once: its best answer to all it was asked
    int best = -1;        ///< the kernel that the cheapest program with this way takes here; -1: none can be taken
    bool chosen = false;  ///< it is in the program
    /// Difference in run time, in seconds, between the cheapest program of this bucket with this alternative and the
    /// cheapest one with the alternative that was taken for the value (the cheapest program, if none was taken). It is
    /// a difference of sums of kernel times; the programs of other buckets are unchanged; work done once and `price`
    /// are not included. Negative if the sums favour this alternative: then `decided_by` says why it was not taken, or
    /// it keeps more bytes. Empty if no program has it.
    std::optional<double> slower = {};
    double more_bytes = 0;  ///< that the same program keeps in memory for good; below 0: fewer
    /// Seconds that selection adds to `slower` for these bytes (CompileOptions::seconds_per_kept_byte) and for work
    /// that is done once. The alternative with the least sum of both is taken.
    double price = 0;
    /// Why it is not taken although `slower + price` is below 0: `slower when run whole: 1.03x`. Else empty.
    std::string decided_by = {};
    friend bool operator==(const ExplainedAlternative&, const ExplainedAlternative&) = default;
};

/// A value that something was found to compute. Where no way is chosen the program has no need of it: what is made of
/// it is computed whole, or in another spelling.
struct ExplainedValue {
    std::string value;                               ///< its type: `f32[N,64]`
    std::string op, where;                           ///< as of an instruction
    bool once = false;                               ///< made when weights are bound
    std::vector<ExplainedAlternative> alternatives;  ///< the chosen one first, then by `slower + price`
    std::string name = {};                           ///< that name() gave it; mostly empty
    friend bool operator==(const ExplainedValue&, const ExplainedValue&) = default;
};

/// What errors of kernels on the way to an output, or to a state, add up to.
struct ExplainedError {
    std::string of;         ///< `output "y"`
    double error = 0;       ///< the sum, to first order
    double allowed = 0;     ///< 0: none
    bool verified = false;  ///< a run of the bucket has been compared with its exact program
    double found = 0;       ///< the largest that was found so; infinite as of VerifiedError
    friend bool operator==(const ExplainedError&, const ExplainedError&) = default;
};

/// The program for one range of sizes.
struct ExplainedBucket {
    /// A symbol that splits cut, and the sizes that the bucket is for, both ends included.
    struct Range {
        std::string symbol;              ///< its name
        std::int64_t low = 0, high = 0;  ///< both included
        friend bool operator==(const Range&, const Range&) = default;
    };
    std::vector<Range> ranges;  ///< empty: all sizes
    /// Where it was judged: each a value for every symbol of the bucket that has several.
    std::vector<std::vector<std::pair<std::string, std::int64_t>>> sizes;
    double seconds = 0;                  ///< expected of one run, as a mean over `sizes`
    std::vector<ExplainedError> errors;  ///< where a tolerance is not exact
    bool fell_back = false;  ///< an error found was beyond what is allowed: an exact program, told nothing of, runs
    std::vector<ExplainedInstruction> instructions;  ///< what is done once in front, then the run, each in its order
    std::vector<ExplainedBuffer> buffers;            ///< what those read and write, by number
    std::vector<ExplainedValue> values;              ///< mostly operands before their users
    friend bool operator==(const ExplainedBucket&, const ExplainedBucket&) = default;
};

/// Programs that were run whole beside the best so far, since a sum of kernel times is not the time of a program: those
/// that cost least by sums without some kinds of calls, or as a compile without measuring would compute it all.
struct ProgramTrial {
    /// Of each kind its bucket, kernel, problem and the line that made the value, with bars between:
    /// `0 | cpu.eigen_avx2.matmul@1 | matmul | f32[T,64] f32[64,64]! -> f32[T,64] | model.cpp:31`
    std::vector<std::string> without;
    bool as_unmeasured = false;  ///< they ask for what the programs of a compile without measuring do, by any kernel
    double expected = 0;         ///< how much longer they take by sums, as a part of what all buckets take
    double ratio = 1;            ///< their time by that of the best so far, of the buckets in which they differ
    double low = 1, high = 1;    ///< the interval that it lies in, with a confidence of 0.98
    /// Times that each was measured. 0: no run could tell, and since sums do not promise enough, what a compile without
    /// measuring chooses was kept.
    int samples = 0;
    bool won = false;  ///< they were the best from then on
    friend bool operator==(const ProgramTrial&, const ProgramTrial&) = default;
};

/// How far a tune had come at some time.
struct TuningPoint {
    double seconds = 0;  ///< since it began
    /// Of one run of each bucket, times its weight, by the plan in hand: as measured, else as estimated.
    double expected = 0;
    std::int64_t measured = 0;  ///< times taken so far
    friend bool operator==(const TuningPoint&, const TuningPoint&) = default;
};

/// Why a compiled graph became what it is; made by CompiledGraph::explain().
///
///     const Explanation why = model.explain();
///     for (const ExplainedInstruction& each : why.buckets[0].instructions)
///         std::cout << each.chosen.kernel << " of " << each.rivals.size() + 1 << '\n';
struct Explanation {
    /// A kernel that the Context has.
    struct AvailableKernel {
        std::string kernel, definition;  ///< Kernel::id, Kernel::definition
        friend bool operator==(const AvailableKernel&, const AvailableKernel&) = default;
    };
    std::string graph;  ///< its name
    std::vector<ExplainedBucket> buckets;
    std::vector<AvailableKernel> kernels;  ///< in the order of KernelSet
    std::vector<ProgramTrial> trials;      ///< of this compile, in their order
    /// How the tune that led to these programs went, in this compile or an earlier one that the timing database tells
    /// of: where the plan in hand changed. The last point is the plan that was taken. Empty where none did.
    std::vector<TuningPoint> tuning;
    /// False of what was loaded from a file: it keeps the instructions, their expected seconds and no more.
    bool has_alternatives = false;
    /// False: a search was cut, or programs that cost more by sums were faster as a whole; some `slower` are missing
    /// or too large.
    bool is_exact = true;
    /// No other programs cost less by more than this part of what all of these cost together: 0 where the best were
    /// found, 1 where nothing is known.
    double optimality_gap = 0;
    /// Notes on the times that were used, a sentence each: `times in the database were measured with 2 threads, this
    /// Context has 1`.
    std::vector<std::string> notes = {};
    friend bool operator==(const Explanation&, const Explanation&) = default;
};

/// The summary of the bucket that takes longest: see summary().
CAIRN_API std::string to_string(const Explanation& explanation);
/// Writes to_string(explanation).
CAIRN_API std::ostream& operator<<(std::ostream& out, const Explanation& explanation);

/// At most 40 lines about a bucket: the time of a run and how much of it is measured; the ten instructions that take
/// longest, equal calls together, with their share, definition, kernel, and the names of values, weights and inputs;
/// the runner-up and by how much it loses; what is made of weights once; what was refused and could be allowed; what a
/// tune would still find out. Throws Error(argument) where there is no such bucket.
///
///     layer, T in 2..12, judged at T = 3, 5 and 9: 26.9 us a run, 80 % of it measured
///     what takes longest (2 instructions)
///        80.0 %  21.5 us      matmul   cpu.panel_avx512.matmul.f32@4 | reads x, w (app.cpp:9) "scores"
///        20.0 %  5.38 us est. softmax  cpu.avx512.softmax.f32@1 (app.cpp:10)
///     ...
CAIRN_API std::string summary(const Explanation& explanation, std::size_t bucket);

/// The whole explanation as text: for each bucket its instructions with the verdicts on the other kernels, then the
/// values that several alternatives compute, with the cost of each. Equal verdicts are printed once; equal values
/// (those of equal layers) are counted.
///
///     bucket T in 2..12, judged at T = 3 and T = 5 and T = 9: 0.0004 s a run
///       cpu.avx512.softmax.f32@1 1.2e-05 s measured | softmax axis=(-1) | f32[T,64] -> f32[T,64] of softmax
///       (app.cpp:9)
///         cpu.avx2.softmax.f32@1                       1.9e-05 s measured
///       other ways, and how much longer a run takes by the best program with each
///         f32[T,64] of softmax (app.cpp:9)
///           taken         cpu.avx512.softmax.f32@1 1.2e-05 s measured | softmax axis=(-1) | f32[T,64] -> f32[T,64]
///           +4e-05 s      cpu.avx512.div@1 1.1e-05 s estimated | div | f32[T,64] f32[T,64]:(1,0) -> f32[T,64]
CAIRN_API std::string details(const Explanation& explanation);

/// What came of a kernel, by its id, or of all kernels of a definition, by its name: a line for each place where it was
/// considered, equal ones counted: that it was taken, why it was refused, or what it was beaten by and by how much.
/// An empty name: every refusal, and every measurement that failed, of all kernels.
/// Throws Error(argument) naming the nearest where there is no such kernel and no such definition.
///
///     why_not(model.explain(), "cpu.avx2.softmax.f32@1")
///     ->  12 x cpu.avx2.softmax.f32@1 for f32[T,64] of softmax (app.cpp:9): 1.9e-05 s measured, beaten by
///         cpu.avx512.softmax.f32@1 by 7e-06 s
CAIRN_API std::string why_not(const Explanation& explanation, std::string_view kernel);

}  // namespace cairn::inline v0
