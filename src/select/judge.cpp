#include "select/judge.hpp"

#include "device/context_parts.hpp"
#include "types/knobs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cairn::inline v0::select {
namespace {

// By so much another setting has to be faster than the first, so that chance alone changes no program.
constexpr double worth_setting = 1.02;

/// Calls one of a kernel's functions. What it throws is its refusal: a kernel's fault is none of the graph's.
template <typename F>
void ask_kernel(std::string_view function, Refusal& refusal, const F& call) {
    try {
        call();
    } catch (const std::exception& error) {
        refusal = fmt::format("its {} failed: {}", function, error.what());
    } catch (...) { refusal = fmt::format("its {} threw what is no std::exception", function); }
}

}  // namespace

Judge::Judge(const KernelSet& kernels, FeatureSet features, const CostSource& costs, const Symbols& symbols)
    : features_(features), costs_(costs), symbols_(&symbols), sizes_(representative_sizes(symbols)) {
    for (const Kernel& kernel : kernels.kernels)
        if (names_setting(kernel.id))
            settings_[kernel_of(kernel.id)].push_back(&kernel);
        else
            kernels_[kernel.definition].push_back(&kernel);
}

std::span<const Kernel* const> Judge::kernels_of(const std::string& definition) const {
    const auto it = kernels_.find(definition);
    return it == kernels_.end() ? std::span<const Kernel* const>() : it->second;
}

Question& Judge::question(const ShortProblem& problem) {
    const std::size_t hash = problem.hash();
    Question* known = nullptr;
    index_.each(hash, [&](std::uint32_t at) {
        Question& question = questions_[at];
        if (known == nullptr && question.problem_.words() == problem) known = &question;
    });
    if (known != nullptr) return *known;
    index_.add(hash, static_cast<std::uint32_t>(questions_.size()));
    return questions_.emplace_back(problem, pool_);
}

Question& Judge::question(const Problem& problem) {
    const fuse::Body body(problem.body);
    std::vector<const TensorDesc*> inputs, outputs;
    for (const TensorDesc& desc : problem.inputs) inputs.push_back(descs_.of(desc));
    for (const TensorDesc& desc : problem.outputs) outputs.push_back(descs_.of(desc));
    return question({problem.definition, &problem.attributes, &body, problem.results, inputs, outputs});
}

/// The problem at the sizes that costs are told for: itself, where its sizes are constants.
std::span<const SizedProblem> Judge::sized(Question& question) const {
    if (question.sized_.empty()) {
        const Problem& problem = *question.problem_.whole();
        question.sized_ =
            symbols_of(problem) == nullptr ? std::vector<SizedProblem>{problem} : at_each(problem, sizes_);
    }
    return question.sized_;
}

std::span<const Kernel* const> Judge::settings_besides_first(const Kernel& kernel) const {
    const auto found = kernel.knobs.empty() ? settings_.end() : settings_.find(kernel_of(kernel.id));
    return found == settings_.end() ? std::span<const Kernel* const>() : found->second;
}

/// Whether it says what a setting takes at all sizes: the lock, or times stored.
bool Judge::is_known(Question& question, const Kernel& setting) const {
    if (costs_.lock != nullptr)
        return costs_.lock->find(cairn::to_string(*question.problem_.whole()), setting.id) != nullptr;
    if (costs_.timings == nullptr) return false;
    const std::span<const SizedProblem> all = sized(question);
    return std::all_of(all.begin(), all.end(), [&](const SizedProblem& one) {
        return costs_.timings->find(one.text(), setting.id, environment_of(setting, costs_), costs_.policy).has_value();
    });
}

/// What is measured competes with what is measured. Where rules or a lock refuse the first, they may name another.
const Kernel& Judge::best_setting(Question& question, const Kernel& kernel) {
    const std::span<const Kernel* const> others = settings_besides_first(kernel);
    if (others.empty()) return kernel;
    const Judged first = judged(question, kernel);
    const bool is_refused = !first.refusal.empty();
    const bool is_ruled = costs_.lock != nullptr || !costs_.rules.empty();
    if (is_refused ? !is_ruled : !first.estimate.measured) return kernel;
    const Kernel* best = &kernel;
    double least = is_refused ? std::numeric_limits<double>::infinity() : first.estimate.seconds / worth_setting;
    for (const Kernel* other : others) {
        if (!is_known(question, *other) && !(is_refused && costs_.lock == nullptr)) continue;
        const Judged& said = judged(question, *other);
        const bool is_open = said.refusal.empty() && (is_refused || said.estimate.measured);
        if (!is_open || said.estimate.seconds >= least) continue;
        best = other;
        least = said.estimate.seconds;
    }
    return *best;
}

