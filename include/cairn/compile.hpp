#pragma once

#include "cairn/compiled_graph.hpp"
#include "cairn/graph.hpp"
#include "cairn/tolerance.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cairn::inline v0 {

/// Where times come from when kernels are chosen. What `quick` measures `normal` measures too, and what that does
/// `exhaustive`; each stores its times as they come, so that one that was cut goes on the next time, and one that has
/// ended measures nothing more. Wherever a tune ends, by the times stored the programs are never slower than without
/// it.
enum class Mode {
    off,     ///< estimates only: nothing is measured, the timing database is not read
    cached,  ///< rows of the timing database, else estimates; nothing is measured
    /// As cached, for a first start that costs little: of what estimates choose, calls that take a hundredth of a
    /// bucket's time or more are raced with what may be faster, in one block each. Their times are of Timing::quality
    /// 0: a later tune takes those again that may change the choice. Where all that is chosen is measured already,
    /// nothing is.
    quick,
    /// As cached, and whatever the best ways to run may need is measured: all that estimates choose, then what may be
    /// faster than the best that is measured, until nothing unknown may be. Then programs run whole
    /// (CompileOptions::run_program_trials).
    normal,
    /// As normal, and every kernel that accepts any part of the graph is measured in every form of its operands,
    /// whether that can change the choice or not; times that are far apart are taken again, more rivals run whole.
    /// Minutes to hours.
    exhaustive,
    replay,  ///< as CompileOptions::lock says: nothing is measured, and no database is read
};

/// Cuts the range of a symbol into buckets, each with its own program: `{"T", {1, 12}}` gives T = 1, 2..12 and 13.. .
struct Split {
    std::string symbol;                      ///< its name
    std::vector<std::int64_t> upper_bounds;  ///< of all buckets but the last, ascending
    /// How often each bucket runs, beside the others: what a form of a weight gains one of them, it may cost another.
    /// Empty: as often as the others. `{"T", {1}, {100, 1}}`: hundred steps of one token for each prompt.
    std::vector<double> weights = {};
    bool is_automatic = false;  ///< see automatic()

    /// Cuts the symbol where the best programs change: its range is cut finely first, at doubled sizes, and neighbours
    /// whose programs are the same become one bucket; then all are compiled as if their bounds had been named. So
    /// choosing takes as long as for all of the fine cuts. Several automatic splits are cut less finely: into 32
    /// buckets in all at most.
    ///
    ///     options.splits = {Split::automatic("T")};   // T in 1..1024 may become T = 1, 2..16 and 17..1024
    static Split automatic(std::string symbol) { return {std::move(symbol), {}, {}, true}; }
};

