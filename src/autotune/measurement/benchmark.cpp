#include "autotune/measurement/benchmark.hpp"

#include "autotune/measurement/candidate_codes.hpp"
#include "autotune/measurement/kernel_call_errors.hpp"
#include "autotune/measurement/operands.hpp"
#include "autotune/measurement/stopwatch.hpp"
#include "autotune/measurement/timing_summary.hpp"
#include "graph/types/device_code.hpp"

#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace cairn::autotune {
namespace {

// Steps of a device's clock that a block lasts at least.
constexpr double block_steps = 200;
// Median absolute deviation divided by the median.
constexpr double max_relative_deviation = 0.05;
// Range from the 10th to the 90th percentile divided by the median.
constexpr double max_relative_range = 0.15;
// A candidate whose first run is longer than this, in seconds, and this many times the best is not run again.
constexpr double long_run = 0.02, hopeless_ratio = 3;
constexpr std::size_t min_rotation = 32 << 20, max_rotation = 256 << 20;
constexpr std::size_t rotation_where_little_is_free = 8 << 20;
constexpr std::size_t usual_private_cache = 1 << 20;

long involuntary_switches() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
}

void check(const BenchmarkCandidate& candidate, const Context::Impl& impl) {
    const Problem* problem = candidate.problem;
    const Kernel* kernel = candidate.kernel;
    if (symbols_of(*problem) != nullptr)
        throw Error(ErrorKind::argument, "measure", "the problem has symbols: " + to_string(*problem));
    if (const FeatureSet missing = kernel->needs - impl.features; !missing.empty())
        throw Error(ErrorKind::argument, "measure", fmt::format("{} needs {}", kernel->id, to_string(missing)));
    if (const std::string refusal = impl.backend(kernel->device).permit(kernel->needs); !refusal.empty())
        throw Error(ErrorKind::unsupported, "measure", fmt::format("{}: {}", kernel->id, refusal));
    if (const Refusal refusal = with_kernel_errors(*kernel, [&] { return kernel->accepts(*problem); });
        !refusal.empty())
        throw Error(ErrorKind::argument, "measure",
                    fmt::format("{} refuses {}: {}", kernel->id, to_string(*problem), refusal));
}

/// True if a weight is read where the host has it and is larger than a core's private caches.
bool reads_host_weight(const Problem& problem, const OperandMemory& memory) {
    return std::any_of(problem.inputs.begin(), problem.inputs.end(), [&](const TensorDesc& input) {
        return input.bound && input.layout.empty() &&
               static_cast<std::size_t>(element_count(input.shape).constant()) * size_of(input.dtype) >
                   memory.private_cache;
    });
}

/// The memories of a candidate's operands: for a copy between its device and the CPU, those of both. A weight in the
/// host's memory lies in ordinary pages, of which some CPUs read half as much in a second as of the huge pages in which
/// a program keeps packed weights.
OperandMemories memories_of(const BenchmarkCandidate& candidate, Context::Impl& impl) {
    const Kernel& kernel = *candidate.kernel;
    const auto own = operand_memory_of(impl, kernel.device);
    if (&own->backend() == impl.cpu.get() && reads_host_weight(*candidate.problem, *own)) {
        if (impl.host_weight_memory == nullptr)
            impl.host_weight_memory = std::make_shared<OperandMemory>(own->backend(), own->rotation, own->private_cache,
                                                                      device::MemoryUse::scratch);
        return {impl.host_weight_memory, own, own};
    }
    if (candidate.problem->definition != "copy_to" || kernel.device == Device::cpu) return own;
    const bool is_upload = types::device_of_code(candidate.problem->attributes.integer("device")) == kernel.device;
    const auto other = operand_memory_of(impl, Device::cpu);
    return is_upload ? OperandMemories{other, own, own} : OperandMemories{own, other, own};
}

CandidateCodes& codes_of(Context::Impl& impl) {
    if (impl.candidate_codes == nullptr) impl.candidate_codes = std::make_shared<CandidateCodes>(impl);
    return *impl.candidate_codes;
}

/// A candidate with its operands and clock, ready to run.
class PreparedCandidate {
public:
    PreparedCandidate(const BenchmarkCandidate& candidate, Context::Impl& impl, bool cold, const FillOptions& filling,
                      CompiledCall call)
        : operands_(with_kernel_errors(*candidate.kernel,
                                       [&] {
                                           return Operands(*candidate.problem, *candidate.kernel, impl.kernels,
                                                           impl.cpu->threads(), memories_of(candidate, impl), cold,
                                                           filling);
                                       })),
          watch_(*candidate.kernel, operands_, impl.backend(candidate.kernel->device), std::move(call)) {}
    PreparedCandidate(const PreparedCandidate&) = delete;
    PreparedCandidate& operator=(const PreparedCandidate&) = delete;

