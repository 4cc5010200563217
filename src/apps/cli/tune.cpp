#include "apps/cli/bucket_output.hpp"
#include "apps/cli/host.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/subcommand.hpp"
#include "cairn/timing_file.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>

namespace cairn::cli {
namespace {

struct TuneOptions {
    Options all;
    std::string save;
};

std::int64_t times_in(const std::filesystem::path& database) {
    std::error_code fault;
    if (database.empty() || !std::filesystem::exists(database, fault)) return 0;
    return TimingFile(database, TimingFile::Use::read).info().times;
}

int tune_graph(const TuneOptions& options, Output& output, const std::stop_token& stop) {
    check_can_write(options.save);
    const Graph graph = read_graph(options.all.graph);
    const std::filesystem::path database = database_of(options.all);
    const std::int64_t before = times_in(database);
    const Context context = make_context(options.all, database);
    ProgressLine progress;
    CompileOptions compile_with = compile_options(options.all);
    compile_with.progress = progress.sink();
    compile_with.stop = stop;
    const CompiledGraph compiled = compile(graph, context, compile_with);
    const Explanation why = compiled.explain(stop);
    if (!options.save.empty()) compiled.save(options.save);
    progress.clear();
    for (const ExplainedBucket& bucket : why.buckets) put_bucket(output, bucket);
    const std::int64_t measured =
        database.empty() ? static_cast<std::int64_t>(progress.tuning().size()) : times_in(database) - before;
    output.line({{"kind", "tune"}, {"measured", std::to_string(measured)}, {"db", database.string()}},
                fmt::format("{} measured now, kept in {}", measured, database.empty() ? "memory" : database.string()));
    return 0;
}

}  // namespace

void add_tune(CLI::App& app, Action& chosen) {
    auto options = std::make_shared<TuneOptions>();
    options->all.mode = "normal";
    options->all.normal_budget = "10s";
    CLI::App& command =
        *app.add_subcommand("tune", "measure the missing times of the best programs of a graph, and record them");
    add_compile_options(command, options->all, Modes::measuring);
    command.add_option("--save", options->save, "write the compiled program, for CompiledGraph::load")
        ->option_text("FILE");
    add_machine_options(command, options->all);
    set_action(command, options, chosen, tune_graph);
}

}  // namespace cairn::cli
