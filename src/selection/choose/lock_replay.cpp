#include "selection/choose/lock_replay.hpp"

#include "cairn/error.hpp"
#include "graph/types/knobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace cairn::selection {
namespace {

using ir::NodeId;
using program::CoverStep;

constexpr char transfer_mark = '+';

std::string goal_text(NodeId node, std::string_view form, std::string_view layout, Device device, bool transferred) {
    std::string text = fmt::format("%{}", node);
    if (!form.empty()) text += fmt::format(":{}", form);
    if (!layout.empty()) text += fmt::format("[{}]", layout);
    if (device != Device::cpu) text += fmt::format("@{}", cairn::to_string(device));
    if (transferred) text += transfer_mark;
    return text;
}

std::string text_of(const Goal& goal) {
    return goal_text(goal.value, goal.place.in_state ? "state" : "", goal.place.layout, goal.place.device,
                     goal.transferred);
}

std::string text_of(const KernelOperand& operand) {
    return goal_text(operand.node, operand.form == OperandForm::dense ? "dense" : "", operand.layout, operand.device,
                     operand.transferred);
}

std::string text_of(NodeId value) { return goal_text(value, {}, {}, Device::cpu, false); }

template <typename List>
std::string texts_of(const List& list) {
    std::string text;
    for (const auto& each : list) text.append(text.empty() ? "" : " ").append(text_of(each));
    return text;
}

/// The values that some steps mark as transferred between devices.
std::vector<bool> transferable_values_in(const program::CoverSteps& steps, std::size_t values) {
    std::vector<bool> transferable(values, false);
    const auto mark = [&](std::string_view words) {
        for (std::size_t from = 0; from < words.size();) {
            const std::string_view word = words.substr(from, words.find(' ', from) - from);
            from += word.size() + 1;
            if (!word.ends_with(transfer_mark)) continue;
            std::size_t value = 0;
            for (std::size_t at = 1; at < word.size() && word[at] >= '0' && word[at] <= '9' && value < values; ++at)
                value = 10 * value + static_cast<std::size_t>(word[at] - '0');
            if (value < values) transferable[value] = true;
        }
    };
    for (const CoverStep& step : steps) {
        mark(step.result);
        mark(step.operands);
    }
    return transferable;
}

/// Matches the steps of one bucket to its candidates.
class StepMatcher {
public:
    StepMatcher(const Bucket& bucket, const program::CoverSteps& steps) : bucket_(bucket), steps_(steps) {
        for (std::size_t s = 0; s < steps.size(); ++s)
            if (!step_of_result_.emplace(steps[s].result, s).second) fail(steps[s], "is duplicated");
    }

    /// Keeps the candidates of the steps and removes all others.
    void restrict(Producers& producers) {
        std::vector<bool> found(steps_.size(), false);
        producers.filter([&](int number, Producers::Producer& producer) -> bool {
            const Goal& goal = producers.goal(number);
            if (goal.kept) return true;
            const auto place = step_of_result_.find(text_of(goal));
            // A value that no step transfers was computed where it is needed.
            if (producer.candidate.kernel == nullptr) return place == step_of_result_.end();
            if (place == step_of_result_.end() || found[place->second] ||
                !is_step(producer.candidate, steps_[place->second]))
                return false;
            found[place->second] = true;
            return true;
        });
        for (std::size_t s = 0; s < steps_.size(); ++s)
            if (!found[s]) fail(steps_[s], "matches no candidate");
    }

