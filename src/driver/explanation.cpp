#include "cairn/compile.hpp"
#include "driver/device_text.hpp"
#include "driver/provenance.hpp"
#include "driver/quantity_text.hpp"
#include "runtime/program_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <set>
#include <utility>

namespace cairn::inline v0 {
namespace {

std::string joined(const std::vector<std::string>& parts, std::string_view between = ", ") {
    return fmt::format("{}", fmt::join(parts, between));
}

/// `, evaluated at T = 3, past = 16 and T = 9, past = 64`
std::string sizes_of(const ExplainedBucket& bucket) {
    std::vector<std::string> points;
    for (const auto& point : bucket.sizes) {
        std::vector<std::string> sizes;
        for (const auto& [symbol, value] : point) sizes.push_back(fmt::format("{} = {}", symbol, value));
        if (!sizes.empty()) points.push_back(joined(sizes));
    }
    return points.empty() ? "" : ", evaluated at " + joined(points, " and ");
}

/// The provenance of a time; unknown if the program was loaded from a file.
std::string provenance_of(const ExplainedKernel& verdict, bool is_loaded) {
    return is_loaded ? "expected" : driver::time_provenance(verdict.measured, verdict.expected_from);
}

/// `1.2e-05 s measured, error 0.005 stated, reference`
std::string cost_of(const ExplainedKernel& verdict, bool is_loaded = false) {
    if (!verdict.refusal.empty()) return "refused: " + verdict.refusal;
    if (!verdict.failure.empty()) return "no time: failed when it was measured " + verdict.failure;
    std::string text = fmt::format("{}{:.4g} s {}", verdict.is_lower_bound ? "at least " : "", verdict.seconds,
                                   provenance_of(verdict, is_loaded));
    if (verdict.ranked_last) text += ", not measured although others are: ranked last";
    if (verdict.error > 0)
        text += fmt::format(", error {:.4g} {}", verdict.error, verdict.error_measured ? "measured" : "stated");
    if (verdict.is_reference) text += ", reference";
    if (!verdict.note.empty()) text += ", " + verdict.note;
    return text;
}

/// ` of linear (app.cpp:9)`
std::string location_text(const std::string& op, const std::string& where) {
    return fmt::format("{}{}{}{}{}", op.empty() ? "" : " of ", op, where.empty() ? "" : " (", where,
                       where.empty() ? "" : ")");
}

/// ` of linear (app.cpp:9), "scores"`
std::string value_location(const ExplainedValue& value) {
    return location_text(value.op, value.where) + (value.name.empty() ? "" : ", \"" + value.name + '"');
}

/// `linear`, `slice of linear`
std::string alternative_name(const ExplainedAlternative& alternative) {
    return alternative.view.empty() ? alternative.definition
                                    : fmt::format("{} of {}", alternative.view, alternative.definition);
}

/// Prefix of the problem's text: `slice of linear, distributed | `.
std::string expression_of(const ExplainedAlternative& alternative) {
    std::vector<std::string> parts;
    if (!alternative.view.empty()) parts.push_back(alternative_name(alternative));
    if (alternative.laws != "exact") parts.push_back(alternative.laws);
    return parts.empty() ? "" : joined(parts) + " | ";
}

std::string alternative_text(const ExplainedAlternative& alternative) {
    const std::string verdict = alternative.chosen      ? "taken"
                                : alternative.slower    ? fmt::format("{:+.3g} s", *alternative.slower)
                                : alternative.best >= 0 ? "not followed"
                                                        : "in no program";
    std::string text = fmt::format("      {:<13} ", verdict);
    if (alternative.more_bytes != 0)
        text +=
            fmt::format("({} {} kept, which counts {:+.3g} s) ", driver::size_text(std::abs(alternative.more_bytes)),
                        alternative.more_bytes > 0 ? "more" : "less", alternative.price);
    if (!alternative.decided_by.empty())
        text += alternative.slower ? fmt::format("(faster by summed kernel times, {}) ", alternative.decided_by)
                                   : fmt::format("({}) ", alternative.decided_by);
    if (alternative.best >= 0) {
        const ExplainedKernel& best = alternative.kernels[static_cast<std::size_t>(alternative.best)];
        return text +
               fmt::format("{} {} | {}{}\n", best.kernel, cost_of(best), expression_of(alternative), best.problem);
    }
    text += expression_of(alternative) + alternative.definition;
    for (const ExplainedKernel& each : alternative.kernels)
        text += fmt::format("\n{:22}{} {}", "", each.kernel, cost_of(each));
    return text + '\n';
}

std::string value_text(const ExplainedValue& value) {
    const bool is_needed = std::any_of(value.alternatives.begin(), value.alternatives.end(),
                                       [](const ExplainedAlternative& alternative) { return alternative.chosen; });
    if (value.alternatives.size() < 2 || !is_needed) return {};
    std::string text = fmt::format("{}{}{}\n", value.value, value_location(value), value.at_bind ? ", once" : "");
    for (const ExplainedAlternative& alternative : value.alternatives) text += alternative_text(alternative);
    return text;
}

std::string instructions_text(const ExplainedBucket& bucket, bool is_loaded) {
    std::string text;
    std::set<std::string> reported;
    for (const auto& [chosen, other_kernels, at_bind, op, where, reads, writes, names, device] : bucket.instructions) {
        text += fmt::format("  {}{} {}{} | {}{}{}\n", chosen.kernel, driver::device_text(device),
                            cost_of(chosen, is_loaded), at_bind ? " once" : "", chosen.problem,
                            location_text(op, where), names.empty() ? "" : ", \"" + joined(names) + '"');
        if (!reported.insert(chosen.kernel + ' ' + chosen.problem).second) continue;
        for (const ExplainedKernel& other_candidate : other_kernels)
            text += fmt::format("    {:<44} {}{}\n", other_candidate.kernel, cost_of(other_candidate),
                                other_candidate.refusal.empty() && other_candidate.problem != chosen.problem
                                    ? " | " + other_candidate.problem
                                    : "");
    }
    return text;
}

/// Distinct texts in the order of their first occurrence, each with its count.
class CountedLines {
public:
    void add(std::string text) {
        if (text.empty()) return;
        const auto [it, fresh] = counts_.try_emplace(std::move(text), 0);
        if (fresh) order_.push_back(&it->first);
        ++it->second;
    }
    bool empty() const { return order_.empty(); }
    std::string lines(std::string_view indent) const {
        std::string all;
        for (const std::string* text : order_) {
            const int count = counts_.at(*text);
            all += fmt::format("{}{}{}", indent, count > 1 ? fmt::format("{} x ", count) : "", *text);
        }
        return all;
    }

private:
    std::map<std::string, int> counts_;
    std::vector<const std::string*> order_;
};

/// `  -2.1 % (-2.5 to -1.7, 12 runs each; +0.01 % by summed times), taken, without`, then the kinds of calls; or `calls
/// of an unmeasured compile`.
std::string trials_text(const std::vector<ProgramTrial>& trials) {
    std::string text = trials.empty() ? "" : "program trials against the incumbent\n";
    const auto percent = [](double ratio) { return 100 * (ratio - 1); };
    for (const ProgramTrial& trial : trials) {
        text += fmt::format("  {:+.2f} % ({:+.2f} to {:+.2f}, {} runs each; {:+.2f} % by summed times), {}, {}\n",
                            percent(trial.ratio), percent(trial.low), percent(trial.high), trial.samples,
                            100 * trial.expected, trial.won ? "taken" : "rejected",
                            trial.as_unmeasured ? "calls of an unmeasured compile" : "without");
        for (const std::string& kind : trial.without) text += "    " + kind + '\n';
    }
    return text;
}

/// Weighted edit distance from `name` to `known`: a missing letter costs little, a wrong one more.
std::size_t distance(std::string_view name, std::string_view known) {
    constexpr std::size_t missing = 1, wrong = 3;
    std::vector<std::size_t> row(known.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j * missing;
    for (std::size_t i = 0; i < name.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], (i + 1) * wrong);
        for (std::size_t j = 0; j < known.size(); ++j) {
            const std::size_t above = row[j + 1];
            row[j + 1] = std::min({above + wrong, row[j] + missing, diagonal + (name[i] == known[j] ? 0 : wrong)});
            diagonal = above;
        }
    }
    return row[known.size()];
}

/// The ids of the kernels with this id or definition.
std::set<std::string> matching_kernels(const Explanation& explanation, std::string_view name) {
    std::set<std::string> kernels;
    for (const auto& [kernel, definition] : explanation.kernels)
        if (kernel == name || definition == name) kernels.insert(kernel);
    return kernels;
}

[[noreturn]] void refuse_unknown_name(const Explanation& explanation, std::string_view name) {
    constexpr std::size_t most = 3;
    std::set<std::string> names;
    for (const auto& [kernel, definition] : explanation.kernels) names.insert({kernel, definition});
    std::vector<std::pair<std::size_t, std::string>> nearest;
    for (const std::string& known : names) nearest.emplace_back(distance(name, known), known);
    std::sort(nearest.begin(), nearest.end());
    std::vector<std::string> reported;
    for (std::size_t i = 0; i < std::min(most, nearest.size()); ++i) reported.push_back(nearest[i].second);
    throw Error(ErrorKind::argument, "why_not",
                fmt::format("there is no kernel, no definition and no named value {}: the nearest are {}", name,
                            joined(reported)));
}

/// The outcome of one kernel of an alternative.
std::string outcome(const ExplainedValue& value, const ExplainedAlternative& alternative, std::size_t kernel) {
    const ExplainedKernel& verdict = alternative.kernels[kernel];
    if (!verdict.refusal.empty()) return cost_of(verdict);
    const bool is_best = alternative.best == static_cast<int>(kernel);
    if (alternative.chosen && is_best) return "taken, " + cost_of(verdict);
    std::string text = cost_of(verdict);
    if (!is_best && alternative.best >= 0) {
        const ExplainedKernel& best = alternative.kernels[static_cast<std::size_t>(alternative.best)];
        const double more = verdict.failure.empty() ? verdict.seconds - best.seconds : 0;
        text += !verdict.failure.empty() ? ""
                : more > 0               ? fmt::format(", slower than {} by {:.3g} s", best.kernel, more)
                                         : fmt::format(", no faster than {}", best.kernel);
    }
    if (alternative.chosen) return text;
    const auto chosen = std::find_if(value.alternatives.begin(), value.alternatives.end(),
                                     [](const ExplainedAlternative& each) { return each.chosen; });
    text += chosen == value.alternatives.end()
                ? ", but the value is not needed: it is fused, or another expression is used"
                : ", but the value is computed by " + alternative_name(*chosen);
    if (!alternative.slower)
        return text + fmt::format("; no program with {} here was found", alternative_name(alternative));
    text += fmt::format("; a run with {} here takes {:+.3g} s", alternative_name(alternative), *alternative.slower);
    if (alternative.more_bytes != 0)
        text += fmt::format(" and keeps {} {}", driver::size_text(std::abs(alternative.more_bytes)),
                            alternative.more_bytes > 0 ? "more" : "less");
    return alternative.decided_by.empty() ? text : text + ", " + alternative.decided_by;
}

/// Prefix of a bucket's lines: `T in 2..12: `.
std::string prefix_of(const ExplainedBucket& bucket) {
    const std::string ranges = runtime::to_string(bucket.ranges);
    return ranges.empty() ? "" : ranges + ": ";
}

/// Adds a line for each kernel of each alternative of a value that is wanted, with `text_of` its outcome.
template <typename IsWanted, typename TextOf>
void add_kernels(const ExplainedBucket& bucket, const IsWanted& is_wanted, const TextOf& text_of, CountedLines& lines) {
    for (const ExplainedValue& value : bucket.values)
        for (const ExplainedAlternative& alternative : value.alternatives)
            for (std::size_t k = 0; k < alternative.kernels.size() && alternative.view.empty(); ++k)
                if (const ExplainedKernel& kernel = alternative.kernels[k]; is_wanted(value, kernel))
                    lines.add(fmt::format("{}{} for {}{}: {}\n", prefix_of(bucket), kernel.kernel, value.value,
                                          value_location(value), text_of(value, alternative, k)));
}

/// The outcomes of these kernels in a bucket.
void add_outcomes(const ExplainedBucket& bucket, bool is_loaded, const std::set<std::string>& kernels,
                  CountedLines& lines) {
    bool any = false;
    const auto is_wanted = [&](const ExplainedValue&, const ExplainedKernel& kernel) {
        const bool found = kernels.contains(kernel.kernel);
        any = any || found;
        return found;
    };
    add_kernels(bucket, is_wanted, outcome, lines);
    if (any) return;
    // Copies and packings are not alternatives of a value.
    const std::string prefix = prefix_of(bucket);
    for (const ExplainedInstruction& each : bucket.instructions) {
        const ExplainedKernel& chosen = each.chosen;
        if (kernels.contains(chosen.kernel))
            lines.add(fmt::format("{}{} for {}: taken, {}\n", prefix, chosen.kernel, chosen.problem,
                                  cost_of(chosen, is_loaded)));
        for (const ExplainedKernel& other_candidate : each.other_kernels)
            if (kernels.contains(other_candidate.kernel))
                lines.add(fmt::format("{}{} for {}: {}{}\n", prefix, other_candidate.kernel, other_candidate.problem,
                                      cost_of(other_candidate),
                                      other_candidate.refusal.empty() && other_candidate.failure.empty()
                                          ? fmt::format(", slower than {} by {:.3g} s", chosen.kernel,
                                                        other_candidate.seconds - chosen.seconds)
                                          : ""));
    }
}

/// The outcomes of all kernels for the values of this name; empty if there are none.
std::string outcomes_of_value(const Explanation& explanation, std::string_view name) {
    CountedLines lines;
    const auto is_wanted = [&](const ExplainedValue& value, const ExplainedKernel&) { return value.name == name; };
    for (const ExplainedBucket& bucket : explanation.buckets) add_kernels(bucket, is_wanted, outcome, lines);
    return lines.empty() ? "" : lines.lines("");
}

/// All refusals and failed measurements of all kernels, each with its count.
std::string all_refusals(const Explanation& explanation) {
    CountedLines lines;
    const auto is_wanted = [](const ExplainedValue&, const ExplainedKernel& kernel) {
        return !(kernel.refusal.empty() && kernel.failure.empty());
    };
    const auto text_of = [](const ExplainedValue&, const ExplainedAlternative& alternative, std::size_t kernel) {
        return cost_of(alternative.kernels[kernel]);
    };
    for (const ExplainedBucket& bucket : explanation.buckets) add_kernels(bucket, is_wanted, text_of, lines);
    if (!lines.empty()) return lines.lines("");
    return explanation.has_alternatives ? "nothing was refused\n"
                                        : "a loaded program does not record what was refused\n";
}

}  // namespace

