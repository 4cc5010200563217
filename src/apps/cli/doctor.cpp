#include "apps/cli/command.hpp"
#include "apps/cli/database_file.hpp"
#include "apps/cli/device_diagnostics.hpp"
#include "apps/cli/host.hpp"
#include "apps/cli/machine_diagnostics.hpp"
#include "cairn/tuning.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <thread>

namespace cairn::cli {
namespace {

MachineDiagnostic threads_diagnostic(const Options& options) {
    const int usable = usable_cpus(), threads = options.threads.value_or(usable);
    const unsigned all = std::thread::hardware_concurrency();
    MachineDiagnostic fact{"CPUs", fmt::format("{} of {} usable, {} threads", usable, all, threads), {}};
    if (threads > usable)
        fact.advice = "more threads than CPUs: they wait for one another in the system, not in a loop";
    else if (static_cast<unsigned>(usable) < all)
        fact.advice = "affinity or a quota holds this process to some of the CPUs";
    return fact;
}

/// The spread of times of equal work.
MachineDiagnostic noise_diagnostic(const Context& context, const std::stop_token& stop) {
    constexpr double much = 0.1;
    const auto symbols = Symbols::create();
    const Problem problem = parse_problem("exp | f32[4096] -> f32[4096]", *symbols);
    for (const Kernel& kernel : context.kernels().kernels) {
        if (kernel.definition != problem.definition || !context.features().includes(kernel.needs) ||
            !kernel.accepts(problem).empty())
            continue;
        MeasureOptions measure_with;
        measure_with.blocks = 101;
        measure_with.cold = false;
        measure_with.stop = stop;
        const Timing timing = measure(problem, kernel.id, context, measure_with);
        const double spread = timing.p90 / timing.min - 1;
        MachineDiagnostic fact{"noise", fmt::format("{:.1f} %", 100 * spread), {}};
        if (spread > much || timing.quality == 1)
            fact.advice =
                "the same work takes different times: other programs run, or clocks change; what is measured "
                "now is unreliable";
        return fact;
    }
    return {"noise", "unknown", {}};
}

MachineDiagnostic database_diagnostic(const Options& options) {
    const std::filesystem::path path = database_of(options);
    if (path.empty()) return {"database", "none", "times are lost at the end: name a database by --db"};
    std::error_code fault;
    if (!std::filesystem::exists(path, fault)) return {"database", path.string() + ", not made yet", {}};
    const DatabaseFileInfo file = inspect_database_file(path);
    MachineDiagnostic fact{
        "database", fmt::format("{}, {}", path.string(), bytes_text(static_cast<double>(file.bytes))), {}};
    if (file.bytes > 0 && !file.has_log)
        fact.advice = "it keeps no log (WAL), as on a network disk: readers and writers wait for one another";
    return fact;
}

int examine(const Options& options, Output& output, const std::stop_token& stop) {
    const auto put = [&](const MachineDiagnostic& fact) {
        OutputRow row{{"kind", "doctor"}, {"name", fact.name}, {"value", fact.value}, {"ok", fact.advice.empty()}};
        if (!fact.advice.empty()) row["reason"] = fact.advice;
        output.line(row, fmt::format("{:<4} {:<20} {}{}", fact.advice.empty() ? "ok" : "look", fact.name, fact.value,
                                     fact.advice.empty() ? "" : fmt::format("\n{:25} {}", "", fact.advice)));
    };
    const MachineDiagnostic database = database_diagnostic(options);
    const Context context = make_context(options, {});
    put({"version", std::string(version()), {}});
    put({"features", to_string(context.features()), {}});
    put(threads_diagnostic(options));
    for (const MachineDiagnostic& fact : machine_diagnostics()) put(fact);
    put(quota_diagnostic(cpu_quota()));
    put(noise_diagnostic(context, stop));
    const Calibration machine = calibrate(context);
    put({"read bandwidth",
         fmt::format("{:.3g} GB/s over {:.0f} MB", machine.bandwidth / 1e9, machine.bandwidth_bytes / 1e6),
         {}});
    for (std::size_t unit = 0; unit < unit_count; ++unit)
        if (const double rate = machine.unit_flops[unit]; rate > 0)
            put({std::string(to_string(static_cast<Unit>(unit))), fmt::format("{:.3g} GFLOP/s", rate / 1e9), {}});
    put({"barrier", time_text(machine.barrier_seconds), {}});
    put({"cross-core transfer", time_text(machine.cross_core_transfer_seconds), {}});
    if (const double seconds = machine.cross_core_transfer_byte_seconds; seconds > 0)
        put({"cross-core bandwidth", fmt::format("{:.3g} GB/s", 1e-9 / seconds), {}});
    put({"clock step", time_text(machine.timer_seconds), {}});
    for (const MachineDiagnostic& fact : device_diagnostics(context, database_of(options))) put(fact);
    put(database);
    return 0;
}

}  // namespace

void add_doctor(CLI::App& app, Action& chosen) {
    auto options = std::make_shared<Options>();
    CLI::App& command =
        *app.add_subcommand("doctor", "diagnose what makes runs slow or times unreliable on this machine");
    command.footer("The GPU that --device names is measured; for other GPUs the stored or nominal rates are printed.");
    add_machine_options(command, *options);
    command.callback([options, &chosen] {
        chosen = [options](Output& output, const std::stop_token& stop) {
            output.json = options->json;
            return examine(*options, output, stop);
        };
    });
}

}  // namespace cairn::cli
