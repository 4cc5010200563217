#include "cairn/paths.hpp"
#include "apps/cli/host.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/run_inputs.hpp"
#include "apps/cli/subcommand.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <random>

namespace cairn::cli {
namespace {

struct PathsOptions {
    Options all;
    bool count = false, profile = false, steps = false;
    std::optional<std::int64_t> best, sample;
    std::string resume;
};

/// Prints paths as they are found.
class PathPrinter {
public:
    PathPrinter(const Paths& all_paths, const Graph& graph, const PathsOptions& options, Output& output,
                const std::stop_token& stop)
        : all_paths_(all_paths), options_(options), output_(output), stop_(stop) {
        if (options.profile) run_inputs_.emplace(graph, options.all);
    }

    void show(const Path& path) const {
        if (stop_.stop_requested()) throw Cancelled("paths");
        const std::vector<PathStep> steps = path.steps();
        CallDigest digest;
        for (const PathStep& step : steps) digest.add(step.kernel, step.problem);
        const std::string rank = all_paths_.rank(path);
        OutputRow row{{"kind", "path"},
                      {"rank", rank},
                      {"cost_ns", nanoseconds(path.cost())},
                      {"expected_ns", nanoseconds(path.seconds())},
                      {"kept_bytes", std::to_string(static_cast<std::int64_t>(path.kept_bytes()))},
                      {"steps", std::to_string(steps.size())},
                      {"digest", digest.text()}};
        std::string text =
            fmt::format("cost {}: {} expected in runs, {} steps, {} kept, digest {}", time_text(path.cost()),
                        time_text(path.seconds()), steps.size(), bytes_text(path.kept_bytes()), digest.text());
        if (run_inputs_) add_time(path, row, text);
        text += ", rank " + rank;
        output_.line(row, text);
        if (options_.steps)
            for (const PathStep& step : steps) show_step(rank, step);
    }

private:
    /// A path whose kernels cannot prepare is not an error of the user.
    void add_time(const Path& path, OutputRow& row, std::string& text) const {
        try {
            CompiledGraph model = path.compile();
            run_inputs_->apply_to(model, {}, stop_);
            const double seconds = run_inputs_->time(model, stop_);
            row["run_ns"] = nanoseconds(seconds);
            text += ", a run took " + time_text(seconds);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::unsupported) throw;
            row["reason"] = error.what();
            text += fmt::format(", not run: {}", error.what());
        }
    }

    void show_step(const std::string& rank, const PathStep& step) const {
        OutputRow row{{"kind", "step"},
                      {"rank", rank},
                      {"bucket", step.bucket},
                      {"kernel", step.kernel},
                      {"problem", step.problem},
                      {"cost_ns", nanoseconds(step.seconds)},
                      {"measured", step.measured},
                      {"once", step.at_bind},
                      {"where", step.where}};
        if (!step.expected_from.empty()) row["expected_from"] = step.expected_from;
        if (!step.failure.empty()) row["failure"] = step.failure;
        const char* const how = !step.failure.empty()        ? "failed"
                                : step.measured              ? "measured"
                                : step.expected_from.empty() ? "estimated"
                                                             : "expected";
        output_.line(row, fmt::format("  {:>8} {}{} {} | {}", time_text(step.seconds), how, step.at_bind ? " once" : "",
                                      step.kernel, step.problem));
    }

    const Paths& all_paths_;
    const PathsOptions& options_;
    Output& output_;
    const std::stop_token& stop_;
    std::optional<RunInputs> run_inputs_;
};

void put_count(const Paths& all_paths, Output& output) {
    output.line({{"kind", "count"},
                 {"count", all_paths.count()},
                 {"log10", all_paths.log10_count()},
                 {"exact", all_paths.is_exact()},
                 {"reason", all_paths.not_searched()}},
                all_paths.is_exact() ? all_paths.count()
                                     : fmt::format("{} at least: {}", all_paths.count(), all_paths.not_searched()));
}

/// Prints the cheapest paths, or those after a given one in that order.
void show_best(const Paths& all_paths, const PathsOptions& options, const PathPrinter& printer,
               const std::stop_token& stop) {
    std::optional<Path> last;
    if (!options.resume.empty()) last = all_paths.at(options.resume);
    std::int64_t left = options.best.value_or(10);
    PathRange range = all_paths.cheapest_first();
    for (auto path = range.begin(); left > 0 && path != range.end(); ++path) {
        if (stop.stop_requested()) throw Cancelled("paths");
        if (last) {
            if (*path == *last) last.reset();
            continue;
        }
        printer.show(*path);
        --left;
    }
}

/// Refuses options that only have an effect together with others.
void check_paths_options(const PathsOptions& options) {
    const bool only_counts = options.count && !options.best && !options.sample && options.resume.empty();
    if (only_counts && (options.profile || options.steps))
        throw Error(ErrorKind::argument, "command line",
                    fmt::format("{} has no effect: no path is shown with --count alone, but with --best or --sample",
                                options.profile ? "--profile" : "--steps"));
    if (options.profile) return;
    Options run = options.all;
    if (options.sample) run.seed.reset();
    refuse_run_options(run, run.seed ? "--profile, nor drawn without --sample" : "--profile");
}

int show_paths(const PathsOptions& options, Output& output, const std::stop_token& stop) {
    check_paths_options(options);
    const Graph graph = read_graph(options.all.graph);
    const Context context = make_context(options.all);
    ProgressLine progress;
    CompileOptions compile_with = compile_options(options.all);
    compile_with.progress = progress.sink();
    compile_with.stop = stop;
    const Paths all_paths = paths(graph, context, compile_with);
    progress.clear();
    if (options.count) put_count(all_paths, output);
    const PathPrinter printer(all_paths, graph, options, output, stop);
    std::mt19937_64 random(options.all.seed.value_or(0));
    for (std::int64_t i = 0; i < options.sample.value_or(0); ++i) printer.show(all_paths.sample(random));
    const bool nothing_else = !options.count && !options.sample;
    if (options.best || !options.resume.empty() || nothing_else) show_best(all_paths, options, printer, stop);
    return 0;
}

}  // namespace

void add_paths(CLI::App& app, Action& chosen) {
    auto options = std::make_shared<PathsOptions>();
    CLI::App& command = *app.add_subcommand("paths", "count, list and sample all paths of a graph; run and time them");
    const CLI::Range from_0(std::int64_t{0}, std::int64_t{1'000'000'000'000});
    command.add_flag("--count", options->count, "how many there are");
    command
        .add_option("--best", options->best, "the cheapest ones, from the cheapest on; 10 when nothing is asked for")
        ->check(from_0)
        ->option_text("K");
    command.add_option("--sample", options->sample, "random samples, each path as likely as any other")
        ->check(from_0)
        ->option_text("K");
    command.add_option("--resume", options->resume, "continue after this path in the order of --best")
        ->option_text("RANK");
    command.add_flag("--steps", options->steps, "each with its steps");
    command.add_flag("--profile", options->profile, "run each that is shown, and time it");
    add_compile_options(command, options->all);
    add_run_options(command, options->all);
    add_machine_options(command, options->all);
    set_action(command, options, chosen, show_paths);
}

}  // namespace cairn::cli
