#include "apps/cli/bucket_output.hpp"
#include "apps/cli/host.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/sequence_diff.hpp"
#include "apps/cli/subcommand.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace cairn::cli {
namespace {

struct DiffOptions {
    Options all;
    std::string other;
    /// Options that B is compiled with in place of A's; none: as A.
    std::optional<std::string> tolerance, lock;  // the mode is other_mode of `all`
    std::optional<std::vector<std::string>> splits, disable, pins, bans;
};

bool is_saved(const std::string& text) { return text.starts_with("cairn compiled graph"); }

/// Refuses compile options for a saved program, on which they have no effect. Throws Error(argument).
void refuse_compile_options(const DiffOptions& options, bool left_is_saved, bool right_is_saved) {
    const Options& all = options.all;
    const auto refuse = [](bool given, const char* option, const char* which) {
        if (given)
            throw Error(ErrorKind::argument, "command line",
                        fmt::format("{} has no effect: {} a saved program, which is compiled already", option, which));
    };
    if (right_is_saved) {
        const char* const which = "the second one is";
        refuse(options.tolerance.has_value(), "--tolerance-b", which);
        refuse(!all.other_mode.empty(), "--mode-b", which);
        refuse(options.lock.has_value(), "--lock-b", which);
        refuse(options.splits.has_value(), "--split-b", which);
        refuse(options.disable.has_value(), "--disable-b", which);
        refuse(options.pins.has_value(), "--pin-b", which);
        refuse(options.bans.has_value(), "--ban-b", which);
    }
    if (!left_is_saved || !right_is_saved) return;
    const char* const which = "each of them is";
    const Options none;
    refuse(all.tolerance != none.tolerance, "--tolerance", which);
    refuse(!all.budget.empty(), "--budget", which);
    refuse(!all.splits.empty(), "--split", which);
    refuse(!all.disable.empty(), "--disable", which);
    refuse(all.memory_plan_steps != none.memory_plan_steps, "--plan-steps", which);
    refuse(!all.pins.empty(), "--pin", which);
    refuse(!all.bans.empty(), "--ban", which);
}

/// The explanation of a saved program, or of the programs that a graph in text form is compiled to.
Explanation plan_of(const std::string& text, const std::string& path, const Options& options,
                    const std::stop_token& stop) {
    const Context context = make_context(options);
    if (is_saved(text)) return CompiledGraph::load(path, context).explain(stop);
    ProgressLine progress;
    CompileOptions compile_with = compile_options(options);
    compile_with.progress = progress.sink();
    compile_with.stop = stop;
    return compile(graph_of_text(text, path), context, compile_with).explain(stop);
}

Options options_of_other(const DiffOptions& options) {
    Options other = options.all;
    other.tolerance = options.tolerance.value_or(other.tolerance);
    std::swap(other.mode, other.other_mode);
    if (other.mode.empty()) other.mode = other.other_mode;
    other.lock = options.lock.value_or(other.mode == "replay" ? other.lock : "");
    other.splits = options.splits.value_or(other.splits);
    other.disable = options.disable.value_or(other.disable);
    other.pins = options.pins.value_or(other.pins);
    other.bans = options.bans.value_or(other.bans);
    return other;
}

std::vector<std::string> calls_text(const ExplainedBucket& bucket) {
    std::vector<std::string> calls;
    for (const ExplainedInstruction& each : bucket.instructions)
        calls.push_back(fmt::format("{}{} | {}", each.at_bind ? "once " : "", each.chosen.kernel, each.chosen.problem));
    return calls;
}

/// `2.16 ms expected`; `no program` if there is no such bucket.
std::string expected_text(const ExplainedBucket& bucket) {
    return bucket.instructions.empty() ? "no program" : time_text(bucket.seconds) + " expected";
}

/// Prints the differences of two buckets for the same sizes; either may be missing. Returns their number.
int put_difference(const std::string& name, const ExplainedBucket& left, const ExplainedBucket& right, Output& output) {
    int different = 0;
    for (const auto& [i, j] : sequence_diff(calls_text(left), calls_text(right))) {
        if (i >= 0 && j >= 0) continue;
        ++different;
        const bool is_left = i >= 0;
        const ExplainedKernel& chosen =
            (is_left ? left.instructions[static_cast<std::size_t>(i)] : right.instructions[static_cast<std::size_t>(j)])
                .chosen;
        output.line({{"kind", is_left ? "only_a" : "only_b"},
                     {"bucket", name},
                     {"kernel", chosen.kernel},
                     {"problem", chosen.problem},
                     {"cost_ns", nanoseconds(chosen.seconds)}},
                    fmt::format("{} {:>8}  {} | {}", is_left ? '-' : '+', time_text(chosen.seconds), chosen.kernel,
                                chosen.problem));
    }
    output.line(
        {{"kind", "diff"},
         {"bucket", name},
         {"a_ns", nanoseconds(left.seconds)},
         {"b_ns", nanoseconds(right.seconds)},
         {"different", std::to_string(different)}},
        fmt::format("{}: {}, then {}; {} lines differ", name, expected_text(left), expected_text(right), different));
    return different;
}

int diff_plans(const DiffOptions& options, Output& output, const std::stop_token& stop) {
    const bool same_file = options.other.empty();
    const Options with = options_of_other(options);
    check_options(with);
    const std::string& other_path = same_file ? options.all.graph : options.other;
    const std::string text = read_text(options.all.graph), other_text = same_file ? text : read_text(other_path);
    refuse_compile_options(options, is_saved(text), is_saved(other_text));
    const Explanation left = plan_of(text, options.all.graph, options.all, stop),
                      right = plan_of(other_text, other_path, with, stop);
    const auto find = [](const Explanation& why, const std::string& name) -> const ExplainedBucket& {
        static const ExplainedBucket nothing;
        const auto found = std::find_if(why.buckets.begin(), why.buckets.end(),
                                        [&](const ExplainedBucket& bucket) { return bucket_text(bucket) == name; });
        return found == why.buckets.end() ? nothing : *found;
    };
    std::vector<std::string> names;
    for (const Explanation* why : {&left, &right})
        for (const ExplainedBucket& bucket : why->buckets)
            if (const std::string name = bucket_text(bucket);
                std::find(names.begin(), names.end(), name) == names.end())
                names.push_back(name);
    int different = 0;
    for (const std::string& name : names)
        different += put_difference(name, find(left, name), find(right, name), output);
    return different == 0 ? 0 : 1;
}

}  // namespace

