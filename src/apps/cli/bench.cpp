#include "apps/cli/host.hpp"
#include "apps/cli/subcommand.hpp"
#include "cairn/check.hpp"
#include "cairn/tuning.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <memory>

namespace cairn::cli {
namespace {

struct BenchOptions {
    Options all;
    std::string problem, kernel;
    std::string budget = "250ms";
    bool hot = false;
};

/// The Problem with its symbols replaced by the values of `--size`.
Problem sized_problem(const BenchOptions& options) {
    const auto symbols = Symbols::create();
    const Problem problem = parse_problem(options.problem, *symbols);
    std::vector<std::int64_t> values;
    std::map<std::string, std::int64_t> sizes = sizes_of(options.all);
    for (const Symbols::Symbol& symbol : symbols->list()) {
        std::optional<std::int64_t> value;
        if (symbol.low == symbol.high) value = symbol.low;
        if (const auto size = sizes.extract(symbol.name); !size.empty()) value = size.mapped();
        if (!value || *value < symbol.low || *value > symbol.high)
            throw Error(ErrorKind::argument, "bench",
                        fmt::format("{} must have a value in {}..{}: --size {}=...", symbol.name, symbol.low,
                                    symbol.high, symbol.name));
        values.push_back(*value);
    }
    if (!sizes.empty())
        throw Error(ErrorKind::argument, "bench", fmt::format("the problem has no size {}", sizes.begin()->first));
    return values.empty() ? problem : at_sizes(problem, values);
}

/// The problem with its bound operands in the packed layouts that the kernel requires, as in a program.
Problem packed_for(const Kernel& kernel, Problem problem) {
    for (const LayoutInput& packed : kernel.packed_inputs) {
        const auto input = static_cast<std::size_t>(packed.input);
        if (input < problem.inputs.size() && problem.inputs[input].bound && problem.inputs[input].layout.empty())
            problem.inputs[input].layout = packed.layout;
    }
    return problem;
}

/// The result for one kernel.
struct BenchmarkResult {
    const Kernel* kernel;
    Problem problem;
    std::string reason;
    Timing timing;
};

BenchmarkResult bench_kernel(const Kernel& kernel, const Problem& problem, const Context& context,
                             const MeasureOptions& measure_with) {
    BenchmarkResult benched{&kernel, problem, {}, {}};
    if (const FeatureSet missing = kernel.needs - context.features(); !missing.empty()) {
        benched.reason = fmt::format("it needs {}, in use is {}", to_string(missing), to_string(context.features()));
        return benched;
    }
    try {
        benched.reason = kernel.accepts(problem);
        if (!benched.reason.empty()) {
            benched.problem = packed_for(kernel, problem);
            if (benched.problem == problem || !kernel.accepts(benched.problem).empty()) return benched;
            benched.reason.clear();
        }
        // It is timed as another kernel or setting already.
        if (kernel.redundant != nullptr) benched.reason = kernel.redundant(benched.problem);
        if (!benched.reason.empty()) return benched;
        benched.timing = measure(benched.problem, kernel.id, context, measure_with);
    } catch (const Cancelled&) { throw; } catch (const Error& error) {
        benched.reason = error.what();
    }
    return benched;
}

void put_benchmark_result(const BenchmarkResult& benched, Output& output) {
    const Timing& timing = benched.timing;
    OutputRow row{{"kind", "kernel"}, {"kernel", benched.kernel->id}, {"problem", to_string(benched.problem)}};
    if (!benched.reason.empty()) {
        row["reason"] = benched.reason;
        return output.line(row, fmt::format("{:>8}  {:<44} {}", "no", benched.kernel->id, benched.reason));
    }
    row["cost_ns"] = nanoseconds(timing.median);
    row["min_ns"] = nanoseconds(timing.min);
    row["p90_ns"] = nanoseconds(timing.p90);
    row["samples"] = std::to_string(timing.samples);
    output.line(row, fmt::format("{:>8}  {:<44} {} to {} in {} blocks of {}{}", time_text(timing.median),
                                 benched.kernel->id, time_text(timing.min), time_text(timing.p90), timing.samples,
                                 timing.inner, timing.quality == 1 ? ", the machine was busy" : ""));
}

int bench_problem(const BenchOptions& options, Output& output, const std::stop_token& stop) {
    const Context context = make_context(options.all, {});
    const Problem problem = sized_problem(options);
    reference_graph(problem, context);  // throws for an invalid problem before any kernel is queried
    MeasureOptions measure_with;
    measure_with.max_seconds = duration_of(options.budget).value();
    measure_with.cold = !options.hot;
    measure_with.stop = stop;
    std::vector<BenchmarkResult> all;
    for (const Kernel& kernel : context.kernels().kernels) {
        const bool is_setting = kernel.id.ends_with('}');
        const bool is_named = options.kernel.empty()
                                  ? !is_setting
                                  : kernel.id == options.kernel || kernel.id.starts_with(options.kernel + '{');
        if (!is_named || (options.kernel.empty() && kernel.definition != problem.definition)) continue;
        if (kernel.definition != problem.definition)
            throw Error(ErrorKind::argument, "bench",
                        fmt::format("{} is for {}, not for {}", kernel.id, kernel.definition, problem.definition));
        BenchmarkResult benched = bench_kernel(kernel, problem, context, measure_with);
        // The refusal of a kernel is printed once, not for each setting.
        if (benched.reason.empty() || !is_setting || kernel.id == options.kernel) all.push_back(std::move(benched));
    }
    if (all.empty() && options.kernel.empty())
        throw Error(ErrorKind::argument, "bench", fmt::format("there is no kernel for {}", problem.definition));
    if (all.empty()) measure(problem, options.kernel, context, measure_with);  // throws for an invalid id
    std::stable_sort(all.begin(), all.end(), [](const BenchmarkResult& a, const BenchmarkResult& b) {
        return a.reason.empty() != b.reason.empty() ? a.reason.empty() : a.timing.median < b.timing.median;
    });
    for (const BenchmarkResult& each : all) put_benchmark_result(each, output);
    return 0;
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen) {
    auto options = std::make_shared<BenchOptions>();
    CLI::App& command = *app.add_subcommand("bench", "time every kernel that accepts a problem; why others do not");
    command.add_option("problem", options->problem, "in text form, as explain prints it: 'exp | f32[64] -> f32[64]'")
        ->required()
        ->option_text("PROBLEM");
    command
        .add_option("--kernel", options->kernel,
                    "only this one, by its id: at all its settings, or at one, as ID{depth=512}")
        ->option_text("ID");
    command.add_option("--size", options->all.sizes, "the value of a symbol in it: N=12")
        ->check(
            [](const std::string& text) { return size_of_text(text) ? "" : "expected a size, as N=12, got " + text; })
        ->option_text("N=V")
        ->allow_extra_args(false);
    command.add_option("--budget", options->budget, "for each kernel")
        ->check([](const std::string& text) {
            return duration_of(text) ? "" : "expected a time of at least 0, as 10s, got " + text;
        })
        ->option_text("TIME")
        ->capture_default_str();
    command.add_flag("--hot", options->hot, "operands stay in the caches; as in a program they do not");
    add_machine_options(command, options->all);
    set_action(command, options, chosen, bench_problem);
}

}  // namespace cairn::cli
