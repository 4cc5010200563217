#include "cairn/paths.hpp"
#include "cli/feed.hpp"
#include "cli/host.hpp"
#include "cli/progress.hpp"
#include "cli/subcommand.hpp"

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

/// Shows paths, each as it is found.
class PathPrinter {
public:
    PathPrinter(const Paths& ways, const Graph& graph, const PathsOptions& options, Output& output,
                const std::stop_token& stop)
        : ways_(ways), options_(options), output_(output), stop_(stop) {
        if (options.profile) feed_.emplace(graph, options.all);
    }

    void show(const Path& way) const {
        if (stop_.stop_requested()) throw Cancelled("paths");
        const std::vector<PathStep> steps = way.steps();
        CallDigest digest;
        for (const PathStep& step : steps) digest.add(step.kernel, step.problem);
        const std::string rank = ways_.rank(way);
        Row row{{"kind", "path"},
                {"rank", rank},
                {"cost_ns", nanoseconds(way.cost())},
                {"expected_ns", nanoseconds(way.seconds())},
                {"kept_bytes", std::to_string(static_cast<std::int64_t>(way.kept_bytes()))},
                {"steps", std::to_string(steps.size())},
                {"digest", digest.text()}};
        std::string text =
            fmt::format("cost {}: {} expected in runs, {} steps, {} kept, digest {}", time_text(way.cost()),
                        time_text(way.seconds()), steps.size(), bytes_text(way.kept_bytes()), digest.text());
        if (feed_) add_time(way, row, text);
        text += ", rank " + rank;
        output_.line(row, text);
        if (options_.steps)
            for (const PathStep& step : steps) show_step(rank, step);
    }

private:
    /// A way whose kernels cannot prepare is no fault of who asks.
    void add_time(const Path& way, Row& row, std::string& text) const {
        try {
            CompiledGraph model = way.compile();
            feed_->give(model, {}, stop_);
            const double seconds = feed_->time(model, stop_);
            row["run_ns"] = nanoseconds(seconds);
            text += ", a run took " + time_text(seconds);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::unsupported) throw;
            row["reason"] = error.what();
            text += fmt::format(", not run: {}", error.what());
        }
    }

    void show_step(const std::string& rank, const PathStep& step) const {
        Row row{{"kind", "step"},
                {"rank", rank},
                {"bucket", step.bucket},
                {"kernel", step.kernel},
                {"problem", step.problem},
                {"cost_ns", nanoseconds(step.seconds)},
                {"measured", step.measured},
                {"once", step.once},
                {"where", step.where}};
        if (!step.expected_from.empty()) row["expected_from"] = step.expected_from;
        if (!step.failure.empty()) row["failure"] = step.failure;
        const char* const how = !step.failure.empty()        ? "failed"
                                : step.measured              ? "measured"
                                : step.expected_from.empty() ? "estimated"
                                                             : "expected";
        output_.line(row, fmt::format("  {:>8} {}{} {} | {}", time_text(step.seconds), how, step.once ? " once" : "",
                                      step.kernel, step.problem));
    }

    const Paths& ways_;
    const PathsOptions& options_;
    Output& output_;
    const std::stop_token& stop_;
    std::optional<Feed> feed_;
};

void put_count(const Paths& ways, Output& output) {
    output.line({{"kind", "count"},
                 {"count", ways.count()},
                 {"log10", ways.log10_count()},
                 {"exact", ways.is_exact()},
                 {"reason", ways.not_searched()}},
                ways.is_exact() ? ways.count() : fmt::format("{} at least: {}", ways.count(), ways.not_searched()));
}

/// The cheapest ones, or those that follow one of them in that order.
void show_best(const Paths& ways, const PathsOptions& options, const PathPrinter& printer,
               const std::stop_token& stop) {
    std::optional<Path> last;
    if (!options.resume.empty()) last = ways.at(options.resume);
    std::int64_t left = options.best.value_or(10);
    PathRange range = ways.cheapest_first();
    for (auto way = range.begin(); left > 0 && way != range.end(); ++way) {
        if (stop.stop_requested()) throw Cancelled("paths");
        if (last) {
            if (*way == *last) last.reset();
            continue;
        }
        printer.show(*way);
        --left;
    }
}

/// Refuses options that take effect with others alone.
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
    const Paths ways = paths(graph, context, compile_with);
    progress.clear();
    if (options.count) put_count(ways, output);
    const PathPrinter printer(ways, graph, options, output, stop);
    std::mt19937_64 random(options.all.seed.value_or(0));
    for (std::int64_t i = 0; i < options.sample.value_or(0); ++i) printer.show(ways.sample(random));
    const bool nothing_else = !options.count && !options.sample;
    if (options.best || !options.resume.empty() || nothing_else) show_best(ways, options, printer, stop);
    return 0;
}

}  // namespace

void add_paths(CLI::App& app, Work& chosen) {
    auto options = std::make_shared<PathsOptions>();
    CLI::App& command = *app.add_subcommand("paths", "count, list and draw all ways to run a graph; run and time them");
    const CLI::Range from_0(std::int64_t{0}, std::int64_t{1'000'000'000'000});
    command.add_flag("--count", options->count, "how many there are");
    command
        .add_option("--best", options->best, "the cheapest ones, from the cheapest on; 10 when nothing is asked for")
        ->check(from_0)
        ->option_text("K");
    command.add_option("--sample", options->sample, "drawn by chance, each as likely as any other")
        ->check(from_0)
        ->option_text("K");
    command.add_option("--resume", options->resume, "go on behind this one in the order of --best")
        ->option_text("RANK");
    command.add_flag("--steps", options->steps, "each with its steps");
    command.add_flag("--profile", options->profile, "run each that is shown, and time it");
    add_compile_options(command, options->all);
    add_run_options(command, options->all);
    add_machine_options(command, options->all);
    choose(command, options, chosen, show_paths);
}

}  // namespace cairn::cli
