#pragma once

#include "autotune/measurement/operand_memory.hpp"
#include "autotune/measurement/successive_elimination.hpp"
#include "cairn/tuning.hpp"
#include "device/context_impl.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

/// Times kernels on Problems of constant sizes with a Context's threads, the way a program would run them.
namespace cairn::autotune {

/// Timing::quality of times that say little more than the order of kernels: of few blocks, or with weights that a cache
/// may have held.
constexpr int coarse_quality = 0;

/// A kernel and what it is to do.
struct BenchmarkCandidate {
    const Problem* problem;
    const Kernel* kernel;
    double lower_bound = 0;  ///< seconds: it is not run where a first run of another took less
};

/// As measure(): blocks of one contestant.
Timing measure_candidate(const BenchmarkCandidate& candidate, Context::Impl& impl, const MeasureOptions& options);

struct BenchmarkOptions {
    EliminationOptions elimination;
    bool cold = true;
    bool is_coarse = false;  ///< times are of coarse_quality
    std::stop_token stop = {};
    /// No run begins later, what has begun ends.
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
    /// A round of operands (operand_memory.hpp) is filled until then, as far as that goes.
    std::chrono::steady_clock::time_point fill_until = std::chrono::steady_clock::time_point::max();
    std::function<void(const BenchmarkCandidate*)> on_run = {};  ///< told who runs, and null when it has returned
};

struct BenchmarkResult {
    std::vector<Timing> timings;  ///< of each contestant
    double seconds = 0;           ///< that timed runs took
};

/// A race of kernels that do the same, or parts of it. Whoever refuses, or throws, has failed, and `note` says why; it
/// stops no one else. Whoever takes so long in its first run that the budget bears no second one, or is that far behind
/// the best, is `censored` at the time of that run; whoever is not run at all, at 0. Throws Cancelled within one run
/// after a stop.
BenchmarkResult benchmark_candidates(std::span<const BenchmarkCandidate> candidates, Context::Impl& impl,
                                     const BenchmarkOptions& options);

/// How many bytes are to be read before the first of them is read again: twice what caches hold, at most 256 MB and an
/// eighth of the memory that is free (nothing: not known). Where little is free 8 MB all the same.
std::size_t rotation_bytes_of(double cache_bytes, std::optional<std::int64_t> free_bytes);
/// The same by the caches of a Context's machine, measured where it is calibrated, and what is free now.
std::size_t rotation_bytes_of(const Context::Impl& impl);
/// What a Context measures in, made when it is first asked for. Whoever asks holds Parts::measuring.
std::shared_ptr<OperandMemory> operand_memory_of(Context::Impl& impl);

/// Gives that memory back.
void release_operand_memory(Context::Impl& impl);

/// The median of so many blocks stands, however uneven they are, and that of blocks that took so long.
constexpr int steady_blocks = 15;
constexpr double steady_seconds = 0.5;

/// True of times so uneven that they should be taken again, in more blocks.
bool is_noisy(const Timing& timing);
/// True of those too, and of times whose spread is large.
bool has_large_spread(const Timing& timing);

}  // namespace cairn::autotune