    double time(std::int64_t calls) { return watch_.time(calls); }
    bool is_warm() const { return operands_.is_warm(); }

private:
    Operands operands_;
    Stopwatch watch_;
};

Timing failure(std::string note) {
    Timing timing;
    timing.status = TimingStatus::failed;
    timing.note = std::move(note);
    return timing;
}

Timing censored(double bound) {
    Timing timing;
    timing.status = TimingStatus::censored;
    timing.bound = bound;
    return timing;
}

/// True if a candidate's calls are timed on threads of the CPU, which others may take away. A device works on alone.
bool runs_on_cpu(const BenchmarkCandidate& candidate, const Context::Impl& impl) {
    return &impl.backend(candidate.kernel->device) == impl.cpu.get();
}

/// Lowers the quality of a timing if there were more involuntary context switches than blocks and its spread is large.
void mark_disturbed(Timing& timing, long switches, int blocks) {
    const bool is_disturbed = switches > blocks && timing.mad > max_relative_deviation * timing.median;
    if (is_disturbed && timing.samples < steady_blocks) timing.quality = 1;
}

/// Calls on_run with a candidate, and with null when it has returned.
class RunNotice {
public:
    RunNotice(const std::function<void(const BenchmarkCandidate*)>& on_run, const BenchmarkCandidate& candidate)
        : on_run_(on_run) {
        if (on_run_) on_run_(&candidate);
    }
    ~RunNotice() {
        if (on_run_) on_run_(nullptr);
    }
    RunNotice(const RunNotice&) = delete;
    RunNotice& operator=(const RunNotice&) = delete;

private:
    const std::function<void(const BenchmarkCandidate*)>& on_run_;
};

/// Implements benchmark_candidates(); candidates are identified by their numbers.
class CandidateBenchmark {
public:
    CandidateBenchmark(std::span<const BenchmarkCandidate> candidates, Context::Impl& impl,
                       const BenchmarkOptions& options)
        : candidates_(candidates), impl_(impl), options_(options), best_(options.elimination.incumbent_seconds) {
        result_.timings.resize(candidates.size());
    }

    BenchmarkResult run() {
        compile();
        for (std::size_t c = 0; c < candidates_.size() && !result_.lost_device; ++c)
            run_or_fail(c, [&] { first_run(c); });
        std::erase_if(remaining_, [&](const RemainingCandidate& each) {
            const bool is_late = each.first > long_run && each.first > hopeless_ratio * best_;
            if (is_late) result_.timings[each.number] = censored(each.first);
            return is_late;
        });
        while (!remaining_.empty() && !result_.lost_device && !run_elimination()) {}
        // Nothing can be run any more.
        for (std::size_t c = 0; c < candidates_.size(); ++c)
            if (Timing& timing = result_.timings[c]; result_.lost_device && !was_timed(timing)) timing = censored(0);
        for (Timing& timing : result_.timings)
            if (options_.is_coarse && timing.status != TimingStatus::failed) timing.quality = coarse_quality;
        return std::move(result_);
    }

private:
    struct RemainingCandidate {
        std::size_t number;
        std::unique_ptr<PreparedCandidate> prepared;
        double first;
        bool started = false;
    };

    double left() const {
        const std::chrono::duration<double> left = options_.until - std::chrono::steady_clock::now();
        return std::min(options_.elimination.seconds - result_.seconds, left.count());
    }

    static bool was_timed(const Timing& timing) { return timing.status != TimingStatus::ok || timing.samples > 0; }

    /// Compiles the code of the candidates that may be run.
    void compile() {
        std::vector<BenchmarkCandidate> needed;
        for (std::size_t c = 0; c < candidates_.size(); ++c)
            if (candidates_[c].kernel->code && !(candidates_[c].lower_bound > best_) &&
                run_or_fail(c, [&] { check(candidates_[c], impl_); }))
                needed.push_back(candidates_[c]);
        if (needed.empty()) return;
        codes_of(impl_).compile(needed, {options_.until, options_.upcoming, options_.on_compile});
    }

