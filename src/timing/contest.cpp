#include "timing/contest.hpp"

#include "device/cpu/cpu_info.hpp"
#include "device/cpu/free_memory.hpp"
#include "timing/calling.hpp"
#include "timing/operands.hpp"
#include "timing/stopwatch.hpp"
#include "timing/summary.hpp"

#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

namespace cairn::inline v0::timing {
namespace {

// A block lasts at least this long: hundreds of steps of the clock, so that reading it costs nothing that shows.
constexpr double shortest_block = 4e-5;
// A median absolute deviation by the median.
constexpr double large_spread = 0.05;
// Between the tenth and the ninetieth percentile, by the median.
constexpr double wide_spread = 0.15;
// A first run longer than this, and this many times the best, needs no second look.
constexpr double long_run = 0.02, far_behind = 3;
constexpr std::size_t least_rotation = 32 << 20, most_rotation = 256 << 20;
constexpr std::size_t rotation_where_little_is_free = 8 << 20;
constexpr std::size_t usual_private_cache = 1 << 20;

long involuntary_switches() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
}

void check(const Contestant& contestant, const Context::Parts& parts) {
    const Problem* problem = contestant.problem;
    const Kernel* kernel = contestant.kernel;
    if (symbols_of(*problem) != nullptr)
        throw Error(ErrorKind::argument, "measure", "the problem has symbols: " + to_string(*problem));
    if (const FeatureSet missing = kernel->needs - parts.features; !missing.empty())
        throw Error(ErrorKind::argument, "measure", fmt::format("{} needs {}", kernel->id, to_string(missing)));
    if (const Refusal refusal = calling(*kernel, [&] { return kernel->accepts(*problem); }); !refusal.empty())
        throw Error(ErrorKind::argument, "measure",
                    fmt::format("{} refuses {}: {}", kernel->id, to_string(*problem), refusal));
}

/// A contestant with all it needs to run.
class Subject {
public:
    Subject(const Contestant& contestant, Context::Parts& parts, bool cold, const Filling& filling)
        : operands_(calling(*contestant.kernel,
                            [&] {
                                return Operands(*contestant.problem, *contestant.kernel, parts.kernels,
                                                parts.pool.size(), memory_of(parts), cold, filling);
                            })),
          watch_(*contestant.kernel, operands_, parts.pool) {}
    Subject(const Subject&) = delete;
    Subject& operator=(const Subject&) = delete;

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

/// Disturbed where the system took the CPU away more often than blocks were timed, and it shows.
void judge(Timing& timing, long switches, int blocks) {
    const bool is_disturbed = switches > blocks && timing.mad > large_spread * timing.median;
    if (is_disturbed && timing.samples < steady_blocks) timing.quality = 1;
}

/// Tells who runs while it does.
class Running {
public:
    Running(const std::function<void(const Contestant*)>& told, const Contestant& contestant) : told_(told) {
        if (told_) told_(&contestant);
    }
    ~Running() {
        if (told_) told_(nullptr);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

private:
    const std::function<void(const Contestant*)>& told_;
};

/// Contestants that race, by their numbers.
class Heat {
public:
    Heat(std::span<const Contestant> contestants, Context::Parts& parts, const ContestOptions& options)
        : contestants_(contestants), parts_(parts), options_(options), best_(options.race.to_beat) {
        result_.timings.resize(contestants.size());
    }

    ContestResult run() {
        for (std::size_t c = 0; c < contestants_.size(); ++c) attempt(c, [&] { enter(c); });
        std::erase_if(runners_, [&](const Runner& runner) {
            const bool is_late = runner.first > long_run && runner.first > far_behind * best_;
            if (is_late) result_.timings[runner.number] = censored(runner.first);
            return is_late;
        });
        while (!runners_.empty() && !is_over()) {}
        for (Timing& timing : result_.timings)
            if (options_.is_coarse && timing.status != TimingStatus::failed) timing.quality = coarse_quality;
        return std::move(result_);
    }

private:
    struct Runner {
        std::size_t number;
        std::unique_ptr<Subject> subject;
        double first;
        bool started = false;
    };

    double left() const {
        const std::chrono::duration<double> left = options_.until - std::chrono::steady_clock::now();
        return std::min(options_.race.seconds - result_.seconds, left.count());
    }

    /// False where a contestant fails in what is tried.
    template <typename F>
    bool attempt(std::size_t number, const F& work) {
        try {
            work();
            return true;
        } catch (const Cancelled&) { throw; } catch (const InternalError&) {
            throw;
        } catch (const std::exception& error) { result_.timings[number] = failure(error.what()); } catch (...) {
            result_.timings[number] = failure("it threw what is no std::exception");
        }
        return false;
    }

    void check_stop() const {
        if (options_.stop.stop_requested()) throw Cancelled("measure");
    }

    double timed(std::size_t number, Subject& subject, std::int64_t calls) {
        check_stop();
        const Running running(options_.running, contestants_[number]);
        const double seconds = subject.time(calls);
        result_.seconds += seconds;
        return seconds;
    }