    /// Sorts the choices into the order of the steps.
    void sort(Selection& selection) const {
        if (selection.chosen.size() != steps_.size())
            throw Error(
                ErrorKind::unsupported, "select",
                fmt::format("the lock has {} steps, of which {} can be used", steps_.size(), selection.chosen.size()));
        std::vector<std::size_t> order(steps_.size());
        for (std::size_t c = 0; c < order.size(); ++c) order[step_of_result_.at(text_of(selection.chosen[c].goal))] = c;
        std::vector<Choice> sorted;
        for (const std::size_t c : order) sorted.push_back(std::move(selection.chosen[c]));
        selection.chosen = std::move(sorted);
    }

private:
    /// True if a candidate is the call of a step; it then receives the step's setting, time and error.
    bool is_step(Candidate& candidate, const CoverStep& step) {
        if (without_setting(candidate.kernel->id) != without_setting(step.kernel) ||
            candidate.rounding != step.rounding || texts_of(candidate.operands) != step.operands ||
            texts_of(candidate.outputs) != step.results || problem_digest(candidate.problem) != step.problem)
            return false;
        if (candidate.kernel->id != step.kernel) {
            const std::vector<const Kernel*> settings = bucket_.candidates.settings(candidate);
            const auto setting = std::find_if(settings.begin(), settings.end(),
                                              [&](const Kernel* kernel) { return kernel->id == step.kernel; });
            if (setting == settings.end()) return false;
            candidate.kernel = *setting;
        }
        Estimate known;
        known.seconds = known.low = known.high = step.seconds;
        known.error = step.error;
        candidate.estimate = known;
        return true;
    }

    const std::string& problem_digest(const ProblemHandle& problem) {
        std::string& name = digests_[&problem.kept()];
        if (name.empty()) name = program::problem_digest(cairn::to_string(*problem));
        return name;
    }

    [[noreturn]] static void fail(const CoverStep& step, std::string_view why) {
        throw Error(ErrorKind::unsupported, "select",
                    fmt::format("the step \"{} {} {} {} -> {}\" of the lock {}", step.result, step.kernel, step.problem,
                                step.operands, step.results, why));
    }

    const Bucket& bucket_;
    const program::CoverSteps& steps_;
    std::unordered_map<std::string, std::size_t> step_of_result_;  // position of each step, by its result
    std::unordered_map<const InternedProblem*, std::string> digests_;
};

}  // namespace

program::CoverSteps steps_of(const Selection& selection) {
    program::CoverSteps steps;
    for (const auto& [goal, candidate, number] : selection.chosen) {
        CoverStep& step = steps.emplace_back();
        step.result = text_of(goal);
        step.kernel = candidate.kernel->id;
        step.operands = texts_of(candidate.operands);
        step.results = texts_of(candidate.outputs);
        step.seconds = candidate.estimate.time();
        step.error = candidate.estimate.error;
        step.rounding = candidate.rounding;
        step.chosen_for = candidate.problem.shared();
    }
    return steps;
}

Selections replay_lock(std::span<const Bucket> buckets, std::span<const program::CoverSteps* const> steps,
                       Device states, const Options& options) {
    auto producers = std::make_shared<std::deque<Producers>>();
    std::vector<StepMatcher> step_matchers;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        Candidates& candidates = buckets[b].candidates;
        if (Devices devices = candidates.devices(); devices.all.size() > 1) {
            devices.of_states = states;
            devices.transferable = transferable_values_in(*steps[b], buckets[b].graph.nodes().size());
            candidates.set_devices(std::move(devices));
        }
        step_matchers.emplace_back(buckets[b], *steps[b])
            .restrict(producers->emplace_back(buckets[b], Breadth::all, options.stop));
    }
    Memo memo = memo_of(buckets, std::move(producers), options.stop, options.seconds_per_kept_byte);
    std::vector<int> path(static_cast<std::size_t>(memo.problem.alternatives()));
    std::iota(path.begin(), path.end(), 0);
    Selections selections = covers_of(memo, buckets, path);
    for (std::size_t b = 0; b < buckets.size(); ++b) step_matchers[b].sort(selections.buckets[b]);
    for (const int choice : path) selections.cost += memo.problem.cost(choice);
    if (!can_prepare(buckets, selections, options.stop))
        throw Error(ErrorKind::unsupported, "select", "a kernel of the lock cannot prepare its problem");
    selections.memo = std::make_shared<const Memo>(std::move(memo));
    return selections;
}

}  // namespace cairn::selection