    /// Runs `work`. False if it throws: the candidate has failed.
    template <typename F>
    bool run_or_fail(std::size_t number, const F& work) {
        try {
            work();
            return true;
        } catch (const Cancelled&) { throw; } catch (const InternalError&) {
            throw;
        } catch (const std::exception& error) { note_failure(number, error.what()); } catch (...) {
            note_failure(number, "it threw an exception that is not a std::exception");
        }
        return false;
    }

    /// Called while the exception is handled.
    void note_failure(std::size_t number, std::string note) {
        const bool was_running = std::exchange(is_running_, false);
        const bool is_lost = impl_.backend(candidates_[number].kernel->device).is_lost();
        if (is_lost && !was_running) throw;  // something else has lost the device
        result_.timings[number] = failure(std::move(note));
        if (is_lost) result_.lost_device = std::current_exception();
    }

    void check_stop() const {
        if (options_.stop.stop_requested()) throw Cancelled("measure");
    }

    double timed(std::size_t number, PreparedCandidate& prepared, std::int64_t calls) {
        check_stop();
        const RunNotice on_run(options_.on_run, candidates_[number]);
        is_running_ = true;
        const double seconds = prepared.time(calls);
        is_running_ = false;
        result_.seconds += seconds;
        return seconds;
    }

    /// First run of a candidate, if there is time for it and its lower bound does not exclude it.
    void first_run(std::size_t number) {
        check_stop();
        if (left() <= 0 || candidates_[number].lower_bound > best_) {
            result_.timings[number] = censored(0);
            return;
        }
        const Problem& problem = *candidates_[number].problem;
        const Kernel& kernel = *candidates_[number].kernel;
        const device::CompiledKernel* const compiled = kernel.code ? codes_of(impl_).find(kernel, problem) : nullptr;
        if (kernel.code && compiled == nullptr) {
            // Either check() has failed, or there was no time to compile it.
            if (result_.timings[number].status == TimingStatus::ok) result_.timings[number] = censored(0);
            return;
        }
        check(candidates_[number], impl_);
        auto prepared = std::make_unique<PreparedCandidate>(candidates_[number], impl_, options_.cold,
                                                            FillOptions{options_.stop, options_.fill_until},
                                                            call_of(kernel, problem, compiled));
        const double first = timed(number, *prepared, 1);
        best_ = std::min(best_, first);
        remaining_.push_back({number, std::move(prepared), first});
    }

    /// Eliminates among the remaining candidates. False if one of them failed: it is removed, and the caller starts
    /// again.
    bool run_elimination() {
        EliminationOptions race_options = options_.elimination;
        race_options.seconds = left();
        race_options.block_seconds = 0;
        for (const RemainingCandidate& each : remaining_)
            race_options.block_seconds = std::max(
                race_options.block_seconds, block_seconds(impl_.backend(candidates_[each.number].kernel->device)));
        std::size_t failed = remaining_.size();
        const auto time = [&](int candidate, std::int64_t inner) {
            RemainingCandidate& each = remaining_[static_cast<std::size_t>(candidate)];
            if (!std::exchange(each.started, true) && inner == 1) return each.first;
            double seconds = 0;
            if (!run_or_fail(each.number, [&] { seconds = timed(each.number, *each.prepared, inner); })) {
                failed = static_cast<std::size_t>(candidate);
                throw Failed{};
            }
            return seconds;
        };
        const long switches = involuntary_switches();
        try {
            const EliminationResult result = elimination(static_cast<int>(remaining_.size()), time, race_options);
            int blocks = 0;
            for (const CandidateResult& candidate : result.candidates) blocks += candidate.timing.samples;
            for (std::size_t r = 0; r < remaining_.size(); ++r) {
                Timing& timing = result_.timings[remaining_[r].number] = result.candidates[r].timing;
                if (runs_on_cpu(candidates_[remaining_[r].number], impl_))
                    mark_disturbed(timing, involuntary_switches() - switches, blocks);
                if (remaining_[r].prepared->is_warm()) timing.quality = coarse_quality;
            }
            return true;
        } catch (const Failed&) {
            remaining_.erase(remaining_.begin() + static_cast<std::ptrdiff_t>(failed));
            return false;
        }
    }

    struct Failed {};

    std::span<const BenchmarkCandidate> candidates_;
    Context::Impl& impl_;
    const BenchmarkOptions& options_;
    double best_;
    bool is_running_ = false;  // a candidate is
    std::vector<RemainingCandidate> remaining_;
    BenchmarkResult result_;
};

}  // namespace

