#pragma once

#include "autotune/measurement/operand_memory.hpp"
#include "autotune/measurement/successive_elimination.hpp"
#include "cairn/tuning.hpp"
#include "device/context_impl.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

/// Times kernels on Problems of constant sizes on their devices, those of the CPU with a Context's threads, the way a
/// program would run them.
namespace cairn::autotune {

/// Timing::quality of times that are good enough to rank kernels but no more: of few blocks, or with weights that may
/// have been read from a cache.
constexpr int coarse_quality = 0;

/// A kernel and the problem it is timed on.
struct BenchmarkCandidate {
    const Problem* problem;
    const Kernel* kernel;
    double lower_bound = 0;  ///< seconds; the candidate is not run if the first run of another one took less
};

/// Times one candidate in blocks, as measure() does.
Timing measure_candidate(const BenchmarkCandidate& candidate, Context::Impl& impl, const MeasureOptions& options);

struct BenchmarkOptions {
    EliminationOptions elimination;
    bool cold = true;
    bool is_coarse = false;  ///< record times with coarse_quality
    std::stop_token stop = {};
    /// No run begins after this time; a run that has begun is completed.
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
    /// The streamed operands (operand_memory.hpp) are filled until this time, or completely.
    std::chrono::steady_clock::time_point fill_until = std::chrono::steady_clock::time_point::max();
    std::function<void(const BenchmarkCandidate*)> on_run = {};  ///< called with a candidate before it runs, and with
                                                                 ///< null when it has returned
    /// As in CompilationOptions (candidate_codes.hpp).
    std::function<std::vector<BenchmarkCandidate>()> upcoming = {};
    std::function<void(std::span<const BenchmarkCandidate> needed, std::size_t texts)> on_compile = {};
};

struct BenchmarkResult {
    std::vector<Timing> timings;  ///< of each candidate
    double seconds = 0;           ///< total of the timed runs
    /// What a candidate threw that has made its device unusable (Backend::is_lost): it has failed, and no candidate was
    /// run after it. Null: all devices can be used.
    std::exception_ptr lost_device = {};
};

/// Times kernels that compute the same value, or parts of it, by successive elimination. A candidate that refuses or
/// throws has failed, with the reason in `note`, and does not stop the others. A candidate whose first run leaves no
/// budget for a second one, or is far behind the best, is `censored` at the time of that run; a candidate that is not
/// run is censored at 0. Throws Cancelled within one run after a stop.
///
/// The code of candidates for a device is compiled before the first run, that of all together. Its time is not part of
/// theirs, nor of the limit on timed runs, but it counts before `until`: a candidate that cannot be compiled by then is
/// not run. One whose code does not compile has failed, with the compiler's log. Throws as compile_kernels() does where
/// no candidate is at fault.
BenchmarkResult benchmark_candidates(std::span<const BenchmarkCandidate> candidates, Context::Impl& impl,
                                     const BenchmarkOptions& options);

/// Bytes of streamed operands that are read before the first of them is read again: twice the cache size, between 32 MB
/// and 256 MB, but at most an eighth of the free memory (nothing: unknown) or 8 MB, whichever is larger.
std::size_t rotation_bytes_of(double cache_bytes, std::optional<std::int64_t> free_bytes);
/// The same for a device with memory of its own, which is filled much faster: twice the cache size, at least 32 MB, but
/// at most a quarter of the free memory or 8 MB, whichever is larger.
std::size_t device_rotation_bytes(std::int64_t cache_bytes, std::optional<std::int64_t> free_bytes);
/// The same for the caches of a Context's device, those of the CPU as measured if it is calibrated, and for the memory
/// that is free now.
std::size_t rotation_bytes_of(const Context::Impl& impl, Device device = Device::cpu);
/// The memory in which a Context measures, created on the first call. The caller holds Impl::measuring.
std::shared_ptr<OperandMemory> operand_memory_of(Context::Impl& impl, Device device = Device::cpu);

/// The shortest block of calls to be timed on a device, in seconds: hundreds of steps of its clock, so that reading it
/// costs nothing measurable.
double block_seconds(const device::Backend& backend);

/// Frees that memory, and the code of measured kernels.
void release_operand_memory(Context::Impl& impl);

/// A timing of this many blocks, or of blocks that took this many seconds together, is final, whatever its spread.
constexpr int steady_blocks = 15;
constexpr double steady_seconds = 0.5;

/// True if the times are so uneven that they should be taken again in more blocks.
bool is_noisy(const Timing& timing);
/// True if is_noisy(), or if the spread of the times is large.
bool has_large_spread(const Timing& timing);

}  // namespace cairn::autotune
