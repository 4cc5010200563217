#include "apps/cli/db.hpp"
#include "apps/cli/glob_pattern.hpp"
#include "apps/cli/open_database.hpp"
#include "apps/cli/subcommand.hpp"

#include "cairn/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::cli {
namespace {

struct RuleOptions {
    Options all;
    KernelRule rule;
    bool force = false;
};

void put_rule(Output& output, const KernelRule& rule) {
    output.line({{"kind", "rule"},
                 {"verdict", to_string(rule.action)},
                 {"kernel", rule.kernel},
                 {"problem", rule.problem},
                 {"reason", rule.reason}},
                fmt::format("{} {} for {}{}{}", to_string(rule.action), rule.kernel, rule.problem,
                            rule.reason.empty() ? "" : ": ", rule.reason));
}

int show_rules(const RuleOptions& options, Output& output, const std::stop_token&) {
    const std::vector<KernelRule> rules = open_to_read(options.all).rules();
    for (const KernelRule& rule : rules) put_rule(output, rule);
    if (rules.empty() && !output.json) output.text("no rule is in force\n");
    return 0;
}

/// Throws if a rule matches no kernel of the library and none with times in the database.
void check_names_kernels(const KernelRule& rule, const Options& options) {
    const KernelSet built_in = cpu_kernels();
    const auto is_named = [&](const Kernel& kernel) { return glob_matches(rule.kernel, kernel.id); };
    if (std::any_of(built_in.kernels.begin(), built_in.kernels.end(), is_named)) return;
    const std::filesystem::path path = existing_database_or_empty(options);
    if (!path.empty() && !TimingFile(path, TimingFile::Use::read).query({.kernel = rule.kernel}).empty()) return;
    throw Error(
        ErrorKind::argument, "db",
        fmt::format("no kernel is called {}: --force makes the rule for one that is not known here", rule.kernel));
}

int add_rule(const RuleOptions& options, Output& output, const std::stop_token&) {
    if (!options.force) check_names_kernels(options.rule, options.all);
    open_or_create(options.all).add_rule(options.rule);
    put_rule(output, options.rule);
    return 0;
}

int lift_rule(const RuleOptions& options, Output& output, const std::stop_token&) {
    TimingFile file = open_to_write(options.all);
    for (const KernelRule& rule : file.rules()) {
        if (rule.kernel != options.rule.kernel || rule.problem != options.rule.problem) continue;
        if (rule.action != options.rule.action) break;
        file.remove_rule(rule.kernel, rule.problem);
        output.line({{"kind", "lifted"},
                     {"verdict", to_string(rule.action)},
                     {"kernel", rule.kernel},
                     {"problem", rule.problem}},
                    fmt::format("lifted: {} {} for {}", to_string(rule.action), rule.kernel, rule.problem));
        return 0;
    }
    throw Error(ErrorKind::argument, "db",
                fmt::format("there is no {} of {} for {}: cairn db rules lists what there is",
                            to_string(options.rule.action), options.rule.kernel, options.rule.problem));
}

}  // namespace

void add_db_rules(CLI::App& db, Action& chosen) {
    const auto add = [&](const char* name, const char* help, RuleAction action, auto run) {
        auto options = std::make_shared<RuleOptions>();
        options->rule.action = action;
        CLI::App& command = *db.add_subcommand(name, help);
        add_glob_option(command, "kernel", options->rule.kernel, "kernels, by their ids")->required();
        add_glob_option(command, "--problem", options->rule.problem, "only on these problems")->capture_default_str();
        add_database_options(command, options->all);
        set_action(command, options, chosen, run);
        return std::pair(&command, options);
    };
    auto shown = std::make_shared<RuleOptions>();
    CLI::App& list = *db.add_subcommand("rules", "the rules in force, which override times");
    add_database_options(list, shown->all);
    set_action(list, shown, chosen, show_rules);
    for (const auto& [command, options] :
         {add("pin", "where one of these kernels can do a problem, use no other", RuleAction::pin, add_rule),
          add("ban", "never use these kernels", RuleAction::ban, add_rule)}) {
        command->add_option("--reason", options->rule.reason, "as explain repeats it")->option_text("TEXT");
        command->add_flag("--force", options->force, "also for kernels that are not known here");
    }
    add("unpin", "lift the pin of these very patterns", RuleAction::pin, lift_rule);
    add("unban", "lift the ban of these very patterns", RuleAction::ban, lift_rule);
}

}  // namespace cairn::cli
