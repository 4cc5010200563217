#include "apps/cli/bucket_output.hpp"
#include "apps/cli/db.hpp"
#include "apps/cli/host.hpp"
#include "apps/cli/open_database.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/subcommand.hpp"
#include "apps/console/atomic_file.hpp"

#include <fmt/format.h>

namespace cairn::cli {
namespace {

struct LockOptions {
    Options all;
    std::string output, check;
    bool force = false;
};

/// Number of calls in all programs, and of those with a measured time.
InstructionCount calls_of(const Explanation& why) {
    InstructionCount count;
    for (const ExplainedBucket& bucket : why.buckets) {
        const InstructionCount more = count_run_instructions(bucket);
        count.all += more.all;
        count.measured += more.measured;
    }
    return count;
}

CompiledGraph compile_quietly(const Options& options, const std::stop_token& stop) {
    const Graph graph = read_graph(options.graph);
    ProgressLine progress;
    CompileOptions compile_with = compile_options(options);
    compile_with.progress = progress.sink();
    compile_with.stop = stop;
    return compile(graph, make_context(options), compile_with);
}

int write_lock(const LockOptions& options, Output& output, const std::stop_token& stop) {
    if (options.all.mode == "cached") existing_database(options.all);
    console::AtomicFile lock(options.output, options.force);
    const CompiledGraph compiled = compile_quietly(options.all, stop);
    const Explanation why = compiled.explain(stop);
    compiled.write_lock(lock.temporary_path());
    lock.commit();
    for (const ExplainedBucket& bucket : why.buckets) put_bucket(output, bucket);
    const auto [all, measured] = calls_of(why);
    output.line({{"kind", "lock"},
                 {"lock", options.output},
                 {"instructions", std::to_string(all)},
                 {"measured", std::to_string(measured)}},
                fmt::format("{}: the kernels of {} instructions, {} of them by a measured time", options.output, all,
                            measured));
    return 0;
}

/// Checks that the lock still covers all problems of the graph.
int check_lock(const LockOptions& options, Output& output, const std::stop_token& stop) {
    Options replay = options.all;
    replay.mode = "replay";
    replay.lock = options.check;
    OutputRow row{{"kind", "lock"}, {"lock", options.check}};
    try {
        const Explanation why = compile_quietly(replay, stop).explain(stop);
        for (const ExplainedBucket& bucket : why.buckets) put_bucket(output, bucket);
        row["ok"] = true;
        output.line(row, options.check + " fits");
        return 0;
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) throw;
        row["ok"] = false;
        row["reason"] = error.what();
        output.line(row, error.what());
        return 1;
    }
}

int lock_graph(const LockOptions& options, Output& output, const std::stop_token& stop) {
    if (options.check.empty() == options.output.empty())
        throw Error(ErrorKind::argument, "command line", "name the lock by --output FILE or --check FILE");
    return options.check.empty() ? write_lock(options, output, stop) : check_lock(options, output, stop);
}

}  // namespace

void add_db_lock(CLI::App& db, Action& chosen) {
    auto options = std::make_shared<LockOptions>();
    CLI::App& command =
        *db.add_subcommand("lock", "write a lock: the selected kernel of each problem, for --mode replay");
    command.add_option("--output", options->output, "write the lock")->option_text("FILE");
    CLI::Option* check =
        command.add_option("--check", options->check, "whether this lock still fits the graph")->option_text("FILE");
    command.add_flag("--force", options->force, "replace a file that is there");
    add_compile_options(command, options->all);
    for (const char* other : {"--mode", "--lock", "--force"}) check->excludes(command.get_option(other));
    add_machine_options(command, options->all);
    command.footer("The exit code of --check is 1 where it does not fit.");
    set_action(command, options, chosen, lock_graph);
}

}  // namespace cairn::cli
