#include "cairn/tuning.hpp"
#include "device/context_parts.hpp"
#include "device/cpu/arena.hpp"
#include "device/cpu/team.hpp"
#include "timing/team_clock.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace cairn::inline v0 {
namespace {

using timing::Clock, timing::seconds_since;

constexpr std::size_t read_bytes = 64 << 20;
constexpr int barriers = 2000;

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

struct Probe {
    device::TeamState* team;
    timing::TeamClock* clock;
    const std::byte* memory;
    double read_seconds = 0, barrier_seconds = 0;
    alignas(64) std::uint64_t sums[64] = {};

    static void run(void* probe_pointer, int rank, int size) {
        Probe& probe = *static_cast<Probe*>(probe_pointer);
        const std::size_t share = read_bytes / static_cast<std::size_t>(size) / 64 * 64;
        const std::byte* first = probe.memory + static_cast<std::size_t>(rank) * share;
        for (int pass = 0; pass < 3; ++pass) {
            probe.team->next_instruction();
            probe.clock->start(rank);
            std::uint64_t lanes[8] = {};
            for (std::size_t at = 0; at + 64 <= share; at += 64) {
                std::uint64_t line[8];
                std::memcpy(line, first + at, sizeof line);
                for (int i = 0; i < 8; ++i) lanes[i] += line[i];
            }
            // The sums are kept so that the reads cannot be left out.
            probe.sums[static_cast<std::size_t>(rank) % 64] += std::accumulate(lanes, lanes + 8, std::uint64_t{0});
            probe.clock->stop(rank);
            probe.team->next_instruction();
            if (rank == 0)
                probe.read_seconds =
                    pass == 0 ? probe.clock->seconds() : std::min(probe.read_seconds, probe.clock->seconds());
        }
        const Clock::time_point start = Clock::now();
        for (int i = 0; i < barriers; ++i) probe.team->next_instruction();
        if (rank == 0) probe.barrier_seconds = seconds_since(start) / barriers;
    }
};

/// The matrix products that can do `problem` at the highest level that has one: a CPU may have a level (VNNI) that no
/// product is written for.
std::vector<const Kernel*> best_products(const Context& context, const Problem& problem) {
    std::vector<const Kernel*> products;
    for (const Kernel& kernel : context.kernels().kernels) {
        if (kernel.definition != "matmul" || kernel.isa > context.isa() || kernel.cost == nullptr ||
            !kernel.accepts(problem).empty() || kernel.cost(problem).efficiency < 0.1)
            continue;
        if (!products.empty() && products.front()->isa > kernel.isa) continue;
        if (!products.empty() && products.front()->isa < kernel.isa) products.clear();
        products.push_back(&kernel);
    }
    return products;
}

/// The fastest matrix product at hand, scaled by the share of the peak it is said to reach.
double peak_flops(const Context& context) {
    auto symbols = Symbols::create();
    const Problem problem = parse_problem("matmul | f32[240,256] f32[256,256] -> f32[240,256]", *symbols);
    double best = 0;
    for (const Kernel* kernel : best_products(context, problem)) {
        const Cost cost = kernel->cost(problem);
        MeasureOptions options;
        options.blocks = 5;
        options.max_seconds = 0.03;
        options.cold = false;
        best = std::max(best, cost.flops / measure(problem, kernel->id, context, options).min / cost.efficiency);
    }
    return best;
}

}  // namespace

Calibration calibrate(const Context& context) {
    Context::Parts& parts = *context.parts();
    device::Arena memory = device::Arena::reserve(read_bytes);
    memory.touch(read_bytes);
    device::TeamState team(context.threads(), parts.pool.spin());
    timing::TeamClock clock(context.threads());
    Probe probe{&team, &clock, memory.data()};
    team.begin();
    parts.pool.run(&Probe::run, &probe, &team.barrier);
    Calibration machine;
    machine.timer_seconds = clock_step();
    machine.bandwidth = static_cast<double>(read_bytes) / probe.read_seconds;
    machine.barrier_seconds = context.threads() == 1 ? 0 : probe.barrier_seconds;
    machine.flops = peak_flops(context);
    return machine;
}

}  // namespace cairn::inline v0
