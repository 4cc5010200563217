#include "apps/cli/bucket_output.hpp"
#include "apps/cli/graphviz_text.hpp"
#include "apps/cli/host.hpp"
#include "apps/cli/report.hpp"
#include "apps/cli/report_data.hpp"
#include "apps/cli/run_inputs.hpp"
#include "apps/cli/subcommand.hpp"
#include "apps/cli/trace.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace cairn::cli {
namespace {

struct ExplainOptions {
    Options all;
    bool details = false;
    std::optional<std::string> why_not;  // empty: all refusals
    std::string html, dot, trace;
};

OutputRow row_of(const ExplainedKernel& verdict, std::string_view kind, const std::string& bucket) {
    OutputRow row{{"kind", kind}, {"bucket", bucket}, {"kernel", verdict.kernel}, {"problem", verdict.problem}};
    if (!verdict.refusal.empty()) {
        row["reason"] = verdict.refusal;
        return row;
    }
    if (!verdict.failure.empty()) {
        row["failure"] = verdict.failure;
        return row;
    }
    row[verdict.is_lower_bound ? "at_least_ns" : "cost_ns"] = nanoseconds(verdict.seconds);
    if (verdict.arithmetic_seconds > 0) row["arithmetic_ns"] = nanoseconds(verdict.arithmetic_seconds);
    if (verdict.memory_seconds > 0) row["memory_ns"] = nanoseconds(verdict.memory_seconds);
    row["measured"] = verdict.measured;
    if (verdict.ranked_last) row["counts_last"] = true;
    if (!verdict.expected_from.empty()) row["expected_from"] = verdict.expected_from;
    if (verdict.error > 0) row["error"] = verdict.error;
    return row;
}

/// The additional cost of an alternative: the run time, and separately the price of kept bytes.
OutputRow row_of(const ExplainedValue& value, const ExplainedAlternative& alternative, const std::string& bucket) {
    OutputRow row{{"kind", "alternative"},       {"bucket", bucket},
                  {"value", value.value},        {"op", value.op},
                  {"where", value.where},        {"definition", alternative.definition},
                  {"taken", alternative.chosen}, {"laws", alternative.laws}};
    if (!value.name.empty()) row["name"] = value.name;
    if (alternative.best >= 0) row["kernel"] = alternative.kernels[static_cast<std::size_t>(alternative.best)].kernel;
    if (alternative.slower) {
        row["slower_ns"] = nanoseconds(*alternative.slower);
        row["more_bytes"] = alternative.more_bytes;
        row["price_ns"] = nanoseconds(alternative.price);
    }
    if (!alternative.decided_by.empty()) row["decided_by"] = alternative.decided_by;
    return row;
}

OutputRow row_of(const ProgramTrial& trial) {
    return {{"kind", "trial"},    {"ratio", trial.ratio},     {"low", trial.low},
            {"high", trial.high}, {"samples", trial.samples}, {"expected", trial.expected},
            {"won", trial.won},   {"without", trial.without}, {"as_unmeasured", trial.as_unmeasured}};
}

/// Prints the contents of details() as objects.
void put_rows(const Explanation& why, Output& output) {
    for (const ExplainedBucket& bucket : why.buckets) {
        put_bucket(output, bucket);
        const std::string name = bucket_text(bucket);
        for (const ExplainedInstruction& each : bucket.instructions) {
            OutputRow row = row_of(each.chosen, "instruction", name);
            row["device"] = to_string(each.device);
            row["once"] = each.at_bind;
            row["op"] = each.op;
            row["where"] = each.where;
            if (!each.names.empty()) row["names"] = each.names;
            output.line(row, {});
            for (const ExplainedKernel& other_candidate : each.other_kernels)
                output.line(row_of(other_candidate, "other_kernel", name), {});
        }
        for (const ExplainedValue& value : bucket.values)
            for (const ExplainedAlternative& alternative : value.alternatives)
                output.line(row_of(value, alternative, name), {});
    }
    for (const ProgramTrial& trial : why.trials) output.line(row_of(trial), {});
    for (const std::string& note : why.notes) output.line({{"kind", "note"}, {"text", note}}, {});
}

/// For a definition that was not matched: why the nearest value does not match.
std::string nearest_miss(const Explanation& why, const std::string& name, const Graph& graph, const Context& context) {
    const auto& definitions = context.kernels().definitions;
    for (const auto& [kernel, definition] : why.kernels) {
        if (kernel != name && definition != name) continue;
        const auto is_it = [&](const Definition& each) { return each.name == definition; };
        if (std::none_of(definitions.begin(), definitions.end(), is_it)) return {};
        const std::string missing = why_not(graph, definition, context);
        return missing.empty() ? "" : "closest match: " + missing + "\n";
    }
    return {};
}

void put_why_not(const Explanation& why, const std::string& name, const Graph& graph, const Context& context,
                 Output& output) {
    const std::string text = why_not(why, name) + (name.empty() ? "" : nearest_miss(why, name, graph, context));
    if (!output.json) return output.text(text);
    output.line({{"kind", "why_not"}, {"kernel", name}, {"reason", text}}, {});
}

/// The summary of the bucket that contains the given sizes, otherwise of the one with the longest time.
std::string short_text(const Explanation& why, const Graph& graph, const Options& options) {
    if (options.sizes.empty()) return to_string(why);
    return summary(why, bucket_at(why, RunInputs::sizes_for(graph, options)));
}

int explain_graph(const ExplainOptions& options, Output& output, const std::stop_token& stop) {
    if (options.html.empty() && options.trace.empty()) {
        // Only the choice of the bucket depends on the given sizes.
        Options run = options.all;
        run.sizes.clear();
        refuse_run_options(run, "--html or --trace");
    }
    for (const std::string* path : {&options.html, &options.dot, &options.trace}) check_can_write(*path);
    const Graph graph = read_graph(options.all.graph);
    const Context context = make_context(options.all);
    ProgressLine progress;
    CompileOptions compile_with = compile_options(options.all);
    compile_with.progress = progress.sink();
    compile_with.stop = stop;
    CompiledGraph compiled = compile(graph, context, compile_with);
    const Explanation why = compiled.explain(stop);
    progress.clear();
    if (!options.dot.empty()) write_text(options.dot, graphviz_text(graph.name(), why, context));
    if (!options.html.empty() || !options.trace.empty()) {
        const ReportData study =
            collect_report_data(graph, context, options.all, compiled, why, progress.tuning(), stop);
        if (!options.html.empty()) write_text(options.html, report_of(study));
        if (!options.trace.empty()) write_text(options.trace, trace_of(study));
    }
    if (options.why_not) put_why_not(why, *options.why_not, graph, context, output);
    if (options.why_not || !options.dot.empty() || !options.html.empty() || !options.trace.empty()) return 0;
    if (output.json)
        put_rows(why, output);
    else
        output.text(options.details ? details(why) : short_text(why, graph, options.all));
    return 0;
}

}  // namespace

void add_explain(CLI::App& app, Action& chosen) {
    auto options = std::make_shared<ExplainOptions>();
    CLI::App& command =
        *app.add_subcommand("explain", "explain the selection for a graph: alternatives and their costs");
    command.add_flag("--all", options->details,
                     "all instructions with all their kernels, and the cost of all alternatives");
    command
        .add_option("--why-not", options->why_not,
                    "only the outcome of a kernel, or of all kernels of a definition or a named value; without a name "
                    "all refusals")
        ->expected(0, 1)
        ->option_text("[NAME]");
    command.add_option("--html", options->html, "write one page: what runs and how long, the runner-up, memory")
        ->option_text("FILE");
    command.add_option("--dot", options->dot, "write what runs as a graph for Graphviz")->option_text("FILE");
    command.add_option("--trace", options->trace, "write the times of a run, for chrome://tracing or Perfetto")
        ->option_text("FILE");
    add_compile_options(command, options->all);
    add_run_options(command, options->all);
    add_machine_options(command, options->all);
    set_action(command, options, chosen, explain_graph);
}

}  // namespace cairn::cli
