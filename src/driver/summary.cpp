#include "cairn/compile.hpp"
#include "driver/abbreviated_names.hpp"
#include "driver/device_text.hpp"
#include "driver/quantity_text.hpp"
#include "runtime/program_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace cairn::inline v0 {
namespace {

constexpr std::size_t max_lines = 40, max_calls = 10, max_line_length = 160;

/// Calls of the same kernel on the same problem, for values of the same op.
struct Calls {
    std::vector<const ExplainedInstruction*> all;
    double seconds = 0;
    const ExplainedInstruction& first() const { return *all.front(); }
};

std::string definition_of(const ExplainedKernel& verdict) {
    return verdict.problem.substr(0, verdict.problem.find_first_of(" |"));
}

/// The work of a call, for readers: `softmax`; for fused ops the first and the last, `conv2d ... add`.
std::string work_text(const ExplainedInstruction& each) {
    const std::string& problem = each.chosen.problem;
    const std::string definition = definition_of(each.chosen);
    std::string first = definition;
    // fused {2=conv2d kernel=(3,3)(0,1) 4=add(2,3)} | ...
    if (const std::size_t body = problem.find('{'); body != problem.npos && body < problem.find(" | ")) {
        const std::size_t from = problem.find('=', body);
        if (from != problem.npos) first = problem.substr(from + 1, problem.find_first_of("( ", from) - from - 1);
    }
    return each.op.empty() || each.op == first ? first : first + (first == definition ? " of " : " ... ") + each.op;
}

void add_unique(std::vector<std::string>& names, const std::string& name) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

/// `of matmul (app.cpp:9)`
std::string origin_text(const std::string& op, const std::string& where) {
    return (op.empty() ? "" : " of " + op) + (where.empty() ? "" : " (" + where + ")");
}

std::string count_text(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

class Summary {
public:
    Summary(const Explanation& explanation, std::size_t number)
        : explanation_(explanation), bucket_(explanation.buckets[number]), number_(number) {
        for (const ExplainedInstruction& each : bucket_.instructions) {
            note_names(each);
            if (each.at_bind) continue;
            ++runs_;
            if (each.chosen.measured) measured_ += each.chosen.seconds;
            unknown_ += each.chosen.failure.empty() ? 0 : 1;
            const std::string key = fmt::format("{}|{}|{}", each.chosen.kernel, each.chosen.problem, each.op);
            const auto [it, fresh] = call_indices_.try_emplace(key, calls_.size());
            if (fresh) calls_.emplace_back();
            Calls& calls = calls_[it->second];
            calls.all.push_back(&each);
            calls.seconds += each.chosen.seconds;
        }
        std::stable_sort(calls_.begin(), calls_.end(),
                         [](const Calls& a, const Calls& b) { return a.seconds > b.seconds; });
    }

    std::string text() && {
        add_head();
        add_calls();
        add_runner_up();
        add_trials();
        add_weights();
        add_refusals();
        add_notes();
        std::string text;
        for (std::size_t i = 0; i < std::min(lines_.size(), max_lines); ++i) text += lines_[i] + '\n';
        return text;
    }

private:
    void add(std::string line) {
        if (line.size() > max_line_length) {
            std::size_t end = max_line_length - 3;
            while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U)
                --end;  // does not split a UTF-8 character
            line = line.substr(0, end) + "...";
        }
        lines_.push_back(std::move(line));
    }

    /// Records which inputs, weights and states the buffers made at bind are computed from.
    void note_names(const ExplainedInstruction& each) {
        std::vector<std::string> read = names_read(each);
        for (const int buffer : each.writes)
            if (each.at_bind)
                for (const std::string& name : read) add_unique(sources_[buffer], name);
    }

    std::vector<std::string> names_read(const ExplainedInstruction& each) const {
        std::vector<std::string> names;
        for (const int number : each.reads) {
            const ExplainedBuffer& buffer = bucket_.buffers[static_cast<std::size_t>(number)];
            if (buffer.kind != "output") add_unique(names, buffer.name);
            if (const auto made = sources_.find(number); made != sources_.end())
                for (const std::string& name : made->second) add_unique(names, name);
        }
        return names;
    }

    double share(double seconds) const { return bucket_.seconds > 0 ? 100 * seconds / bucket_.seconds : 0; }

    void add_head() {
        std::string text = explanation_.graph.empty() ? "a graph" : explanation_.graph;
        const std::string ranges = runtime::to_string(bucket_.ranges);
        if (!ranges.empty()) text += ", " + ranges;
        std::vector<std::string> points;
        for (const auto& point : bucket_.sizes) {
            std::vector<std::string> sizes;
            for (const auto& [symbol, value] : point) sizes.push_back(fmt::format("{} = {}", symbol, value));
            if (!sizes.empty()) points.push_back(fmt::format("{}", fmt::join(sizes, ", ")));
        }
        if (!points.empty()) text += fmt::format(", a mean of {}", fmt::join(points, "; "));
        text += ": " + driver::duration_text(bucket_.seconds) + " a run";
        if (explanation_.has_alternatives) text += fmt::format(", {:.0f} % of it measured", share(measured_));
        add(std::move(text));
        std::string others;
        for (std::size_t b = 0; b < explanation_.buckets.size(); ++b)
            if (b != number_)
                others += fmt::format("{}{} {}", others.empty() ? "" : ", ",
                                      runtime::to_string(explanation_.buckets[b].ranges),
                                      driver::duration_text(explanation_.buckets[b].seconds));
        if (!others.empty()) add("other sizes: " + others);
        for (std::size_t i = 0; i < std::min<std::size_t>(2, bucket_.errors.size()); ++i) {
            const ExplainedError& error = bucket_.errors[i];
            add(fmt::format("the combined error of {} is {:.3g}, allowed is {}{}", error.target, error.error,
                            error.tolerance == 0 ? "none" : fmt::format("{:.3g}", error.tolerance),
                            error.scale == 1 ? "" : fmt::format(" times {:.3g}", error.scale)));
        }
        if (bucket_.fell_back) add("a measured error exceeds the error budget: the fastest exact program runs instead");
    }

    std::string time_mark(const ExplainedKernel& verdict) const {
        if (!explanation_.has_alternatives) return "";
        if (!verdict.failure.empty()) return " not measured";
        if (verdict.is_lower_bound) return " at least";
        return verdict.measured ? "" : " est.";
    }

    /// The share of the machine's limits that a call reaches: the larger of arithmetic and memory; 0: unknown.
    static double reached(const ExplainedKernel& verdict) {
        const double limit = std::max(verdict.arithmetic_seconds, verdict.memory_seconds);
        return limit > 0 && verdict.seconds > 0 ? std::min(limit / verdict.seconds, 1.0) : 0;
    }
    static bool is_arithmetic(const ExplainedKernel& verdict) {
        return verdict.arithmetic_seconds > verdict.memory_seconds;
    }
    /// True for a call whose time is that of starting it: waking threads, barriers.
    static bool is_short(const ExplainedKernel& verdict) {
        constexpr double max_seconds = 2e-5, max_share = 0.25;
        return verdict.seconds < max_seconds && reached(verdict) < max_share;
    }

    /// `, 43 % of peak arithmetic`
    static std::string limit_text(const ExplainedKernel& verdict) {
        if (reached(verdict) <= 0) return {};
        if (is_short(verdict)) return ", short";
        return fmt::format(", {:.0f} % of {}", 100 * reached(verdict),
                           is_arithmetic(verdict) ? "peak arithmetic" : "memory bandwidth");
    }

    /// What would make a fully measured program faster, by what limits its longest call.
    std::string advice() const {
        constexpr double near_limit = 0.6;
        double of_short = 0;
        for (const Calls& calls : calls_) of_short += is_short(calls.first().chosen) ? calls.seconds : 0;
        if (of_short > bucket_.seconds / 2)
            return "most of the time is short calls: fewer threads (--threads), or more rows in one run";
        const ExplainedKernel& longest = calls_.front().first().chosen;
        if (reached(longest) < near_limit)
            return "the longest call is far from both limits: `cairn tune --mode exhaustive` tries more settings and "
                   "programs; a kernel of your own may do better (docs/add_a_kernel.md)";
        return is_arithmetic(longest)
                   ? "the longest call is near peak arithmetic: a tolerance admits cheaper arithmetic (--tolerance)"
                   : "the longest call is near the memory bandwidth: weights and states of 16 bits are read faster "
                     "(store them so, or --tolerance)";
    }

    void add_calls() {
        add(fmt::format("what takes longest, equal calls together ({} a run, {} different){}",
                        count_text(runs_, "call"), calls_.size(),
                        is_calibrated() ? ", and the machine's limit that it comes closest to" : ""));
        for (std::size_t i = 0; i < std::min(calls_.size(), max_calls); ++i) add_call(calls_[i]);
        double rest = 0;
        for (std::size_t i = max_calls; i < calls_.size(); ++i) rest += calls_[i].seconds;
        if (calls_.size() > max_calls)
            add(fmt::format("  {:5.1f} %  {:>8}  the other {}", share(rest), driver::duration_text(rest),
                            calls_.size() - max_calls));
    }

    void add_call(const Calls& calls) {
        const ExplainedInstruction& first = calls.first();
        std::vector<std::string> read, names, where;
        for (const ExplainedInstruction* each : calls.all) {
            for (const std::string& name : names_read(*each)) add_unique(read, name);
            for (const std::string& name : each->names) add_unique(names, name);
            add_unique(where, each->where);
        }
        std::string text = fmt::format("  {:5.1f} %  {:>8}{} ", share(calls.seconds),
                                       driver::duration_text(calls.seconds), time_mark(first.chosen));
        if (calls.all.size() > 1) text += fmt::format(" {} x", calls.all.size());
        text += ' ' + work_text(first);
        if (!names.empty()) text += " \"" + driver::abbreviated_names(names, 2) + '"';
        if (!where.empty()) text += " (" + driver::abbreviated_names(where, 1) + ')';
        text += limit_text(first.chosen);
        text += fmt::format(", by {}{}{}", first.chosen.kernel, driver::device_text(first.device),
                            first.chosen.is_reference ? " (a reference kernel)" : "");
        if (!read.empty()) text += ", reads " + driver::abbreviated_names(read, 2);
        add(std::move(text));
    }

    /// True for differences that neither a reader nor a measurement can tell from 0.
    bool is_negligible(double seconds) const { return std::abs(share(seconds)) < 0.05; }
    bool is_calibrated() const {
        return std::any_of(calls_.begin(), calls_.end(),
                           [](const Calls& calls) { return calls.first().chosen.memory_seconds > 0; });
    }

    /// A program that differs from the selected one in the expression of one value, or in one kernel.
    struct OtherProgram {
        double cost, slower, bytes;
        bool measured;
        std::string text;
        bool is_faster() const noexcept { return cost < 0; }
    };

    void list_alternatives(std::vector<OtherProgram>& others) const {
        for (const ExplainedValue& value : bucket_.values) {
            if (value.at_bind) continue;
            const auto is_chosen = [](const ExplainedAlternative& alternative) { return alternative.chosen; };
            if (std::none_of(value.alternatives.begin(), value.alternatives.end(), is_chosen)) continue;
            for (const ExplainedAlternative& alternative : value.alternatives) {
                if (alternative.chosen || !alternative.slower || alternative.best < 0) continue;
                if (is_negligible(*alternative.slower + alternative.price)) continue;
                const ExplainedKernel& best = alternative.kernels[static_cast<std::size_t>(alternative.best)];
                const std::string made =
                    fmt::format("{}{}{} by {}", value.name.empty() ? value.value : '"' + value.name + '"',
                                origin_text(value.op, value.where),
                                alternative.view.empty() ? "" : ", seen in " + alternative.definition, best.kernel);
                OtherProgram other{*alternative.slower + alternative.price, *alternative.slower, alternative.more_bytes,
                                   best.measured, made};
                if (other.is_faster()) other.text += ": " + alternative.decided_by;
                others.push_back(std::move(other));
            }
        }
    }

    void list_other_kernels(std::vector<OtherProgram>& others) const {
        for (const Calls& calls : calls_) {
            const ExplainedInstruction& first = calls.first();
            for (const ExplainedKernel& other_candidate : first.other_kernels) {
                if (!other_candidate.refusal.empty() || !other_candidate.failure.empty()) continue;
                const double more = other_candidate.seconds - first.chosen.seconds;
                if (is_negligible(more)) continue;
                const bool is_decided =
                    other_candidate.problem == first.chosen.problem && !other_candidate.note.empty();
                OtherProgram other{
                    more, more, 0, other_candidate.measured && first.chosen.measured,
                    fmt::format("{} by {} in place of {}{}", definition_of(other_candidate), other_candidate.kernel,
                                first.chosen.kernel, origin_text(first.op, first.where))};
                if (other.is_faster() && !is_decided) continue;
                if (other.is_faster()) other.text += ": " + other_candidate.note;
                others.push_back(std::move(other));
            }
        }
    }

    std::string text_of(const OtherProgram& other) const {
        const std::string kept = other.bytes == 0
                                     ? ""
                                     : fmt::format(", {} {} kept in memory", driver::size_text(std::abs(other.bytes)),
                                                   other.bytes > 0 ? "more" : "less");
        return fmt::format("{} a run ({:+.2g} %){}, {}: {}", driver::difference_text(other.slower), share(other.slower),
                           kept, other.measured ? "measured" : "estimated", other.text);
    }

    /// The cheapest other program, and those that look faster.
    void add_runner_up() {
        if (!explanation_.has_alternatives) return;
        std::vector<OtherProgram> others;
        list_alternatives(others);
        list_other_kernels(others);
        const auto is_less = [](const OtherProgram& a, const OtherProgram& b) { return a.cost < b.cost; };
        const auto slower = std::stable_partition(others.begin(), others.end(),
                                                  [](const OtherProgram& other) { return other.is_faster(); });
        const auto next = std::min_element(slower, others.end(), is_less);
        add("runner-up: " + (next == others.end() ? "no other program was found" : text_of(*next)));
        std::stable_sort(others.begin(), slower, is_less);
        const auto last = std::unique(others.begin(), slower, [&](const OtherProgram& a, const OtherProgram& b) {
            return text_of(a) == text_of(b);  // of values of equal types in equal places
        });
        const auto count = static_cast<std::size_t>(last - others.begin());
        if (count == 0) return;
        add(fmt::format("faster by summed kernel times, and not selected ({}):", count_text(count, "program")));
        for (std::size_t i = 0; i < std::min<std::size_t>(2, count); ++i) add("  " + text_of(others[i]));
    }

    /// The results of program trials, relative to the selected program.
    void add_trials() {
        if (explanation_.trials.empty()) return;
        double base = 1;  // time of the incumbent of that trial divided by the selected program's
        std::vector<std::string> lines;
        for (auto trial = explanation_.trials.rbegin(); trial != explanation_.trials.rend(); ++trial) {
            if (trial->samples == 0) {
                lines.push_back("inconclusive, so the selection of an unmeasured compile was kept");
                continue;
            }
            // If a challenger won, the line is about the incumbent that lost.
            const auto loser = [&](double ratio) { return trial->won ? base / ratio : base * ratio; };
            const auto [low, high] = std::minmax({loser(trial->low), loser(trial->high)});
            lines.push_back(
                fmt::format("{:.3g}x ({:.3g} to {:.3g}, {} runs)", loser(trial->ratio), low, high, trial->samples));
            if (trial->won) base = loser(trial->ratio);
        }
        std::reverse(lines.begin(), lines.end());
        const std::size_t most = std::min<std::size_t>(5, lines.size());
        add(fmt::format("program trials, times as long as this program: {}{}",
                        fmt::join(std::span(lines).subspan(lines.size() - most), ", "),
                        lines.size() > most ? fmt::format(", {} more", lines.size() - most) : ""));
    }

    struct Work {
        std::size_t count = 0;
        double bytes = 0;
        std::vector<std::string> of;
    };

    void add_weights() {
        std::map<std::string, Work> works;
        for (const ExplainedInstruction& each : bucket_.instructions) {
            if (!each.at_bind) continue;
            const bool is_quantized = each.chosen.error > 0 && definition_of(each.chosen) == "pack";
            const std::string definition = is_quantized ? "quantize" : definition_of(each.chosen);
            const bool is_known =
                definition == "pack" || definition == "cast" || definition == "concat" || definition == "quantize";
            Work& work = works[is_known ? definition : "other"];
            ++work.count;
            for (const int buffer : each.writes)
                work.bytes += static_cast<double>(bucket_.buffers[static_cast<std::size_t>(buffer)].bytes);
            for (const std::string& name : names_read(each)) add_unique(work.of, name);
        }
        double stored = 0;
        std::size_t count = 0;
        std::set<int> seen;
        for (const ExplainedInstruction& each : bucket_.instructions)
            for (const int number : each.reads) {
                const ExplainedBuffer& buffer = bucket_.buffers[static_cast<std::size_t>(number)];
                if (each.at_bind || buffer.kind != "weight" || !seen.insert(number).second) continue;
                stored += static_cast<double>(buffer.bytes);
                ++count;
            }
        if (works.empty() && count == 0) return;
        add(fmt::format("weights: {} read as stored ({})", count, driver::size_text(stored)));
        const std::pair<const char*, const char*> words[] = {{"pack", "packed once for their kernels"},
                                                             {"quantize", "quantized once, within the tolerance"},
                                                             {"cast", "cast once"},
                                                             {"concat", "merged once"},
                                                             {"other", "results computed once"}};
        for (const auto& [definition, word] : words)
            if (const auto it = works.find(definition); it != works.end())
                add(fmt::format(
                    "  {} {}: {}, {}", it->second.count, word, driver::size_text(it->second.bytes),
                    it->second.of.empty() ? "of constants" : "of " + driver::abbreviated_names(it->second.of, 3)));
    }

    static std::string advice_on(const ExplainedKernel& verdict) {
        switch (verdict.refused_by) {
            case RefusedBy::tolerance: return "allow it by CompileOptions::tolerance (--tolerance)";
            case RefusedBy::rule: return "lift the rule by TimingDb::remove_rule (cairn db rules)";
            case RefusedBy::lock: return "compile without the lock";
            case RefusedBy::kernel: return "--why-not " + verdict.kernel + " shows where";
            case RefusedBy::features:
            case RefusedBy::device:
            case RefusedBy::none: break;
        }
        return {};
    }

    /// For the longest calls: refusals that the user can lift, and failed measurements. The refusals of the kernels
    /// themselves are added if only a reference kernel was left, or if no kernel accepts a definition that was matched.
    void add_refusals() {
        constexpr std::size_t most = 6;
        std::vector<std::string> lines;
        const auto add_refusal = [&](const ExplainedKernel& verdict, bool matters) {
            const bool is_liftable = verdict.refused_by == RefusedBy::tolerance ||
                                     verdict.refused_by == RefusedBy::rule || verdict.refused_by == RefusedBy::lock;
            if (!verdict.failure.empty())
                add_unique(lines, fmt::format("  {} for {}: failed when it was measured {}", verdict.kernel,
                                              definition_of(verdict), verdict.failure));
            else if (!verdict.refusal.empty() && (is_liftable || (matters && verdict.refused_by == RefusedBy::kernel)))
                add_unique(lines, fmt::format("  {} for {}: {}; {}", verdict.kernel, definition_of(verdict),
                                              verdict.refusal, advice_on(verdict)));
        };
        std::set<std::pair<std::string, std::string>> costly;
        for (std::size_t i = 0; i < std::min(calls_.size(), max_calls); ++i) {
            const ExplainedInstruction& first = calls_[i].first();
            if (share(calls_[i].seconds) < 1) continue;
            costly.insert({first.op, first.where});
            if (!first.chosen.failure.empty()) add_refusal(first.chosen, true);
            for (const ExplainedKernel& other_candidate : first.other_kernels)
                add_refusal(other_candidate, first.chosen.is_reference);
        }
        for (const ExplainedValue& value : bucket_.values)
            if (costly.contains({value.op, value.where}))
                for (const ExplainedAlternative& alternative : value.alternatives)
                    for (const ExplainedKernel& each : alternative.kernels)
                        add_refusal(each,
                                    alternative.best < 0 && alternative.definition == value.op && !each.is_reference);
        if (lines.empty()) return;
        add("refusals for the longest calls:");
        for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) add(lines[i]);
        if (lines.size() > most) add(fmt::format("  and {} more", lines.size() - most));
    }

