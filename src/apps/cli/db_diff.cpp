#include "apps/cli/db.hpp"
#include "apps/cli/open_database.hpp"
#include "apps/cli/subcommand.hpp"
#include "apps/cli/timing_output.hpp"

#include <fmt/format.h>

namespace cairn::cli {
namespace {

struct DatabaseDiffOptions {
    Options all;
    std::string other;
};

/// The time there divided by the time here; nothing unless both were measured.
std::optional<double> ratio_of(const TimingDifference& difference) {
    const auto is_time = [](const std::optional<TimingRecord>& record) {
        return record && record->timing.status == TimingStatus::ok;
    };
    if (!is_time(difference.here) || !is_time(difference.there)) return std::nullopt;
    return difference.there->timing.median / difference.here->timing.median;
}

void put_database_difference(const TimingDifference& difference, Output& output) {
    const TimingRecord& any = difference.here ? *difference.here : *difference.there;
    OutputRow row{{"kind", "difference"}, {"kernel", any.kernel}, {"problem", any.problem}};
    if (difference.here) add_outcome(row, "here_", difference.here->timing);
    if (difference.there) add_outcome(row, "there_", difference.there->timing);
    const std::optional<double> ratio = ratio_of(difference);
    if (ratio) row["ratio"] = *ratio;
    row["policy"] = any.policy;
    row["environment"] = any.hard;
    const auto side = [](const std::optional<TimingRecord>& record) {
        return record ? outcome_text(record->timing) : "none";
    };
    output.line(row, fmt::format("{:>9} {:>9} {:>7}  {} | {}", side(difference.here), side(difference.there),
                                 ratio ? fmt::format("{:.3g}", *ratio) : "", any.kernel, any.problem));
}

int diff_databases(const DatabaseDiffOptions& options, Output& output, const std::stop_token&) {
    const TimingFile file = open_to_read(options.all), other = open_other(options.other);
    const std::vector<TimingDifference> differences = file.differences(other);
    if (!output.json && !differences.empty()) output.text(fmt::format("{:>9} {:>9} {:>7}\n", "here", "there", "ratio"));
    std::size_t here = 0, there = 0;
    for (const TimingDifference& each : differences) {
        put_database_difference(each, output);
        here += each.there ? 0 : 1;
        there += each.here ? 0 : 1;
    }
    const std::size_t both = differences.size() - here - there;
    output.line({{"kind", "db_diff"},
                 {"different", std::to_string(both)},
                 {"only_here", std::to_string(here)},
                 {"only_there", std::to_string(there)}},
                fmt::format("{} are known to both and differ, {} are only here, {} only there", both, here, there));
    return 0;
}

}  // namespace

void add_db_diff(CLI::App& db, Action& chosen) {
    auto options = std::make_shared<DatabaseDiffOptions>();
    CLI::App& command = *db.add_subcommand("diff", "compare the times in force here with those in another database");
    command.add_option("other", options->other, "the other database")->required()->option_text("OTHER");
    add_database_options(command, options->all);
    set_action(command, options, chosen, diff_databases);
}

}  // namespace cairn::cli