std::size_t rotation_bytes_of(double cache_bytes, std::optional<std::int64_t> free_bytes) {
    const std::size_t wanted = std::clamp(2 * static_cast<std::size_t>(cache_bytes), min_rotation, max_rotation);
    if (!free_bytes) return wanted;
    return std::min(wanted, std::max(static_cast<std::size_t>(*free_bytes) / 8, rotation_where_little_is_free));
}

std::size_t device_rotation_bytes(std::int64_t cache_bytes, std::optional<std::int64_t> free_bytes) {
    const std::size_t wanted = std::max(2 * static_cast<std::size_t>(cache_bytes), min_rotation);
    if (!free_bytes) return wanted;
    return std::min(wanted, std::max(static_cast<std::size_t>(*free_bytes) / 4, rotation_where_little_is_free));
}

std::size_t rotation_bytes_of(const Context::Impl& impl, Device device) {
    const device::Backend& backend = impl.backend(device);
    if (&backend != impl.cpu.get()) return device_rotation_bytes(backend.caches().shared_bytes, backend.free_memory());
    return rotation_bytes_of(
        impl.machine ? impl.machine->cache_bytes : static_cast<double>(backend.caches().shared_bytes),
        backend.free_memory());
}

std::shared_ptr<OperandMemory> operand_memory_of(Context::Impl& impl, Device device) {
    std::shared_ptr<OperandMemory>& memory = impl.operand_memory[device];
    if (memory == nullptr) {
        device::Backend& backend = impl.backend(device);
        const auto own = static_cast<std::size_t>(backend.caches().private_bytes);
        memory = std::make_shared<OperandMemory>(backend, rotation_bytes_of(impl, device),
                                                 own > 0 ? own : usual_private_cache);
    }
    return memory;
}

double block_seconds(const device::Backend& backend) { return block_steps * backend.clock_step(); }

void release_operand_memory(Context::Impl& impl) {
    const std::scoped_lock alone(impl.measuring);
    impl.operand_memory = {};
    impl.host_weight_memory.reset();
    impl.candidate_codes.reset();
}

namespace {

/// True if more blocks would not improve a timing.
bool is_steady(const Timing& timing) {
    return timing.status != TimingStatus::ok || timing.samples >= steady_blocks ||
           timing.median * timing.samples * timing.inner >= steady_seconds;
}

}  // namespace

bool is_noisy(const Timing& timing) {
    return !is_steady(timing) && (timing.quality < 2 || timing.median > 3 * timing.min);
}

bool has_large_spread(const Timing& timing) {
    // With few blocks the median absolute deviation does not show a single outlier.
    const bool is_wide = timing.p90 - timing.p10 > max_relative_range * timing.median;
    return is_noisy(timing) || (!is_steady(timing) && (is_wide || timing.mad > max_relative_deviation * timing.median));
}

Timing measure_candidate(const BenchmarkCandidate& candidate, Context::Impl& impl, const MeasureOptions& options) {
    check(candidate, impl);
    const std::scoped_lock alone(impl.measuring);
    device::Backend& backend = impl.backend(candidate.kernel->device);
    PreparedCandidate prepared(candidate, impl, options.cold, FillOptions{options.stop},
                               compiled_call(*candidate.kernel, *candidate.problem, backend));
    const double shortest_block = block_seconds(backend);
    const long switches = involuntary_switches();
    double spent = 0;
    const auto time = [&](std::int64_t calls) {
        if (options.stop.stop_requested()) throw Cancelled("measure");
        const double seconds = prepared.time(calls);
        spent += seconds;
        return seconds;
    };
    // The first call includes cold code and page-table misses; it sets the size of a block and is not counted.
    std::int64_t inner = 1;
    double block = time(1);
    if (block >= options.max_seconds) return censored(block);
    while (block < shortest_block && spent < options.max_seconds) {
        inner *= std::clamp<std::int64_t>(static_cast<std::int64_t>(shortest_block / std::max(block, 1e-9)) + 1, 2, 64);
        block = time(inner);
    }
    std::vector<double> times;
    do times.push_back(time(inner) / static_cast<double>(inner));
    while (static_cast<int>(times.size()) < options.blocks && spent + block <= options.max_seconds);
    Timing timing = summary_of(std::move(times), inner);
    if (runs_on_cpu(candidate, impl)) mark_disturbed(timing, involuntary_switches() - switches, timing.samples);
    return timing;
}

BenchmarkResult benchmark_candidates(std::span<const BenchmarkCandidate> candidates, Context::Impl& impl,
                                     const BenchmarkOptions& options) {
    const std::scoped_lock alone(impl.measuring);
    return CandidateBenchmark(candidates, impl, options).run();
}

}  // namespace cairn::autotune
