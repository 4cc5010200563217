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

/// The matrix products that may run here, those of the highest level first: a CPU may have a level (VNNI) that no
/// product is written for.
std::vector<const Kernel*> products_of(const Context& context) {
    std::vector<const Kernel*> products;
    for (const Kernel& kernel : context.kernels().kernels)
        if (kernel.definition == "matmul" && kernel.isa <= context.isa() && kernel.cost != nullptr)
            products.push_back(&kernel);
    std::stable_sort(products.begin(), products.end(),
                     [](const Kernel* a, const Kernel* b) { return a->isa > b->isa; });
    return products;
}

/// What a product shows of the machine: its speed, scaled by the share of the peak it is said to reach. 0 where it
/// cannot do `problem` well, or fails.
double shown_flops(const Context& context, const Kernel& kernel, const Problem& problem) try {
    if (!kernel.accepts(problem).empty()) return 0;
    const Cost cost = kernel.cost(problem);
    if (!(cost.efficiency >= 0.1)) return 0;
    MeasureOptions options;
    options.blocks = 5;
    options.max_seconds = 0.03;
    options.cold = false;
    return cost.flops / measure(problem, kernel.id, context, options).min / cost.efficiency;
} catch (...) { return 0; }

/// By the fastest matrix product at hand, of the highest level that has one.
double peak_flops(const Context& context) {
    auto symbols = Symbols::create();
    const Problem problem = parse_problem("matmul | f32[240,256] f32[256,256] -> f32[240,256]", *symbols);
    double best = 0;
    Isa level = Isa::baseline;
    for (const Kernel* kernel : products_of(context)) {
        if (best > 0 && kernel->isa < level) break;
        level = kernel->isa;
        best = std::max(best, shown_flops(context, *kernel, problem));
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