/// What compile() may do, and what it is to leave out.
struct CompileOptions {
    Mode mode = Mode::off;  ///< where times come from
    /// Wall clock that measuring may take, beside what a compile takes in Mode::cached: it ends within one run of a
    /// kernel, or of a program, after that. By default 1 s of Mode::quick, 5 s of Mode::normal, and of Mode::exhaustive
    /// as long as it takes.
    std::optional<double> tune_seconds = {};
    /// Of Mode::normal and Mode::exhaustive: once all times are known, in the time that is left, programs that sums of
    /// kernel times can hardly tell apart are run whole, on made-up data. That takes memory for the weights of two of
    /// them, at most half of what is free.
    bool run_program_trials = true;
    /// The lock file for Mode::replay, written by CompiledGraph::write_lock(). For the graph, tolerances, disabled
    /// stages and ranges of sizes that it was written for, compile() reproduces its programs without a search: the same
    /// text for the same number of threads, even if the original search was truncated. For another graph or other
    /// options, selection is restricted to the calls in the lock, by the costs in it, and one log line says so.
    /// Automatic splits become those of the lock.
    ///
    /// Throws Error(unsupported) if a step cannot be reproduced (its kernel is missing, for example) or a Problem has
    /// no call in the lock, naming these and the calls that are no longer used; Error(file) if the file is missing,
    /// was modified, or has the format of another version.
    std::filesystem::path lock = {};
    std::vector<Split> splits = {};
    /// How far outputs may lie from what the graph means: of all ways to run that keep within it the fastest is taken,
    /// exact ones among them. Beside inexact programs the fastest exact ones are kept until the first runs have shown
    /// that errors keep within it; a memory limit counts both.
    Tolerance tolerance = Tolerance::exact();
    /// Of outputs with one of their own; compile() throws Error(argument) for a name that is no output or comes twice.
    std::vector<OutputTolerance> output_tolerances = {};
    /// What a byte that is kept in memory for good costs, in seconds beside those of one run of each bucket: a further
    /// form of a weight is made only where the buckets that read it gain more. By default about the time in which one
    /// core reads it ten times, so mostly one form serves all; 0: the fastest way to run, whatever it keeps.
    double seconds_per_kept_byte = 1e-9;
    /// Stages to leave out, by name: `simplify`, `expand` (other spellings of values), `fuse`, `elementwise`
    /// (grouping), `search` (each node on its own, first kernel that accepts), `pack`, `in_place`, `reuse` (no two
    /// buffers share bytes), `specialize` (one program for all sizes). Results stay the same within rounding.
    std::vector<std::string> disable = {};
    /// A folder that gets the text form after each stage that changed something.
    std::filesystem::path dump_stages = {};
    /// Checks the result of each stage; a fault throws InternalError. Each kernel of ContextOptions::extra that a
    /// program calls is compared with its definition, as by check_kernel, on the Problems of those calls, strides
    /// included, at up to four values of their symbols; Error(argument) names the kernel, the Problem and the
    /// difference. This takes seconds and threads of its own during the call. A Problem that cannot be compared (its
    /// own packed layout, or minutes of work) is logged. Built-in kernels are not run: check_kernels() runs them.
    /// CompiledGraph::load() checks no kernel.
    bool verify = false;
    /// Bytes for bound + states + arena + constants + verification. The fastest way to run within them is taken:
    /// weights are read as they are stored where packed ones would not fit. Where none is found Error(memory) tells the
    /// fewest bytes.
    std::optional<std::int64_t> memory_limit = {};
    ProgressSink progress = {};
    /// Throws Cancelled, while measuring as soon as the kernel that runs returns; measurements made so far are kept.
    /// One that does not return holds the compile: after ten seconds the log and the database say so, so that the next
    /// start does without it.
    std::stop_token stop = {};
    /// A file that keeps the compiled graph for the next start: where it holds what these options make of this graph on
    /// this machine, with these threads, kernels and this version, it is loaded and nothing is chosen or measured; else
    /// it is written. So what a later tune would find is not looked for until the file is gone. A graph that was loaded
    /// explains what it runs, not why. The file is never required: what cannot be read or written is told in one log
    /// line. All of it is under a digest, which every load checks: a file with a changed byte is written anew. Beside
    /// `dump_stages` it is left alone.
    std::filesystem::path cache_file = {};
};

/// Graph > simplify > expand > fuse > select > emit > plan: everything is decided here, and run() only runs. Throws
/// Error(unsupported) naming a node no kernel accepts, with each refusal.
CAIRN_API CompiledGraph compile(const Graph& graph, const Context& context, const CompileOptions& options = {});

/// Why a kernel of `definition` (`layer_norm`) is not among the candidates for `value`: what of the definition is not
/// found in its graph, in words. Empty where one is. Throws Error(argument) for a name that is no definition of the
/// context.
///
///     why_not(y, "rms_norm", context)   ->   rms_norm eps=1e-06 (%0, %1): the value has other numbers
CAIRN_API std::string why_not(const Tensor& value, std::string_view definition, const Context& context);
/// The same for the value of the graph that comes nearest.
CAIRN_API std::string why_not(const Graph& graph, std::string_view definition, const Context& context);

/// The names CompileOptions::disable knows.
CAIRN_API std::vector<std::string> stage_names();

}  // namespace cairn::inline v0