    void add_notes() {
        if (!explanation_.has_alternatives) return add("loaded from a file, which records no alternatives");
        const double estimated = share(bucket_.seconds - measured_);
        if (bucket_.seconds > 0 && estimated >= 0.5)
            add(fmt::format(
                "{:.0f} % of the time is estimated: measure it by `cairn tune`, or Mode::normal and a timing "
                "database (ContextOptions::command_line_defaults)",
                estimated));
        else if (is_calibrated())
            add(advice());
        if (unknown_ > 0) add(count_text(unknown_, "call") + " without a time: the measurement failed");
        for (std::size_t i = 0; i < std::min<std::size_t>(2, explanation_.notes.size()); ++i)
            add(explanation_.notes[i]);
        const auto is_won = [](const ProgramTrial& trial) { return trial.won; };
        const bool has_won = std::any_of(explanation_.trials.begin(), explanation_.trials.end(), is_won);
        if (!explanation_.is_exact && !has_won)
            add(explanation_.optimality_gap < 1
                    ? fmt::format("the search was cut off: no program is faster by more than {:.2g} %",
                                  100 * explanation_.optimality_gap)
                    : "the search was cut off: there may be faster programs");
        add("all of it: --all, or details(); of one kernel, definition or named value: --why-not NAME, or why_not()");
    }