std::vector<const Kernel*> Judge::settings(const Question& question, const Kernel& kernel) const {
    std::vector<const Kernel*> all, open;
    if (kernel.knobs.empty()) return open;
    for (const Kernel* first : kernels_of(kernel.definition))
        if (first->id == kernel_of(kernel.id)) all.push_back(first);
    for (const Kernel* other : settings_besides_first(kernel)) all.push_back(other);
    for (const Kernel* each : all)
        if (ruled_out(*each, question).empty() && accepts(*each, question).empty() &&
            repeats(*each, *question.problem_.whole()).empty() &&
            (each->workspace == nullptr || workspace(*each, question).empty()))
            open.push_back(each);
    return open;
}

/// What the user's rules say. They are about what is computed: a problem with packed operands is meant by a pattern
/// that covers the plain one, and a pin stands where a kernel it names can do that. Who names a kernel without a
/// setting means all of them.
Refusal Judge::ruled_out(const Kernel& kernel, const Question& question) const {
    if (costs_.rules.empty()) return {};
    Problem plain = *question.problem_.whole();
    const std::string text = cairn::to_string(plain);
    for (TensorDesc& input : plain.inputs) input.layout.clear();
    const std::string plain_text = cairn::to_string(plain);
    const auto rule_for = [&](const Kernel& other, Verdict verdict) {
        const auto it = std::find_if(costs_.rules.begin(), costs_.rules.end(), [&](const KernelRule& rule) {
            const auto covers = [&](std::string_view id) {
                return rule.covers(id, text) || rule.covers(id, plain_text);
            };
            return rule.verdict == verdict && (covers(other.id) || covers(kernel_of(other.id)));
        });
        return it == costs_.rules.end() ? nullptr : &*it;
    };
    const auto because = [](const KernelRule& rule) { return rule.reason.empty() ? "" : ": " + rule.reason; };
    if (const KernelRule* ban = rule_for(kernel, Verdict::ban)) return "banned by a rule" + because(*ban);
    if (rule_for(kernel, Verdict::pin) != nullptr) return {};
    Refusal pinned;
    const auto look_at = [&](const Kernel& other) {
        const KernelRule* pin = pinned.empty() ? rule_for(other, Verdict::pin) : nullptr;
        if (pin != nullptr && rule_for(other, Verdict::ban) == nullptr && can_do(other, plain))
            pinned = fmt::format("a rule pins {}{}", other.id, because(*pin));
    };
    for (const Kernel* first : kernels_of(kernel.definition)) {
        look_at(*first);
        for (const Kernel* other : settings_besides_first(*first)) look_at(*other);
    }
    return pinned;
}

/// By what it says itself.
bool Judge::can_do(const Kernel& kernel, const Problem& problem) const {
    if (!features_.includes(kernel.needs) || !is_there(costs_.devices, kernel.device)) return false;
    Refusal refusal;
    ask_kernel("accepts", refusal, [&] { refusal = kernel.accepts(problem); });
    if (refusal.empty()) refusal = repeats(kernel, problem);
    if (!refusal.empty() || kernel.error == nullptr) return refusal.empty();
    double promised = 0;
    ask_kernel("error", refusal, [&] { promised = kernel.error(problem); });
    return refusal.empty() && promised >= 0 && promised <= costs_.tolerance;
}

// A function that several kernels share, for several levels of instructions, is asked once.
Refusal Judge::accepts(const Kernel& kernel, const Question& question) const {
    using Asked = Question::Asked;
    for (const Question::Answer& other : question.answers_)
        if (other.kernel->accepts == kernel.accepts && other.asked >= Asked::accepts)
            return other.asked == Asked::accepts ? other.judged.refusal : Refusal();
    Refusal refusal;
    ask_kernel("accepts", refusal, [&] { refusal = kernel.accepts(*question.problem_.whole()); });
    return refusal;
}

