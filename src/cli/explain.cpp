#include "cli/bucket_rows.hpp"
#include "cli/flow_dot.hpp"
#include "cli/host.hpp"
#include "cli/report.hpp"
#include "cli/study.hpp"
#include "cli/subcommand.hpp"
#include "cli/trace.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

namespace cairn::cli {
namespace {

struct ExplainOptions {
    Options all;
    std::string why_not, html, dot, trace;
};

Row row_of(const KernelVerdict& verdict, std::string_view kind, const std::string& bucket) {
    Row row{{"kind", kind}, {"bucket", bucket}, {"kernel", verdict.kernel}, {"problem", verdict.problem}};
    if (!verdict.refusal.empty()) {
        row["reason"] = verdict.refusal;
        return row;
    }
    row["cost_ns"] = nanoseconds(verdict.seconds);
    row["measured"] = verdict.measured;
    if (!verdict.expected_from.empty()) row["expected_from"] = verdict.expected_from;
    if (verdict.error > 0) row["error"] = verdict.error;
    return row;
}

/// What to_string(Explanation) tells of instructions, as objects.
void put_rows(const Explanation& why, Output& output) {
    for (const ExplainedBucket& bucket : why.buckets) {
        put_bucket(output, bucket);
        const std::string name = bucket_text(bucket);
        for (const ExplainedInstruction& each : bucket.instructions) {
            Row row = row_of(each.chosen, "instruction", name);
            row["once"] = each.once;
            row["op"] = each.op;
            row["where"] = each.where;
            output.line(row, {});
            for (const KernelVerdict& rival : each.rivals) output.line(row_of(rival, "rival", name), {});
        }
    }
}

/// Of a definition that was never found: what of it is missing in the value that comes nearest.
std::string nearest_miss(const Explanation& why, const std::string& name, const Graph& graph, const Context& context) {
    const auto& definitions = context.kernels().definitions;
    for (const auto& [kernel, definition] : why.kernels) {
        if (kernel != name && definition != name) continue;
        const auto is_it = [&](const Definition& each) { return each.name == definition; };
        if (std::none_of(definitions.begin(), definitions.end(), is_it)) return {};
        const std::string missing = why_not(graph, definition, context);
        return missing.empty() ? "" : "the nearest to it: " + missing + "\n";
    }
    return {};
}

void put_why_not(const Explanation& why, const std::string& name, const Graph& graph, const Context& context,
                 Output& output) {
    const std::string text = why_not(why, name) + nearest_miss(why, name, graph, context);
    if (!output.json) return output.text(text);
    output.line({{"kind", "why_not"}, {"kernel", name}, {"reason", text}}, {});
}

int explain_graph(const ExplainOptions& options, Output& output, const std::stop_token& stop) {
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
    if (!options.dot.empty()) write_text(options.dot, flow_dot(graph.name(), why, context));
    if (!options.html.empty() || !options.trace.empty()) {
        const Study study = study_of(graph, context, options.all, compiled, why, progress.tuning(), stop);
        if (!options.html.empty()) write_text(options.html, report_of(study));
        if (!options.trace.empty()) write_text(options.trace, trace_of(study));
    }
    if (!options.why_not.empty()) put_why_not(why, options.why_not, graph, context, output);
    if (!options.why_not.empty() || !options.dot.empty() || !options.html.empty() || !options.trace.empty()) return 0;
    if (output.json)
        put_rows(why, output);
    else
        output.text(to_string(why));
    return 0;
}

}  // namespace

void add_explain(CLI::App& app, Work& chosen) {
    auto options = std::make_shared<ExplainOptions>();
    CLI::App& command =
        *app.add_subcommand("explain", "what was chosen for a graph, out of what, and what all else would cost");
    command.add_option("--why-not", options->why_not, "only what came of a kernel, or of all kernels of a definition")
        ->option_text("KERNEL");
    command.add_option("--html", options->html, "write one page: what runs and how long, the runner-up, memory")
        ->option_text("FILE");
    command.add_option("--dot", options->dot, "write what runs as a graph for Graphviz")->option_text("FILE");
    command.add_option("--trace", options->trace, "write the times of a run, for chrome://tracing or Perfetto")
        ->option_text("FILE");
    add_compile_options(command, options->all);
    add_run_options(command, options->all);
    add_machine_options(command, options->all);
    choose(command, options, chosen, explain_graph);
}

}  // namespace cairn::cli