void add_diff(CLI::App& app, Action& chosen) {
    auto options = std::make_shared<DiffOptions>();
    CLI::App& command =
        *app.add_subcommand("diff", "compare the programs of two graphs, saved programs or sets of options");
    add_compile_options(command, options->all);
    command.add_option("other", options->other, "the second graph or saved program; the first one when not given")
        ->option_text("OTHER");
    const auto checked = [&](const char* name, auto& value, const char* help, auto read) {
        command.add_option(name, value, help)
            ->check([read](const std::string& text) { return read(text) ? "" : "cannot be " + text; })
            ->option_text("...")
            ->allow_extra_args(false);
    };
    checked("--tolerance-b", options->tolerance, "for the second one only", tolerance_of);
    checked("--split-b", options->splits, "for the second one only", split_of);
    command.add_option("--mode-b", options->all.other_mode, "for the second one only")
        ->check(CLI::IsMember(mode_names()))
        ->option_text("...");
    command.add_option("--lock-b", options->lock, "for the second one only")->option_text("...");
    for (const auto& [name, values] :
         {std::pair{"--disable-b", &options->disable}, {"--pin-b", &options->pins}, {"--ban-b", &options->bans}})
        command.add_option(name, *values, "for the second one only")->option_text("...")->allow_extra_args(false);
    add_machine_options(command, options->all);
    command.footer("The exit code is 1 where they differ.");
    set_action(command, options, chosen, diff_plans);
}

}  // namespace cairn::cli
