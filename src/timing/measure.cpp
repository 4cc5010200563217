#include "cairn/tuning.hpp"
#include "device/context_parts.hpp"
#include "device/cpu/cpu_info.hpp"
#include "device/cpu/team.hpp"
#include "timing/operands.hpp"
#include "timing/summary.hpp"
#include "timing/team_clock.hpp"

#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <new>

namespace cairn::inline v0 {
namespace {

using timing::Clock, timing::seconds_since;

// A block lasts at least this long: hundreds of steps of the clock, so that reading it costs nothing that shows.
constexpr double shortest_block = 4e-5;
// Copies of weights together exceed what the last-level cache holds, within reason.
constexpr std::size_t most_rotation = 96 << 20;

long involuntary_switches() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
}

/// Runs code of a kernel: what it throws becomes an Error that names it.
template <typename F>
auto calling(const Kernel& kernel, const F& work) {
    const std::string prefix = kernel.id + ": ";
    try {
        return work();
    } catch (const Error& error) {
        throw Error(error.kind(), "measure", prefix + error.what());
    } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::memory, "measure", prefix + "out of memory");
    } catch (const std::exception& error) {
        throw Error(ErrorKind::argument, "measure", prefix + error.what());
    } catch (...) { throw Error(ErrorKind::argument, "measure", prefix + "threw what is no std::exception"); }
}

/// A block of calls, one after another, as a program would make them: all members, a meeting after each.
struct Block {
    const Kernel* kernel;
    const timing::Operands* operands;
    device::TeamState* team;
    timing::TeamClock* clock;
    std::int64_t first = 0, calls = 1;

    static void run(void* block_pointer, int rank, int size) {
        Block& block = *static_cast<Block*>(block_pointer);
        Team team(rank, size, block.team);
        block.team->next_instruction();
        block.clock->start(rank);
        for (std::int64_t call = 0; call < block.calls; ++call) {
            if (call > 0) block.team->next_instruction();
            block.kernel->run(block.operands->args(block.first + call), team);
        }
        block.clock->stop(rank);
        block.team->next_instruction();
    }
};

class Stopwatch {
public:
    Stopwatch(const Kernel& kernel, const timing::Operands& operands, device::ThreadPool& pool)
        : pool_(pool),
          team_(pool.size(), pool.spin()),
          clock_(pool.size()),
          block_{&kernel, &operands, &team_, &clock_} {}

    /// Seconds of `calls` calls.
    double time(std::int64_t calls) {
        block_.calls = calls;
        team_.begin();
        calling(*block_.kernel, [&] { pool_.run(&Block::run, &block_, &team_.barrier); });
        block_.first += calls;
        if (const device::Failure* failure = team_.failure())
            throw Error(ErrorKind::argument, "measure", fmt::format("{}: {}", block_.kernel->id, failure->reason));
        return clock_.seconds();
    }

private:
    device::ThreadPool& pool_;
    device::TeamState team_;
    timing::TeamClock clock_;
    Block block_;
};

}  // namespace

Timing measure(const Problem& problem, std::string_view kernel_id, const Context& context,
               const MeasureOptions& options) {
    Context::Parts& parts = *context.parts();
    const Kernel* kernel = parts.find(kernel_id);
    if (kernel == nullptr) throw Error(ErrorKind::argument, "measure", fmt::format("there is no kernel {}", kernel_id));
    if (symbols_of(problem) != nullptr)
        throw Error(ErrorKind::argument, "measure", "the problem has symbols: " + to_string(problem));
    if (kernel->isa > parts.isa)
        throw Error(ErrorKind::argument, "measure", fmt::format("{} needs {}", kernel->id, to_string(kernel->isa)));
    if (const Refusal refusal = calling(*kernel, [&] { return kernel->accepts(problem); }); !refusal.empty())
        throw Error(ErrorKind::argument, "measure",
                    fmt::format("{} refuses {}: {}", kernel->id, to_string(problem), refusal));

    const Clock::time_point begun = Clock::now();
    const auto cache = static_cast<std::size_t>(std::max<std::int64_t>(device::cpu_info().l3_bytes, 8 << 20));
    const std::size_t rotation = options.cold ? std::min(3 * cache, most_rotation) : 0;
    const timing::Operands operands = calling(*kernel, [&] {
        return timing::Operands(problem, *kernel, parts.kernels.layouts, context.threads(), rotation);
    });
    Stopwatch watch(*kernel, operands, parts.pool);
    const long switches = involuntary_switches();

    // The first call pays for cold code and page tables; it sets the size of a block and is not counted.
    std::int64_t inner = 1;
    double block = watch.time(1);
    while (block < shortest_block && seconds_since(begun) < options.max_seconds) {
        inner *= std::clamp<std::int64_t>(static_cast<std::int64_t>(shortest_block / std::max(block, 1e-9)) + 1, 2, 64);
        block = watch.time(inner);
    }
    std::vector<double> times;
    while (static_cast<int>(times.size()) < options.blocks) {
        if (options.stop.stop_requested()) throw Cancelled("measure");
        times.push_back(watch.time(inner) / static_cast<double>(inner));
        if (seconds_since(begun) >= options.max_seconds) break;
    }
    Timing timing = timing::summary(std::move(times), inner);
    if (involuntary_switches() - switches > timing.samples) timing.quality = 1;
    return timing;
}

}  // namespace cairn::inline v0