    /// Its first run, where there is time for one.
    void enter(std::size_t number) {
        check_stop();
        if (left() <= 0 || contestants_[number].at_least > best_) {
            result_.timings[number] = censored(0);
            return;
        }
        check(contestants_[number], parts_);
        auto subject = std::make_unique<Subject>(contestants_[number], parts_, options_.cold,
                                                 Filling{options_.stop, options_.fill_until});
        const double first = timed(number, *subject, 1);
        best_ = std::min(best_, first);
        runners_.push_back({number, std::move(subject), first});
    }

    /// One race of all that are left; false where one of them failed meanwhile and is left out of the next.
    bool is_over() {
        RaceOptions race_options = options_.race;
        race_options.seconds = left();
        race_options.block_seconds = shortest_block;
        std::size_t failed = runners_.size();
        const auto time = [&](int entrant, std::int64_t inner) {
            Runner& runner = runners_[static_cast<std::size_t>(entrant)];
            if (!std::exchange(runner.started, true) && inner == 1) return runner.first;
            double seconds = 0;
            if (!attempt(runner.number, [&] { seconds = timed(runner.number, *runner.subject, inner); })) {
                failed = static_cast<std::size_t>(entrant);
                throw Failed{};
            }
            return seconds;
        };
        const long switches = involuntary_switches();
        try {
            const RaceResult result = race(static_cast<int>(runners_.size()), time, race_options);
            int blocks = 0;
            for (const Entrant& entrant : result.entrants) blocks += entrant.timing.samples;
            for (std::size_t r = 0; r < runners_.size(); ++r) {
                Timing& timing = result_.timings[runners_[r].number] = result.entrants[r].timing;
                judge(timing, involuntary_switches() - switches, blocks);
                if (runners_[r].subject->is_warm()) timing.quality = coarse_quality;
            }
            return true;
        } catch (const Failed&) {
            runners_.erase(runners_.begin() + static_cast<std::ptrdiff_t>(failed));
            return false;
        }
    }

    struct Failed {};

    std::span<const Contestant> contestants_;
    Context::Parts& parts_;
    const ContestOptions& options_;
    double best_;
    std::vector<Runner> runners_;
    ContestResult result_;
};

}  // namespace

std::size_t rotation_of(double cache_bytes, std::optional<std::int64_t> free_bytes) {
    const std::size_t wanted = std::clamp(2 * static_cast<std::size_t>(cache_bytes), least_rotation, most_rotation);
    if (!free_bytes) return wanted;
    return std::min(wanted, std::max(static_cast<std::size_t>(*free_bytes) / 8, rotation_where_little_is_free));
}

std::size_t rotation_of(const Context::Parts& parts) {
    const double cache = parts.machine ? parts.machine->cache_bytes : static_cast<double>(device::cpu_info().l3_bytes);
    return rotation_of(cache, device::free_memory());
}

std::shared_ptr<OperandMemory> memory_of(Context::Parts& parts) {
    if (parts.operand_memory == nullptr) {
        const auto own = static_cast<std::size_t>(device::cpu_info().l2_bytes);
        parts.operand_memory = std::make_shared<OperandMemory>(rotation_of(parts), own > 0 ? own : usual_private_cache);
    }
    return std::static_pointer_cast<OperandMemory>(parts.operand_memory);
}

void release_memory(Context::Parts& parts) {
    const std::scoped_lock alone(parts.measuring);
    parts.operand_memory.reset();
}

namespace {

/// Times that can be no better.
bool is_steady(const Timing& timing) {
    return timing.status != TimingStatus::ok || timing.samples >= steady_blocks ||
           timing.median * timing.samples * timing.inner >= steady_seconds;
}

}  // namespace

bool is_noisy(const Timing& timing) {
    return !is_steady(timing) && (timing.quality < 2 || timing.median > 3 * timing.min);
}

bool is_uneven(const Timing& timing) {
    // Of few blocks the median deviation misses the one that is far off.
    const bool is_wide = timing.p90 - timing.p10 > wide_spread * timing.median;
    return is_noisy(timing) || (!is_steady(timing) && (is_wide || timing.mad > large_spread * timing.median));
}

Timing sample(const Contestant& contestant, Context::Parts& parts, const MeasureOptions& options) {
    check(contestant, parts);
    const std::scoped_lock alone(parts.measuring);
    Subject subject(contestant, parts, options.cold, Filling{options.stop});
    const long switches = involuntary_switches();
    double spent = 0;
    const auto time = [&](std::int64_t calls) {
        if (options.stop.stop_requested()) throw Cancelled("measure");
        const double seconds = subject.time(calls);
        spent += seconds;
        return seconds;
    };
    // The first call pays for cold code and page tables; it sets the size of a block and is not counted.
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
    Timing timing = summary(std::move(times), inner);
    judge(timing, involuntary_switches() - switches, timing.samples);
    return timing;
}

ContestResult contest(std::span<const Contestant> contestants, Context::Parts& parts, const ContestOptions& options) {
    const std::scoped_lock alone(parts.measuring);
    return Heat(contestants, parts, options).run();
}

}  // namespace cairn::inline v0::timing
