#pragma once

#include "cairn/types.hpp"

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::inline v0 {

/// What rejected a kernel, and thus which option could admit it.
enum class RefusedBy : std::uint8_t {
    none,       ///< not rejected
    kernel,     ///< the kernel: Kernel::accepts, or another of its functions
    features,   ///< instructions that it needs are missing from the CPU or ContextOptions::features
    device,     ///< its device is not available
    rule,       ///< a rule in the timing database
    lock,       ///< CompileOptions::lock names other kernels
    tolerance,  ///< its error is above CompileOptions::tolerance, or above an output's tolerance
};

/// The answer of a kernel to a query, with its expected cost.
struct ExplainedKernel {
    std::string kernel;   ///< Kernel::id
    std::string problem;  ///< text form of the Problem it was queried for; operands as stored, copied or packed
    std::string refusal;  ///< why it is rejected, regardless of cost; empty: not rejected
    /// Time of one call, measured or estimated: the mean over ExplainedBucket::sizes. 0 if the kernel was rejected or
    /// its measurement failed.
    double seconds = 0;
    bool measured = false;      ///< false: `seconds` is an estimate
    std::string expected_from;  ///< the machine of shipped timings from which the estimate is derived; usually empty
    /// Why the estimate differs from the kernel's own cost, or why the kernel was not chosen although it is faster than
    /// the chosen one. Usually empty.
    std::string note;
    double error = 0;                        ///< relative, as defined at Kernel::error; 0: exact
    bool error_measured = false;             ///< false: `error` is the one that the kernel states
    bool is_reference = false;               ///< one of the reference kernels, which come last in preference
    RefusedBy refused_by = RefusedBy::none;  ///< set if `refusal` is not empty
    /// Sizes and reason of a failed measurement (`at N = 4: out of memory`). Such a kernel is chosen only if there is
    /// no other.
    std::string failure = {};
    /// True if the tune ended before this kernel was measured while others were: it is chosen only if no measured
    /// kernel can be.
    bool ranked_last = false;
    bool is_lower_bound = false;  ///< the measurement was stopped early: `seconds` is a lower bound
    /// The part of `seconds` that its arithmetic alone would take at the peak rate of its unit, and its bytes alone at
    /// the rates of memory and caches, as calibrated. A call whose time is near the larger one is at the machine's
    /// limit. 0 if the machine is not calibrated, or in a loaded program.
    double arithmetic_seconds = 0, memory_seconds = 0;
    friend bool operator==(const ExplainedKernel&, const ExplainedKernel&) = default;
};

/// One kernel call of a program.
struct ExplainedInstruction {
    ExplainedKernel chosen;  ///< in a loaded program: kernel, problem and the seconds expected at compile time
    std::vector<ExplainedKernel> other_kernels;  ///< all other kernels queried for the same, in the order of KernelSet;
                                                 ///< empty for copies that preserve a state's old contents
    bool at_bind = false;                        ///< runs once when weights are bound, not in each run
    std::string op;                              ///< the op or composite that made the value: `layer_norm`, `matmul`
    std::string where;                           ///< source line that made the value (`model.cpp:17`); empty: unknown
    std::vector<int> reads, writes;  ///< indices into ExplainedBucket::buffers, one for each operand of the Problem
    /// Names given by name() to the values it computes, results first: `layer 3 attention`.
    std::vector<std::string> names = {};
    Device device = Device::cpu;  ///< that runs it
    friend bool operator==(const ExplainedInstruction&, const ExplainedInstruction&) = default;
};

/// A buffer that instructions of a bucket read or write.
struct ExplainedBuffer {
    std::string kind;        ///< as BufferMemory::kind, or `input`
    std::string name;        ///< of a weight, state, input or output; otherwise empty
    std::int64_t bytes = 0;  ///< if the size is constant, as for all weights; otherwise 0
    friend bool operator==(const ExplainedBuffer&, const ExplainedBuffer&) = default;
};

/// One alternative for a value: a match of a definition, fused or not, in one expression of the value.
struct ExplainedAlternative {
    std::string definition;  ///< of the match: `linear`, `elementwise`, an op's name
    std::string view;  ///< not empty: the value is a view (`slice`) of another value that `definition` computes, or a
                       ///< copy of that view: q in the merged product of q, k and v
    std::string laws;  ///< laws by which this expression equals the program's: `exact`, `distributed reassociated`
    std::vector<ExplainedKernel> kernels;  ///< each kernel of the definition once, with its best answer
    int best = -1;        ///< index into `kernels`: used by the cheapest program with this alternative; -1: none
    bool chosen = false;  ///< part of the program
    /// Difference in run time, in seconds, between the cheapest program of this bucket with this alternative and the
    /// cheapest one with the alternative that was chosen for the value (the cheapest program, if none was chosen). It
    /// is a difference of sums of kernel times; the programs of other buckets are unchanged; work done once and `price`
    /// are not included. Negative if the sums favour this alternative: then `decided_by` says why it was not chosen, or
    /// it keeps more bytes. Empty if no program has it.
    std::optional<double> slower = {};
    double more_bytes = 0;  ///< bytes that the same program keeps permanently, compared as `slower` is; negative: fewer
    /// Seconds that selection adds to `slower` for these bytes (CompileOptions::seconds_per_kept_byte) and for work
    /// done once. The alternative with the least `slower + price` is chosen.
    double price = 0;
    /// Why it was not chosen although `slower + price` is below 0: `slower as a whole program: 1.03x`. Otherwise empty.
    std::string decided_by = {};
    friend bool operator==(const ExplainedAlternative&, const ExplainedAlternative&) = default;
};

/// A value with at least one alternative. If no alternative is chosen the program does not need the value: its users
/// are fused, or computed by another expression.
struct ExplainedValue {
    std::string value;                               ///< its type: `f32[N,64]`
    std::string op, where;                           ///< as in ExplainedInstruction
    bool at_bind = false;                            ///< computed once when weights are bound
    std::vector<ExplainedAlternative> alternatives;  ///< the chosen one first, then by `slower + price`
    std::string name = {};                           ///< given by name(); usually empty
    friend bool operator==(const ExplainedValue&, const ExplainedValue&) = default;
};

/// The combined error of the kernels and roundings that contribute to an output or a state.
struct ExplainedError {
    std::string target;         ///< `output "y"`
    double error = 0;           ///< root of the sum of squares, see Tolerance::relative
    double tolerance = 0;       ///< the largest error allowed; 0: none
    double scale = 1;           ///< the largest combined error admitted, as a multiple of `tolerance`: other than 1 if
                                ///< earlier programs of the graph erred less or more than stated
    bool verified = false;      ///< a run of the bucket was compared with its exact program
    double measured_error = 0;  ///< largest error found by verification; may be infinite, as VerifiedError::error
    friend bool operator==(const ExplainedError&, const ExplainedError&) = default;
};

/// The program for one range of sizes.
struct ExplainedBucket {
    /// The sizes of a symbol for which the bucket is used.
    struct Range {
        std::string symbol;              ///< its name
        std::int64_t low = 0, high = 0;  ///< both included
        friend bool operator==(const Range&, const Range&) = default;
    };
    std::vector<Range> ranges;  ///< of the symbols that splits cut; empty: all sizes
    /// Representative sizes at which times are compared: each gives a value for every symbol of the bucket that has
    /// more than one.
    std::vector<std::vector<std::pair<std::string, std::int64_t>>> sizes;
    double seconds = 0;                  ///< expected time of one run: the mean over `sizes`
    std::vector<ExplainedError> errors;  ///< empty if all tolerances are exact
    bool fell_back = false;  ///< an error above the tolerance was found: an exact program, not described here, runs
    std::vector<ExplainedInstruction> instructions;  ///< those run once at bind, then those of each run, in order
    std::vector<ExplainedBuffer> buffers;            ///< read and written by instructions, by index
    std::vector<ExplainedValue> values;              ///< mostly operands before their users
    friend bool operator==(const ExplainedBucket&, const ExplainedBucket&) = default;
};

/// A paired trial of whole programs, because a sum of kernel times is not the time of a program. The challenger, timed
/// in alternation with the best programs so far, is the cheapest by sums that avoids some kinds of calls, or the
/// cheapest that makes the calls of a compile without measuring.
struct ProgramTrial {
    /// The kinds of calls it avoids, each as bucket, kernel, problem and source line of the value, separated by bars:
    /// `0 | cpu.eigen_avx2.matmul@1 | matmul | f32[T,64] f32[64,64]! -> f32[T,64] | model.cpp:31`
    std::vector<std::string> without;
    bool as_unmeasured = false;  ///< it makes the calls of a compile without measuring, by any kernels
    double expected = 0;         ///< by sums: how much longer it takes, as a fraction of the time of all buckets
    double ratio = 1;            ///< its time divided by that of the best so far, over the buckets in which they differ
    double low = 1, high = 1;    ///< confidence interval of `ratio`, at a confidence of 0.98
    /// Number of times that each program was measured. 0: no trial gave a result, and since the sums do not show enough
    /// gain, the choice of a compile without measuring was kept.
    int samples = 0;
    bool won = false;  ///< it replaced the best so far
    friend bool operator==(const ProgramTrial&, const ProgramTrial&) = default;
};

/// The state of a tune at one time.
struct TuningPoint {
    double seconds = 0;  ///< since the tune began
    /// Of one run of each bucket, times its weight, by the best programs so far: measured, otherwise estimated.
    double expected = 0;
    std::int64_t measured = 0;  ///< number of timings taken so far
    friend bool operator==(const TuningPoint&, const TuningPoint&) = default;
};

/// Why a compiled graph has the programs that it has. Returned by CompiledGraph::explain().
///
///     const Explanation why = model.explain();
///     for (const ExplainedInstruction& each : why.buckets[0].instructions)
///         std::cout << each.chosen.kernel << " of " << each.other_kernels.size() + 1 << '\n';
struct Explanation {
    /// A kernel of the Context.
    struct AvailableKernel {
        std::string kernel, definition;  ///< Kernel::id, Kernel::definition
        friend bool operator==(const AvailableKernel&, const AvailableKernel&) = default;
    };
    std::string graph;  ///< name of the graph
    std::vector<ExplainedBucket> buckets;
    std::vector<AvailableKernel> kernels;  ///< in the order of KernelSet
    std::vector<ProgramTrial> trials;      ///< of this compile, in execution order
    /// Progress of the tune that led to these programs, in this compile or in an earlier one recorded in the timing
    /// database: one point for each change of the best programs. The last point is the selected programs. Empty if no
    /// tune did.
    std::vector<TuningPoint> tuning;
    /// False for a graph loaded from a file, which stores only the instructions and their expected seconds.
    bool has_alternatives = false;
    /// False if a search was truncated, or if programs that cost more by sums were faster as a whole: some `slower` are
    /// missing or too large.
    bool is_exact = true;
    /// No other programs cost less by more than this fraction of the total cost of these: 0 if these are optimal, 1 if
    /// nothing is known.
    double optimality_gap = 0;
    /// Notes on the times that were used, one sentence each: `times in the database were measured with 2 threads, this
    /// Context has 1`.
    std::vector<std::string> notes = {};
    friend bool operator==(const Explanation&, const Explanation&) = default;
};

/// The summary() of the bucket with the longest run.
CAIRN_API std::string to_string(const Explanation& explanation);
/// Writes to_string(explanation).
CAIRN_API std::ostream& operator<<(std::ostream& out, const Explanation& explanation);

/// At most 40 lines about a bucket: the time of a run and the measured share of it; the ten instructions that take
/// longest, equal calls merged, with share, definition, kernel, and the names of values, weights and inputs; the
/// runner-up and its distance; work done once on weights; rejected kernels that an option could admit; what a tune
/// could still find. Throws Error(argument) if there is no such bucket.
///
///     layer, T in 2..12, a mean of T = 3; T = 5; T = 9: 26.9 us a run, 80 % of it measured
///     what takes longest (2 instructions)
///        80.0 %  21.5 us      matmul   cpu.panel_avx512.matmul.f32@4 | reads x, w (app.cpp:9) "scores"
///        20.0 %  5.38 us est. softmax  cpu.avx512.softmax.f32@1 (app.cpp:10)
///     ...
CAIRN_API std::string summary(const Explanation& explanation, std::size_t bucket);

/// The whole explanation as text: for each bucket its instructions with the answers of all other kernels, then the
/// values that several alternatives compute, with the cost of each. Equal answers are printed once; equal values (those
/// of equal layers) are counted.
///
///     bucket T in 2..12, evaluated at T = 3 and T = 5 and T = 9: 0.0004 s a run
///       cpu.avx512.softmax.f32@1 1.2e-05 s measured | softmax axis=(-1) | f32[T,64] -> f32[T,64] of softmax
///       (app.cpp:9)
///         cpu.avx2.softmax.f32@1                       1.9e-05 s measured
///       alternatives, with the additional run time of the best program with each
///         f32[T,64] of softmax (app.cpp:9)
///           taken         cpu.avx512.softmax.f32@1 1.2e-05 s measured | softmax axis=(-1) | f32[T,64] -> f32[T,64]
///           +4e-05 s      cpu.avx512.div@1 1.1e-05 s estimated | div | f32[T,64] f32[T,64]:(1,0) -> f32[T,64]
CAIRN_API std::string details(const Explanation& explanation);

/// The outcome for a kernel, by id, for all kernels of a definition, by name, or for all kernels of a value, by the
/// name that name() gave it, if no kernel and no definition has that name: one line for each place where it was
/// considered, equal lines counted. A line says that it was chosen, why it was rejected, or which kernel was faster and
/// by how much. An empty name: every rejection and every failed measurement of all kernels. Throws Error(argument) with
/// the nearest names if there is nothing of that name.
///
///     why_not(model.explain(), "cpu.avx2.softmax.f32@1")
///     ->  12 x cpu.avx2.softmax.f32@1 for f32[T,64] of softmax (app.cpp:9): 1.9e-05 s measured, slower than
///         cpu.avx512.softmax.f32@1 by 7e-06 s
CAIRN_API std::string why_not(const Explanation& explanation, std::string_view name);

}  // namespace cairn::inline v0