    const Explanation& explanation_;
    const ExplainedBucket& bucket_;
    const std::size_t number_;
    std::map<int, std::vector<std::string>> sources_;  // of buffers made at bind
    std::vector<Calls> calls_;                         // longest first
    std::map<std::string, std::size_t> call_indices_;
    std::size_t runs_ = 0, unknown_ = 0;
    double measured_ = 0;
    std::vector<std::string> lines_;
};

}  // namespace

std::string summary(const Explanation& explanation, std::size_t bucket) {
    if (bucket >= explanation.buckets.size())
        throw Error(ErrorKind::argument, "summary",
                    fmt::format("there is no bucket {}: there are {}", bucket, explanation.buckets.size()));
    return Summary(explanation, bucket).text();
}

std::string to_string(const Explanation& explanation) {
    if (explanation.buckets.empty()) return {};
    const auto longest =
        std::max_element(explanation.buckets.begin(), explanation.buckets.end(),
                         [](const ExplainedBucket& a, const ExplainedBucket& b) { return a.seconds < b.seconds; });
    return summary(explanation, static_cast<std::size_t>(longest - explanation.buckets.begin()));
}

std::ostream& operator<<(std::ostream& out, const Explanation& explanation) { return out << to_string(explanation); }

}  // namespace cairn::inline v0
