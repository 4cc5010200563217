#include "apps/cli/db.hpp"
#include "apps/cli/glob_pattern.hpp"
#include "apps/cli/host.hpp"
#include "apps/cli/open_database.hpp"
#include "apps/cli/subcommand.hpp"
#include "apps/cli/timing_output.hpp"
#include "apps/console/timestamp.hpp"

#include "cairn/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::cli {
namespace {

struct QueryOptions {
    Options all;
    std::string problem, since;
    TimingFilter filter;
};

/// The measurement policy of the context.
std::string policy_of(const Context& context) {
    return fmt::format("threads={} cold inputs=normal", context.threads());
}

/// Throws unless the library has a kernel for the problem that matches the pattern.
void check_kernel(const Problem& problem, const std::string& pattern, const Context& context) {
    bool is_for_it = false;
    for (const Kernel& kernel : context.kernels().kernels) {
        if (kernel.definition != problem.definition) continue;
        if (glob_matches(pattern, kernel.id)) return;
        is_for_it = true;
    }
    throw Error(ErrorKind::argument, "db",
                is_for_it ? fmt::format("{} has no kernel {}", problem.definition, pattern)
                          : fmt::format("there is no kernel for {}", problem.definition));
}

/// Prints the times that a compile on this machine would use.
int query_problem(const QueryOptions& options, Output& output) {
    const auto symbols = Symbols::create();
    const Problem problem = parse_problem(options.problem, *symbols);
    if (symbols_of(problem) != nullptr)
        throw Error(ErrorKind::argument, "db", "times are of constant sizes, got " + to_string(problem));
    const TimingFile file = open_to_read(options.all);
    const Context context = make_context(options.all, {});
    const std::vector<TimingEnvironment> here = timing_environments(context);
    const std::string text = to_string(problem), cpu_policy = policy_of(context);
    std::vector<TimingRecord> records = file.query({.kernel = options.filter.kernel,
                                                    .problem = text,
                                                    .policy = "threads=* cold inputs=normal",
                                                    .best_only = true});
    std::erase_if(records, [&](const TimingRecord& each) {
        const auto environment =
            std::find_if(here.begin(), here.end(), [&](const auto& known) { return known.hard == each.hard; });
        // Times of a GPU do not depend on threads.
        return each.problem != text || environment == here.end() ||
               (environment == here.begin() && each.policy != cpu_policy);
    });
    if (records.empty()) check_kernel(problem, options.filter.kernel, context);
    for (const TimingRecord& record : records) put_time(output, record, here);
    return 0;
}

/// Throws if one of the patterns matches nothing by itself: it was mistyped.
void check_patterns(const TimingFile& file, const TimingFilter& filter) {
    const auto check = [&](std::string TimingFilter::*part, std::string_view what) {
        TimingFilter alone;
        alone.*part = filter.*part;
        if (file.query(alone).empty())
            throw Error(ErrorKind::argument, "db", fmt::format("no time here matches {} {}", what, filter.*part));
    };
    check(&TimingFilter::kernel, "a kernel");
    check(&TimingFilter::problem, "a problem");
    check(&TimingFilter::environment, "an environment");
    check(&TimingFilter::policy, "a policy");
}

int query_database(const QueryOptions& options, Output& output, const std::stop_token&) {
    if (!options.problem.empty()) return query_problem(options, output);
    const TimingFile file = open_to_read(options.all);
    TimingFilter filter = options.filter;
    const std::vector<TimingEnvironment> here = environments_of_this_machine(options.all);
    filter.environment = environment_pattern(filter.environment, options.all);
    if (!options.since.empty()) filter.since = console::parse_timestamp(options.since, console::now()).value();
    const std::vector<TimingRecord> records = file.query(filter);
    if (records.empty() && file.info().times > 0) check_patterns(file, filter);
    for (const TimingRecord& record : records) put_time(output, record, here);
    return 0;
}

}  // namespace

void add_db_query(CLI::App& db, Action& chosen) {
    auto options = std::make_shared<QueryOptions>();
    CLI::App& command =
        *db.add_subcommand("query", "the times of a problem that this machine goes by, or all times that fit");
    CLI::Option* one = command.add_option("problem", options->problem, "in text form: 'exp | f32[64] -> f32[64]'")
                           ->option_text("PROBLEM");
    add_glob_option(command, "--kernel", options->filter.kernel, "only of these kernels");
    CLI::Option* const others[] = {
        add_glob_option(command, "--problem", options->filter.problem, "only of these problems"),
        add_glob_option(command, "--environment", options->filter.environment,
                        "only of these machines; here is this one"),
        add_glob_option(command, "--policy", options->filter.policy, "only measured so: threads=2 cold inputs=normal"),
        command.add_option("--since", options->since, "only of the last 12h or 30d, or since a date")
            ->check(console::timestamp_error)
            ->option_text("TIME"),
        command.add_flag("--best", options->filter.best_only,
                         "of each problem, kernel, environment and policy the one that counts")};
    for (CLI::Option* each : others) one->excludes(each);
    add_machine_options(command, options->all);
    set_action(command, options, chosen, query_database);
}

}  // namespace cairn::cli
