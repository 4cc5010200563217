#include "autotune/measurement/calibrate.hpp"
#include "autotune/measurement/benchmark.hpp"
#include "autotune/measurement/clock.hpp"
#include "autotune/measurement/operand_memory.hpp"
#include "autotune/measurement/peak_throughput.hpp"
#include "autotune/measurement/timing_summary.hpp"
#include "autotune/measurement/working_set_sweep.hpp"
#include "cairn/tuning.hpp"
#include "device/context_impl.hpp"
#include "graph/types/unit_table.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace cairn::inline v0 {
namespace {

using autotune::Clock, autotune::seconds_since;

constexpr int barriers_per_block = 20, streams = 4;
constexpr std::size_t min_working_set = 1 << 20, max_short_read_bytes = 32 << 20;
// f32 is the most important unit and determines Calibration::noise; for other units a few percent are enough.
constexpr double block_seconds = 1e-3, other_block_seconds = 1e-4;

/// How often each quantity is timed.
struct Repetitions {
    int peak_blocks, barrier_blocks, reads, short_reads;
};
constexpr Repetitions thorough{9, 100, 3, 9}, brief{3, 20, 1, 2};
// The working set that a brief calibration reads if there is no time to fill more: larger than most caches.
constexpr std::size_t brief_working_set = 32 << 20;
// The largest working set for the read bandwidth, and its limit as a fraction (1/4) of free memory.
constexpr double max_working_set = 1 << 30;
constexpr int free_memory_divisor = 4;
// A calibration may take this many times as long as it should.
constexpr double max_overrun = 2;

double clock_step() {
    double step = 1;
    for (int i = 0; i < 64; ++i) {
        const Clock::time_point start = Clock::now();
        double passed = 0;
        while (passed == 0) passed = seconds_since(start);
        step = std::min(step, passed);
    }
    return step;
}

/// Times work that all members of a team do at once, as kernels are timed.
class Probe {
public:
    using Work = std::function<void(Team& team)>;

    Probe(device::Backend& backend, const std::stop_token& stop) : backend_(backend), stop_(stop) {}

    double time(const Work& work) {
        if (stop_.stop_requested()) throw Cancelled("calibrate");
        const auto run = [](const Args& args, Team& team) { (*static_cast<const Work*>(args.prepared))(team); };
        std::optional<device::Failure> none;
        return backend_.time({run, 1, [&] { return std::make_unique<Prepared>(&work); }}, none);
    }
    double least(int times, const Work& work) {
        double seconds = time(work);
        for (int i = 1; i < times; ++i) seconds = std::min(seconds, time(work));
        return seconds;
    }
    int size() const { return backend_.threads(); }

private:
    /// Arguments that hold the work to do.
    struct Prepared final : device::CallArguments {
        explicit Prepared(const Work* work) { args.prepared = work; }
        const Args& next() noexcept override { return args; }
        Args args{};
    };