/// Why a setting is not tried on what it accepts; empty of first settings.
Refusal Judge::repeats(const Kernel& kernel, const Problem& problem) const {
    Refusal refusal;
    if (kernel.repeats != nullptr && names_setting(kernel.id))
        ask_kernel("repeats", refusal, [&] { refusal = kernel.repeats(problem); });
    return refusal;
}

/// What a kernel says of its error, and what has been measured of it: that counts, where it is known. A kernel that was
/// found further off than it said is not believed again.
Refusal Judge::error(const Kernel& kernel, Question& question, Estimate& estimate) const {
    double promised = 0;
    Refusal refusal;
    ask_kernel("error", refusal, [&] { promised = kernel.error(*question.problem_.whole()); });
    if (!refusal.empty()) return refusal;
    if (!(promised >= 0 && std::isfinite(promised))) return fmt::format("its error is none: {}", promised);
    estimate.error = promised;
    if (promised == 0) return {};
    if (costs_.timings != nullptr) {
        const std::span<const SizedProblem> all = sized(question);
        if (const auto broken = broken_promise(*all.front(), kernel, costs_))
            return fmt::format("it promised an error of {:.4g}, measured was {:.4g} on {}", broken->promised,
                               broken->counted(), broken->compared);
        double worst = 0;
        estimate.error_measured = std::all_of(all.begin(), all.end(), [&](const SizedProblem& one) {
            const auto figures = known_error(*one, kernel, costs_);
            if (figures) worst = std::max(worst, figures->counted());
            return figures.has_value();
        });
        if (estimate.error_measured) estimate.error = worst;
    }
    return estimate.error <= costs_.tolerance ? Refusal() : beyond_tolerance(estimate.error, estimate.error_measured);
}

/// What the lock says.
Refusal Judge::look_up(const Kernel& kernel, const Question& question, Estimate& estimate) const {
    const program::Lock::Call* call = costs_.lock->find(cairn::to_string(*question.problem_.whole()), kernel.id);
    if (call == nullptr) return "the lock has no such call";
    if (call->error > costs_.tolerance) return beyond_tolerance(call->error, true);
    estimate = {call->seconds, call->seconds, call->seconds, true, call->error, true, {}};
    return {};
}

Refusal Judge::beyond_tolerance(double error, bool is_measured) const {
    return fmt::format("its relative error is {:.4g}{}, the tolerance is {}", error, is_measured ? " (measured)" : "",
                       costs_.tolerance == 0 ? "exact" : fmt::format("{:.4g}", costs_.tolerance));
}

Refusal Judge::workspace(const Kernel& kernel, const Question& question) const {
    using Asked = Question::Asked;
    for (const Question::Answer& other : question.answers_)
        if (other.kernel->workspace == kernel.workspace && other.asked >= Asked::workspace)
            return other.asked == Asked::workspace ? other.judged.refusal : Refusal();
    Refusal refusal;
    Dim bytes = 0;
    ask_kernel("workspace", refusal,
               [&] { bytes = kernel.workspace(*question.problem_.whole(), costs_.policy.threads); });
    if (!refusal.empty()) return refusal;
    if (bytes.symbols() != nullptr && bytes.symbols().get() != symbols_)
        return "its workspace has symbols of another table";
    if (!provably_le(0, bytes)) return "its workspace may be negative: " + cairn::to_string(bytes);
    return {};
}

void Judge::ask(Question& question, Question::Answer& answer) const {
    const Kernel& kernel = *answer.kernel;
    Refusal& refusal = answer.judged.refusal;
    RefusedBy& by = answer.judged.by;
    by = RefusedBy::rule;
    refusal = ruled_out(kernel, question);
    if (!refusal.empty()) return;
    by = RefusedBy::kernel;
    refusal = accepts(kernel, question);
    answer.asked = Question::Asked::accepts;
    if (!refusal.empty()) return;
    refusal = repeats(kernel, *question.problem_.whole());
    answer.asked = Question::Asked::repeats;
    if (!refusal.empty()) return;
    if (costs_.lock != nullptr) {
        refusal = look_up(kernel, question, answer.judged.estimate);
        by = RefusedBy::lock;
    } else {
        Estimate of_error;
        if (kernel.error != nullptr) refusal = error(kernel, question, of_error);
        answer.asked = Question::Asked::error;
        by = of_error.error > costs_.tolerance ? RefusedBy::tolerance : RefusedBy::kernel;
        if (!refusal.empty()) return;
        ask_kernel("cost", refusal, [&] { answer.judged.estimate = mean_estimate(kernel, sized(question), costs_); });
        name_failure(question, answer.judged.estimate);
        answer.judged.estimate.error = of_error.error;
        answer.judged.estimate.error_measured = of_error.error_measured;
    }
    answer.asked = Question::Asked::cost;
    if (!refusal.empty()) return;
    by = RefusedBy::kernel;
    if (kernel.workspace != nullptr) refusal = workspace(kernel, question);
    answer.asked = refusal.empty() ? Question::Asked::all : Question::Asked::workspace;
    if (refusal.empty()) by = RefusedBy::nobody;
}

