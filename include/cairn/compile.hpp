#pragma once

#include "cairn/compiled_graph.hpp"
#include "cairn/graph.hpp"
#include "cairn/timing_db.hpp"
#include "cairn/tolerance.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cairn::inline v0 {

/// Source of the times by which kernels are selected. `normal` measures all that `quick` measures, and `exhaustive` all
/// that `normal` measures. Each stores its times as it goes: an interrupted tune continues in the next compile, and a
/// finished one measures nothing more. Whenever a tune ends, the programs are, by the stored times, never slower than
/// without it.
enum class Mode {
    off,     ///< estimates only; nothing is measured and the timing database is not read
    cached,  ///< times of the timing database, otherwise estimates; nothing is measured
    /// As cached, with a short tune for a first start: of the calls that estimates choose, those that take at least 1 %
    /// of a bucket's time are timed against kernels that may be faster, in one block each. These times have
    /// Timing::quality 0: a later tune repeats those that may change the selection. Nothing is measured if all chosen
    /// calls are measured already.
    quick,
    /// As cached, and measures whatever the fastest programs may need: first all calls that estimates choose, then
    /// those that may be faster than the best measured ones, until no unmeasured call can be. Then whole programs are
    /// timed (CompileOptions::run_program_trials).
    normal,
    /// As normal, and measures every kernel that accepts any part of the graph, with every layout of its operands, even
    /// if that cannot change the selection. Times with a large spread are repeated, and more whole programs are timed.
    /// Takes minutes to hours.
    exhaustive,
    replay,  ///< as recorded in CompileOptions::lock; nothing is measured and no database is read
};

/// Splits the range of a symbol into buckets with a program each: `{"T", {1, 12}}` gives T = 1, 2..12 and 13.. .
struct Split {
    std::string symbol;                      ///< name of the symbol
    std::vector<std::int64_t> upper_bounds;  ///< of all buckets except the last, ascending
    /// How often each bucket runs, relative to the others: a weight layout that is faster for one bucket may be slower
    /// for another. Empty: equally often. `{"T", {1}, {100, 1}}`: a hundred steps of one token for each prompt.
    std::vector<double> weights = {};
    bool is_automatic = false;  ///< see automatic()

    /// Splits the symbol where the best programs change. Its range is first split finely, at doubled sizes; neighbours
    /// with equal programs are merged; then all are compiled as if their bounds had been given. So selection takes as
    /// long as for all of the fine buckets. Several automatic splits are split less finely: into at most 32 buckets in
    /// all.
    ///
    ///     options.splits = {Split::automatic("T")};   // T in 1..1024 may become T = 1, 2..16 and 17..1024
    static Split automatic(std::string symbol) { return {std::move(symbol), {}, {}, true}; }
};