    device::Backend& backend_;
    const std::stop_token& stop_;
};

/// Reads a region in several streams, each prefetched, as products read the columns of a weight: plain loads alone keep
/// too few cache lines in flight if memory latency is high. Returns a sum, so that the compiler cannot remove the
/// reads.
std::uint64_t read(const std::byte* first, std::size_t bytes) {
    constexpr std::size_t ahead = 1024;
    const std::size_t chunk = bytes / streams / 64 * 64;
    std::uint64_t sums[8] = {};
    for (std::size_t at = 0; at < chunk; at += 64)
        for (std::size_t stream = 0; stream < streams; ++stream) {
            const std::byte* const from = first + stream * chunk + at;
            __builtin_prefetch(from + ahead, 0, 2);
            std::uint64_t line[8];
            std::memcpy(line, from, sizeof line);
            for (int i = 0; i < 8; ++i) sums[i] += line[i];
        }
    return std::accumulate(sums, sums + 8, std::uint64_t{0});
}

/// Bytes a second of all members together, each reading its part of the region repeatedly.
double read_rate(Probe& probe, const std::byte* memory, std::size_t bytes, const Repetitions& repetitions) {
    std::atomic<std::uint64_t> kept = 0;
    const int times = bytes <= max_short_read_bytes ? repetitions.short_reads : repetitions.reads;
    const double seconds = probe.least(times, [&](const Team& team) {
        const std::size_t part = bytes / static_cast<std::size_t>(team.size()) / 64 * 64;
        kept += read(memory + static_cast<std::size_t>(team.rank()) * part, part);
    });
    return static_cast<double>(bytes) / seconds;
}

struct Sweep {
    std::vector<autotune::WorkingSetBandwidth> rates;
    bool is_whole = true;  // false: there was no time for larger working sets
};

/// Reads growing working sets until the rate is that of memory alone, or until the next one would end after `until`:
/// each takes twice as long as the one before. Their contents do not matter.
Sweep sweep_beyond(std::size_t first, Probe& probe, Context::Impl& impl, const Repetitions& repetitions,
                   Clock::time_point until) {
    double most = max_working_set;
    if (const auto free = impl.cpu->free_memory())
        most = std::min(most, static_cast<double>(*free) / free_memory_divisor);
    const std::unique_ptr<device::Memory> memory =
        impl.cpu->reserve(std::max(static_cast<std::size_t>(most), first), device::MemoryUse::arena);
    Sweep sweep;
    Clock::duration last{};
    const auto rate_of = [&](double bytes) {
        const Clock::time_point begun = Clock::now();
        memory->touch(0, static_cast<std::size_t>(bytes));
        const double rate = read_rate(probe, memory->data(), static_cast<std::size_t>(bytes), repetitions);
        last = Clock::now() - begun;
        return rate;
    };
    const auto has_time = [&] {
        sweep.is_whole = Clock::now() + 2 * last <= until;
        return sweep.is_whole;
    };
    sweep.rates = autotune::sweep_to_memory_plateau(static_cast<double>(first), most, rate_of, has_time);
    return sweep;
}

/// Measures bandwidths and the cache size. True if the working sets grew beyond all caches; false if there was no time
/// for that.
bool measure_bandwidth(Probe& probe, Context::Impl& impl, Calibration& machine, const autotune::FillOptions& filling,
                       const Repetitions& repetitions, Clock::time_point until) {
    const auto memory = autotune::operand_memory_of(impl);
    memory->reserve(std::min(brief_working_set, memory->rotation), 0, 0, filling);
    const std::size_t all = memory->filled_bytes();
    const std::byte* const data = memory->streamed().data();
    bool is_whole = !memory->is_partly_filled();
    std::vector<autotune::WorkingSetBandwidth> rates;
    for (std::size_t bytes = min_working_set; bytes < all; bytes *= 2)
        if (!memory->is_partly_filled() || rates.empty())
            rates.push_back({static_cast<double>(bytes), read_rate(probe, data, bytes, repetitions)});
    if (memory->is_partly_filled()) {
        rates.push_back({static_cast<double>(all), read_rate(probe, data, all, repetitions)});
    } else {
        const Sweep beyond = sweep_beyond(all, probe, impl, repetitions, until);
        rates.insert(rates.end(), beyond.rates.begin(), beyond.rates.end());
        is_whole = beyond.is_whole;
    }
    machine.bandwidth = rates.back().rate;
    machine.bandwidth_bytes = rates.back().bytes;
    machine.cache_bandwidth = std::max(rates.front().rate, machine.bandwidth);
    const auto reported = static_cast<double>(impl.cpu->caches().shared_bytes);
    machine.cache_bytes = memory->is_partly_filled() ? reported : autotune::effective_cache_bytes(rates, reported);
    return is_whole;
}

/// Seconds of a block of rounds on a unit by all members, and their spread.
Timing peak_block(Probe& probe, Unit unit, std::int64_t& rounds, int blocks, double least) {
    const auto block = [&] { return probe.time([&](Team&) { autotune::run_peak_loop(unit, rounds); }); };
    rounds = 1024;
    while (block() < least) rounds *= 2;
    std::vector<double> times;
    for (int i = 0; i < blocks; ++i) times.push_back(block());
    return autotune::summary_of(std::move(times), rounds);
}

void measure_peaks(Probe& probe, const Context::Impl& impl, Calibration& machine, const Repetitions& repetitions) {
    const auto rate_of = [&](const UnitInfo& row) -> double& { return machine.unit_flops[index_of(row.unit)]; };
    for (const UnitInfo& row : unit_table) {
        const double operations = autotune::operations_per_iteration(row.unit);
        if (operations == 0 || !impl.features.includes(row.needs)) continue;
        const bool is_f32 = row.arithmetic == Arithmetic::f32;
        std::int64_t rounds = 0;
        const Timing block =
            peak_block(probe, row.unit, rounds, repetitions.peak_blocks, is_f32 ? block_seconds : other_block_seconds);
        double& rate = rate_of(row);
        rate = operations * static_cast<double>(rounds) * impl.cpu->threads() / block.min;
        // A unit with more features can do all that a unit with fewer can.
        for (const UnitInfo& lower : unit_table)
            if (lower.arithmetic == row.arithmetic && row.needs.includes(lower.needs))
                rate = std::max(rate, rate_of(lower));
        if (!is_f32) continue;
        machine.flops = rate;
        machine.noise = 1.4826 * block.mad / block.median;
    }
}

/// Seconds of one barrier. Blocks are so short that some of them are not interrupted by the system.
double barrier_seconds(Probe& probe, const Repetitions& repetitions) {
    const auto wait_at_barriers = [](Team& team) {
        for (int i = 0; i < barriers_per_block; ++i) team.barrier();
    };
    return probe.least(repetitions.barrier_blocks, wait_at_barriers) / barriers_per_block;
}

/// Cross-core transfer of large data, in seconds a byte: each member reads what another has just written, and
/// overwrites what another has just read.
double cross_core_transfer_byte_seconds(Probe& probe, const Repetitions& repetitions) {
    constexpr std::size_t part = 256 << 10;  // fits the private caches of one CPU
    constexpr int rounds = barriers_per_block / 2;
    const auto members = static_cast<std::size_t>(probe.size());
    std::vector<std::uint64_t> values(members * part / sizeof(std::uint64_t));
    std::atomic<std::uint64_t> kept = 0;
    const auto least = [&](std::size_t away) {
        return probe.least(repetitions.barrier_blocks, [&](Team& team) {
            const auto own = static_cast<std::size_t>(team.rank()), read_from = (own + away) % members;
            const std::span<std::uint64_t> written = std::span(values).subspan(own * values.size() / members, part / 8);
            for (int i = 0; i < rounds; ++i) {
                for (std::uint64_t& value : written) ++value;
                team.barrier();
                kept += read(reinterpret_cast<const std::byte*>(values.data()) + read_from * part, part);
                team.barrier();
            }
        }) / rounds;
    };
    const double own = least(0);
    return std::max(least(1) - own, 0.0) / static_cast<double>(members * part);
}

/// Cross-core transfer of small data, in seconds: one member writes it, then all wait at a barrier.
double cross_core_transfer_seconds(Probe& probe, const Repetitions& repetitions) {
    alignas(64) std::uint64_t values[4096 / sizeof(std::uint64_t)] = {};
    const auto least = [&](bool alternates) {
        const auto work = [&](Team& team) {
            for (int i = 0; i < barriers_per_block; ++i) {
                if (team.rank() == (alternates ? i % team.size() : 0))
                    for (std::uint64_t& value : values) ++value;
                team.barrier();
            }
        };
        return probe.least(repetitions.barrier_blocks, work) / barriers_per_block;
    };
    const double kept = least(false);
    return std::max(least(true) - kept, 0.0);
}

}  // namespace