/// Puts the size at which a measurement failed in front of its reason: `at N = 4: no memory`.
void Judge::name_failure(Question& question, Estimate& estimate) const {
    if (estimate.failure.empty()) return;
    const std::span<const SizedProblem> all = sized(question);
    const Problem& failed = *all[std::min(static_cast<std::size_t>(estimate.failed_at), all.size() - 1)];
    const std::vector<Symbols::Symbol> symbols = symbols_->list();
    for (const std::vector<std::int64_t>& sizes : sizes_) {
        if (symbols_of(*question.problem_.whole()) == nullptr) return;
        if (!(at_sizes(*question.problem_.whole(), sizes) == failed)) continue;
        std::vector<std::string> named;
        for (std::size_t s = 0; s < symbols.size(); ++s)
            if (symbols[s].low < symbols[s].high) named.push_back(fmt::format("{} = {}", symbols[s].name, sizes[s]));
        if (!named.empty()) estimate.failure = fmt::format("at {}: {}", fmt::join(named, ", "), estimate.failure);
        return;
    }
}

Question::Answer& Judge::answer(Question& question, const Kernel& kernel) const {
    const auto known = std::find_if(question.answers_.begin(), question.answers_.end(),
                                    [&](const Question::Answer& answer) { return answer.kernel == &kernel; });
    if (known != question.answers_.end()) return *known;
    if (question.answers_.empty()) question.answers_.reserve(kernels_of(kernel.definition).size());
    Question::Answer& answer = question.answers_.emplace_back(Question::Answer{&kernel});
    if (const FeatureSet missing = kernel.needs - features_; !missing.empty())
        answer.judged.by = RefusedBy::features,
        answer.judged.refusal = fmt::format("needs {}, in use is {}", to_string(missing), to_string(features_));
    else if (!is_there(costs_.devices, kernel.device))
        answer.judged.by = RefusedBy::device,
        answer.judged.refusal = fmt::format("runs on {}", to_string(kernel.device));
    else
        ask(question, answer);
    return answer;
}

/// What costs and errors have a part in.
void Judge::ask_again(Question& question, Question::Answer& answer) const {
    Judged& judged = answer.judged;
    const bool is_inexact = answer.kernel->error != nullptr;
    if (!judged.refusal.empty() && !(is_inexact && answer.asked == Question::Asked::error)) return;
    judged.refusal.clear();
    if (is_inexact) return ask(question, answer);
    ask_kernel("cost", judged.refusal,
               [&] { judged.estimate = mean_estimate(*answer.kernel, sized(question), costs_); });
    judged.by = judged.refusal.empty() ? RefusedBy::nobody : RefusedBy::kernel;
    name_failure(question, judged.estimate);
}

void Judge::set_costs(const CostSource& costs) {
    std::vector<KernelRule> rules = std::move(costs_.rules);
    costs_ = costs;
    costs_.rules = std::move(rules);
    for (Question& question : questions_) {
        for (Question::Answer& answer : question.answers_) ask_again(question, answer);
        put_away(question);
    }
}

void Judge::put_away(Question& question) {
    question.problem_.put_away();
    question.sized_ = {};
}

bool Judge::can_prepare(Question& question, const Kernel& kernel) {
    if (kernel.prepare == nullptr) return true;
    Judged& judged = answer(question, kernel).judged;
    if (judged.prepared) return true;
    ask_kernel("prepare", judged.refusal, [&] { kernel.prepare(*question.problem_.whole(), costs_.policy.threads); });
    judged.by = judged.refusal.empty() ? RefusedBy::nobody : RefusedBy::kernel;
    return judged.prepared = judged.refusal.empty();
}

}  // namespace cairn::inline v0::select