/// Options of compile().
struct CompileOptions {
    Mode mode = Mode::off;  ///< source of kernel times
    /// Wall-clock time for measuring, in addition to what a compile in Mode::cached takes. Measuring ends at most one
    /// run of a kernel, or of a program, later, and later still where the calibration of a busy machine has taken more
    /// than a quarter of it. Default: 1 s for Mode::quick, 5 s for Mode::normal, unlimited for Mode::exhaustive.
    std::optional<double> tune_seconds = {};
    /// Mode::normal and Mode::exhaustive: once all times are known, spends the remaining time on paired trials of whole
    /// programs that sums of kernel times hardly distinguish, on synthetic data. This takes memory for the weights of
    /// two programs, at most half of the free memory.
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
    /// The error that outputs may have against the reference. The fastest programs within it are selected, whether
    /// exact or not. With inexact programs the fastest exact ones are kept as well, until the first runs have shown
    /// that errors are within it; a memory limit counts both.
    Tolerance tolerance = Tolerance::exact();
    /// Tolerances of single outputs. compile() throws Error(argument) for a name that is no output or is repeated.
    std::vector<OutputTolerance> output_tolerances = {};
    /// Rules of this compile, for comparisons for example, besides those of the timing database. A pin on a kernel that
    /// states an error has no effect where a program must be exact: without a tolerance, and on the programs that
    /// verify inexact ones. Ignored in Mode::replay.
    ///
    ///     options.rules = {{"*.panel_i8_*", "*", RuleAction::ban, "too coarse for us"}};
    std::vector<KernelRule> rules = {};
    /// Price of a byte that is kept in memory permanently, in seconds, compared with the seconds of one run of each
    /// bucket: another layout of a weight is kept only if the buckets that read it gain more. The default is about the
    /// time in which one core reads the byte ten times, so usually one layout serves all; a byte in the memory of a
    /// device counts as much less as the device reads faster than a core (10 GB/s). 0: the fastest programs, whatever
    /// they keep.
    double seconds_per_kept_byte = 1e-9;
    /// Steps of the search for a lower memory plan, where simple rules of placement leave one above its lower bound
    /// (the largest sum of bytes that are live together). A step takes about 2 ns, so the default takes 30 ms for each
    /// program and device. The same number gives the same plan on every machine. 0: no search. compile() throws
    /// Error(argument) for a negative number. Crowded graphs with many long-lived values may gain from more:
    ///
    ///     options.memory_plan_steps = 1'000'000'000;   // seconds
    std::int64_t memory_plan_steps = 12'000'000;
    /// Stages to skip, by name: `simplify`, `expand` (equivalent expressions of values), `fuse`, `elementwise`
    /// (grouping), `search` (each node on its own, first kernel that accepts), `pack`, `in_place`, `reuse` (no two
    /// buffers share bytes), `specialize` (one program for all sizes). Results stay the same within rounding.
    std::vector<std::string> disable = {};
    /// Folder for text dumps of the graph or program after each stage that changed something.
    std::filesystem::path dump_stages = {};
    /// Verifies the result of each stage; throws InternalError on a fault. Each kernel of ContextOptions::extra that a
    /// program calls is compared with its definition, as by check_kernel, on the Problems of those calls, strides
    /// included, at up to four values of their symbols; Error(argument) names the kernel, the Problem and the
    /// difference. This takes seconds, and threads of its own during the call. A Problem that cannot be compared (its
    /// own packed layout, or minutes of work) is logged. Built-in kernels are not run: use check_kernels().
    /// CompiledGraph::load() checks no kernel.
    bool verify = false;
    /// Limit in bytes on bound + states + arena + constants + verification of the MemoryReport. The fastest programs
    /// within it are selected: weights are read as stored where packed ones would not fit. If there are none,
    /// Error(memory) gives the fewest bytes found.
    std::optional<std::int64_t> memory_limit = {};
    /// The same limit for the memory of devices other than the CPU.
    std::map<Device, std::int64_t> device_memory_limits = {};
    /// The devices in whose memory the caller keeps the elements of inputs and of outputs, by name; those of all others
    /// are in the host's memory. CompiledGraph::set() then takes an address of that device, and output() returns one;
    /// a program copies them only to where another device needs them.
    ///
    ///     options.input_devices = {{"image", Device::cuda()}};   // another library decodes images on the GPU
    ///
    /// compile() throws Error(argument) for a name that the graph does not have, and Error(unsupported) for a device
    /// that the Context does not use. With the stage `search` disabled only the host's memory can be named.
    std::map<std::string, Device, std::less<>> input_devices = {}, output_devices = {};
    ProgressSink progress = {};
    /// Throws Cancelled; while measuring, as soon as the running kernel returns. Measurements made so far are kept. A
    /// kernel that does not return blocks the compile: after ten seconds the log and the database say so, and the next
    /// start skips it.
    std::stop_token stop = {};
    /// File that caches the compiled graph for the next start. If it holds the result of these options for this graph,
    /// on this machine, with these threads, kernels and this version, it is loaded and nothing is selected or measured;
    /// otherwise it is written. A later tune therefore has no effect until the file is deleted. A loaded graph explains
    /// what it runs, not why. The file is optional: a failure to read or write it is reported in one log line. All of
    /// it is covered by digests that every load checks: a file with a changed byte is rewritten. It holds the machine
    /// code of GPU kernels as that of CompiledGraph::save() does. Ignored with `dump_stages`.
    std::filesystem::path cache_file = {};
};

/// Compiles a graph: simplify, expand, fuse, select, emit, plan. All decisions are made here; run() makes none. Throws
/// Error(unsupported) naming a node that no kernel accepts, with each refusal.
CAIRN_API CompiledGraph compile(const Graph& graph, const Context& context, const CompileOptions& options = {});

/// Why `definition` (`layer_norm`, for example) does not match at `value`: the part of the definition that its graph
/// lacks, in words. Empty if it matches. Throws Error(argument) for a name that is no definition of the Context.
///
///     why_not(y, "rms_norm", context)   ->   rms_norm eps=1e-06 (%0, %1): the value has other numbers
CAIRN_API std::string why_not(const Tensor& value, std::string_view definition, const Context& context);
/// As above, for the value of the graph that comes nearest to a match; empty if any value matches.
CAIRN_API std::string why_not(const Graph& graph, std::string_view definition, const Context& context);

/// The names that CompileOptions::disable accepts.
CAIRN_API std::vector<std::string> stage_names();

}  // namespace cairn::inline v0