Calibration calibrate(const Context& context) {
    return autotune::calibrate_within(*context.impl(), autotune::thorough_seconds, {}).machine;
}

}  // namespace cairn::inline v0

namespace cairn::autotune {

autotune::CalibrationRun calibrate_within(Context::Impl& impl, double seconds, const std::stop_token& stop) {
    const std::scoped_lock alone(impl.measuring);
    const bool is_brief = seconds < autotune::thorough_seconds;
    const Repetitions& repetitions = is_brief ? brief : thorough;
    autotune::FillOptions filling{stop};
    if (is_brief) filling.until = time_point_after(seconds / 2);
    // What is not cut short takes most of this time on a quiet machine.
    const Clock::time_point until = time_point_after(max_overrun * std::max(seconds, autotune::thorough_seconds));
    Calibration machine;
    machine.timer_seconds = clock_step();
    Probe probe(*impl.cpu, stop);
    measure_peaks(probe, impl, machine, repetitions);
    const bool is_whole = measure_bandwidth(probe, impl, machine, filling, repetitions, until);
    if (impl.cpu->threads() > 1) {
        machine.barrier_seconds = barrier_seconds(probe, repetitions);
        machine.cross_core_transfer_seconds = cross_core_transfer_seconds(probe, repetitions);
        machine.cross_core_transfer_byte_seconds = cross_core_transfer_byte_seconds(probe, repetitions);
    }
    impl.machine = machine;
    autotune::operand_memory_of(impl)->rotation = autotune::rotation_bytes_of(impl);
    return {machine, !is_brief && is_whole};
}

}  // namespace cairn::autotune