std::string details(const Explanation& explanation) {
    std::string text;
    for (const ExplainedBucket& bucket : explanation.buckets) {
        const std::string ranges = runtime::to_string(bucket.ranges);
        text += fmt::format("bucket{}{}{}: {:.4g} s a run\n", ranges.empty() ? "" : " ", ranges, sizes_of(bucket),
                            bucket.seconds);
        for (const ExplainedError& error : bucket.errors)
            text += fmt::format("  the combined error of {} is {:.4g}, allowed is {}{}{}\n", error.target, error.error,
                                error.tolerance == 0 ? "none" : fmt::format("{:.4g}", error.tolerance),
                                error.scale == 1 ? "" : fmt::format(" times {:.3g}", error.scale),
                                error.verified ? fmt::format(", found was {:.4g}", error.measured_error) : "");
        if (bucket.fell_back)
            text += "  a measured error exceeds the error budget: the fastest exact program runs instead\n";
        text += instructions_text(bucket, !explanation.has_alternatives);
        CountedLines values;
        for (const ExplainedValue& value : bucket.values) values.add(value_text(value));
        if (!values.empty())
            text +=
                "  alternatives, with the additional run time of the best program with each\n" + values.lines("    ");
    }
    if (!explanation.has_alternatives) text += "loaded from a file, which records no alternatives\n";
    text += trials_text(explanation.trials);
    for (const std::string& note : explanation.notes) text += note + '\n';
    const bool is_won = std::any_of(explanation.trials.begin(), explanation.trials.end(),
                                    [](const ProgramTrial& trial) { return trial.won; });
    if (is_won)
        text += fmt::format("by summed kernel times other programs were better by {:.2g} %\n",
                            100 * explanation.optimality_gap);
    else if (!explanation.is_exact)
        text += fmt::format(
            "a search was cut off: {}, and alternatives may cost less than stated\n",
            explanation.optimality_gap == 0 ? "these programs are the best"
            : explanation.optimality_gap < 1
                ? fmt::format("no programs are better by more than {:.2g} %", 100 * explanation.optimality_gap)
                : "there may be better programs");
    return text;
}

std::string why_not(const Explanation& explanation, std::string_view name) {
    if (name.empty()) return all_refusals(explanation);
    const std::set<std::string> kernels = matching_kernels(explanation, name);
    if (kernels.empty()) {
        const std::string text = outcomes_of_value(explanation, name);
        if (text.empty()) refuse_unknown_name(explanation, name);
        return text;
    }
    CountedLines lines;
    for (const ExplainedBucket& bucket : explanation.buckets)
        add_outcomes(bucket, !explanation.has_alternatives, kernels, lines);
    if (!lines.empty()) return lines.lines("");
    if (!explanation.has_alternatives) return "not taken; a loaded program does not record why\n";
    const auto known = std::find_if(explanation.kernels.begin(), explanation.kernels.end(),
                                    [&](const auto& each) { return kernels.contains(each.kernel); });
    return fmt::format("never proposed: no {} was matched in the graph or its e-classes\n", known->definition);
}

}  // namespace cairn::inline v0
