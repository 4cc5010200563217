#include "selection/candidates/kernel_query.hpp"

#include "device/context_impl.hpp"
#include "graph/types/knobs.hpp"
#include "graph/types/layouts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cairn::selection {
namespace {

// Minimum speedup of another setting over the first, so that noise alone changes no program.
constexpr double min_setting_speedup = 1.02;

/// Calls one of a kernel's functions. An exception becomes a refusal: a kernel's fault is not an error of the graph.
template <typename F>
void call_kernel(std::string_view function, Refusal& refusal, const F& call) {
    try {
        call();
    } catch (const std::exception& error) {
        refusal = fmt::format("its {} failed: {}", function, error.what());
    } catch (...) { refusal = fmt::format("its {} threw an exception that is not a std::exception", function); }
}

}  // namespace

KernelQueryCache::KernelQueryCache(const KernelSet& kernels, FeatureSet features, const CostModel& costs,
                                   const Symbols& symbols)
    : features_(features),
      costs_(costs),
      symbols_(&symbols),
      sizes_(representative_sizes(symbols)),
      kernel_set_(&kernels) {
    for (const Kernel& kernel : kernels.kernels)
        if (has_setting_suffix(kernel.id))
            settings_[without_setting(kernel.id)].push_back(&kernel);
        else
            kernels_[kernel.definition].push_back(&kernel);
}

std::span<const Kernel* const> KernelQueryCache::kernels_of(const std::string& definition) const {
    const auto it = kernels_.find(definition);
    return it == kernels_.end() ? std::span<const Kernel* const>() : it->second;
}

KernelQuery& KernelQueryCache::query(const ProblemRef& problem) {
    const std::size_t hash = problem.hash();
    KernelQuery* known = nullptr;
    index_.each(hash, [&](std::uint32_t at) {
        KernelQuery& query = queries_[at];
        if (known == nullptr && query.problem_.ref() == problem) known = &query;
    });
    if (known != nullptr) return *known;
    index_.add(hash, static_cast<std::uint32_t>(queries_.size()));
    return queries_.emplace_back(problem, pool_);
}

KernelQuery& KernelQueryCache::query(const Problem& problem) {
    const fusion::Body body(problem.body);
    std::vector<const TensorDesc*> inputs, outputs;
    for (const TensorDesc& desc : problem.inputs) inputs.push_back(desc_interner_.of(desc));
    for (const TensorDesc& desc : problem.outputs) outputs.push_back(desc_interner_.of(desc));
    return query({problem.definition, &problem.attributes, &body, problem.results, inputs, outputs});
}

/// The problem at the representative sizes of the costs; the problem itself if its sizes are constants.
std::span<const SizedProblem> KernelQueryCache::sized(KernelQuery& query) const {
    if (query.sized_.empty()) {
        const Problem& problem = *query.problem_.materialize();
        query.sized_ =
            symbols_of(problem) == nullptr ? std::vector<SizedProblem>{problem} : sized_problems_at(problem, sizes_);
    }
    return query.sized_;
}

std::span<const Kernel* const> KernelQueryCache::settings_besides_first(const Kernel& kernel) const {
    const auto found = kernel.knobs.empty() ? settings_.end() : settings_.find(without_setting(kernel.id));
    return found == settings_.end() ? std::span<const Kernel* const>() : found->second;
}

/// True if the lock has the setting's time, or the timing database has it at all sizes.
bool KernelQueryCache::is_known(KernelQuery& query, const Kernel& setting) const {
    if (costs_.lock != nullptr)
        return costs_.lock->find(cairn::to_string(*query.problem_.materialize()), setting.id) != nullptr;
    if (costs_.timings == nullptr) return false;
    const std::span<const SizedProblem> all = sized(query);
    return std::all_of(all.begin(), all.end(), [&](const SizedProblem& one) {
        return costs_.timings->find(one.text(), setting.id, environment_of(setting, costs_), policy_of(setting, costs_))
            .has_value();
    });
}

/// Measured times compete with measured times only. If rules or a lock refuse the first setting, another may be
/// allowed.
const Kernel& KernelQueryCache::best_setting(KernelQuery& query, const Kernel& kernel) {
    const std::span<const Kernel* const> others = settings_besides_first(kernel);
    if (others.empty()) return kernel;
    const QueryResult first = query_result(query, kernel);
    const bool is_refused = !first.refusal.empty();
    const bool is_ruled = costs_.lock != nullptr || !costs_.rules.empty();
    if (is_refused ? !is_ruled : !first.estimate.measured) return kernel;
    const Kernel* best = &kernel;
    double least = is_refused ? std::numeric_limits<double>::infinity() : first.estimate.seconds / min_setting_speedup;
    for (const Kernel* other : others) {
        if (!is_known(query, *other) && !(is_refused && costs_.lock == nullptr)) continue;
        const QueryResult& other_result = query_result(query, *other);
        const bool is_open = other_result.refusal.empty() && (is_refused || other_result.estimate.measured);
        if (!is_open || other_result.estimate.seconds >= least) continue;
        best = other;
        least = other_result.estimate.seconds;
    }
    return *best;
}

std::vector<const Kernel*> KernelQueryCache::settings(const KernelQuery& query, const Kernel& kernel) const {
    std::vector<const Kernel*> all, open;
    if (kernel.knobs.empty()) return open;
    for (const Kernel* first : kernels_of(kernel.definition))
        if (first->id == without_setting(kernel.id)) all.push_back(first);
    for (const Kernel* other : settings_besides_first(kernel)) all.push_back(other);
    for (const Kernel* each : all)
        if (excluded_by_rule(*each, query).empty() && accepts(*each, query).empty() &&
            redundant(*each, *query.problem_.materialize()).empty() &&
            (each->workspace == nullptr || workspace(*each, query).empty()))
            open.push_back(each);
    return open;
}

std::string_view KernelQueryCache::output_layout(KernelQuery& query, const Kernel& kernel, int output) {
    const auto [known, fresh] = output_layouts_.try_emplace({&query, &kernel, output});
    if (!fresh) return known->second;
    std::string name;
    Refusal refusal;
    call_kernel("output_layout", refusal, [&] { name = kernel.output_layout(*query.problem_.materialize(), output); });
    if (name.empty()) return {};
    const Layout* const layout = types::find_layout(kernel_set_->layouts, name);
    if (layout == nullptr)
        throw Error(ErrorKind::argument, "select",
                    fmt::format("kernel {} writes \"{}\", which is no layout", kernel.id, name));
    return known->second = *layout_names_.insert(std::move(name)).first;
}

/// Applies the user's rules. They name the computation: a rule whose pattern covers the plain problem also covers the
/// problem with operands in layouts, and a pin holds if a kernel that it names can compute the plain problem. A rule
/// that names a kernel without a setting covers all its settings.
Refusal KernelQueryCache::excluded_by_rule(const Kernel& kernel, const KernelQuery& query) const {
    if (costs_.rules.empty()) return {};
    Problem plain = *query.problem_.materialize();
    const std::string text = cairn::to_string(plain);
    for (auto* operands : {&plain.inputs, &plain.outputs})
        for (TensorDesc& operand : *operands) operand.layout.clear();
    const std::string plain_text = cairn::to_string(plain);
    const auto rule_for = [&](const Kernel& other, RuleAction action) {
        const auto it = std::find_if(costs_.rules.begin(), costs_.rules.end(), [&](const KernelRule& rule) {
            const auto covers = [&](std::string_view id) {
                return rule.covers(id, text) || rule.covers(id, plain_text);
            };
            return rule.action == action && (covers(other.id) || covers(without_setting(other.id)));
        });
        return it == costs_.rules.end() ? nullptr : &*it;
    };
    const auto because = [](const KernelRule& rule) { return rule.reason.empty() ? "" : ": " + rule.reason; };
    if (const KernelRule* ban = rule_for(kernel, RuleAction::ban)) return "banned by a rule" + because(*ban);
    if (rule_for(kernel, RuleAction::pin) != nullptr) return {};
    Refusal pinned;
    const auto merge = [&](const Kernel& other) {
        const KernelRule* pin = pinned.empty() ? rule_for(other, RuleAction::pin) : nullptr;
        if (pin != nullptr && rule_for(other, RuleAction::ban) == nullptr && can_compute(other, plain))
            pinned = fmt::format("a rule pins {}{}", other.id, because(*pin));
    };
    for (const Kernel* first : kernels_of(kernel.definition)) {
        merge(*first);
        for (const Kernel* other : settings_besides_first(*first)) merge(*other);
    }
    return pinned;
}

/// By the kernel's own functions alone; rules, lock and timings are not consulted.
bool KernelQueryCache::can_compute(const Kernel& kernel, const Problem& problem) const {
    if (!features_.includes(kernel.needs) || !has_device(costs_.devices, kernel.device)) return false;
    Refusal refusal;
    call_kernel("accepts", refusal, [&] { refusal = kernel.accepts(problem); });
    if (refusal.empty()) refusal = redundant(kernel, problem);
    if (!refusal.empty() || kernel.error == nullptr) return refusal.empty();
    double promised = 0;
    call_kernel("error", refusal, [&] { promised = kernel.error(problem); });
    return refusal.empty() && promised >= 0 && promised <= costs_.tolerance;
}

// A function shared by several kernels, for several instruction sets, is called once.
Refusal KernelQueryCache::accepts(const Kernel& kernel, const KernelQuery& query) const {
    using QueryStage = KernelQuery::QueryStage;
    for (const KernelQuery::Answer& other : query.answers_)
        if (other.kernel->accepts == kernel.accepts && other.asked >= QueryStage::accepts)
            return other.asked == QueryStage::accepts ? other.query_result.refusal : Refusal();
    Refusal refusal;
    call_kernel("accepts", refusal, [&] { refusal = kernel.accepts(*query.problem_.materialize()); });
    return refusal;
}

/// The reason not to try a kernel or setting on a problem that it accepts.
Refusal KernelQueryCache::redundant(const Kernel& kernel, const Problem& problem) const {
    Refusal refusal;
    if (kernel.redundant != nullptr)
        call_kernel("redundant", refusal, [&] { refusal = kernel.redundant(problem); });
    return refusal;
}

/// Checks a kernel's error: the measured error where it is known, otherwise the promised one. A kernel measured to
/// exceed its promise is refused.
Refusal KernelQueryCache::error(const Kernel& kernel, KernelQuery& query, Estimate& estimate) const {
    double promised = 0;
    Refusal refusal;
    call_kernel("error", refusal, [&] { promised = kernel.error(*query.problem_.materialize()); });
    if (!refusal.empty()) return refusal;
    if (!(promised >= 0 && std::isfinite(promised))) return fmt::format("its error is invalid: {}", promised);
    estimate.error = promised;
    if (promised == 0) return {};
    if (costs_.timings != nullptr) {
        const std::span<const SizedProblem> all = sized(query);
        if (const auto broken = find_error_violation(*all.front(), kernel, costs_))
            return fmt::format("it states an error of {:.4g}, but {:.4g} was measured on {}", broken->promised,
                               broken->counted(), broken->compared);
        double worst = 0;
        estimate.error_measured = std::all_of(all.begin(), all.end(), [&](const SizedProblem& one) {
            const auto figures = measured_error(*one, kernel, costs_);
            if (figures) worst = std::max(worst, figures->counted());
            return figures.has_value();
        });
        if (estimate.error_measured) estimate.error = worst;
    }
    return estimate.error <= costs_.tolerance ? Refusal() : exceeds_tolerance(estimate.error, estimate.error_measured);
}

/// Takes time and error from the lock.
Refusal KernelQueryCache::look_up_in_lock(const Kernel& kernel, const KernelQuery& query, Estimate& estimate) const {
    const program::Lock::Call* call = costs_.lock->find(cairn::to_string(*query.problem_.materialize()), kernel.id);
    if (call == nullptr) return "the lock has no such call";
    if (call->error > costs_.tolerance) return exceeds_tolerance(call->error, true);
    estimate = {call->seconds, call->seconds, call->seconds, true, call->error, true, {}};
    return {};
}

Refusal KernelQueryCache::exceeds_tolerance(double error, bool is_measured) const {
    return fmt::format("its relative error is {:.4g}{}, the tolerance is {}", error, is_measured ? " (measured)" : "",
                       costs_.tolerance == 0 ? "exact" : fmt::format("{:.4g}", costs_.tolerance));
}

Refusal KernelQueryCache::workspace(const Kernel& kernel, const KernelQuery& query) const {
    using QueryStage = KernelQuery::QueryStage;
    for (const KernelQuery::Answer& other : query.answers_)
        if (other.kernel->workspace == kernel.workspace && other.asked >= QueryStage::workspace)
            return other.asked == QueryStage::workspace ? other.query_result.refusal : Refusal();
    Refusal refusal;
    Dim bytes = 0;
    call_kernel("workspace", refusal,
                [&] { bytes = kernel.workspace(*query.problem_.materialize(), costs_.policy.threads); });
    if (!refusal.empty()) return refusal;
    if (bytes.symbols() != nullptr && bytes.symbols().get() != symbols_)
        return "its workspace has symbols of another table";
    if (provably_le(bytes, -1)) return "its workspace is negative: " + cairn::to_string(bytes);
    return {};
}

void KernelQueryCache::evaluate(KernelQuery& query, KernelQuery::Answer& answer) const {
    const Kernel& kernel = *answer.kernel;
    Refusal& refusal = answer.query_result.refusal;
    RefusedBy& by = answer.query_result.by;
    by = RefusedBy::rule;
    refusal = excluded_by_rule(kernel, query);
    if (!refusal.empty()) return;
    by = RefusedBy::kernel;
    refusal = accepts(kernel, query);
    answer.asked = KernelQuery::QueryStage::accepts;
    if (!refusal.empty()) return;
    refusal = redundant(kernel, *query.problem_.materialize());
    answer.asked = KernelQuery::QueryStage::redundant;
    if (!refusal.empty()) return;
    by = RefusedBy::features;
    if (costs_.permit) refusal = costs_.permit(kernel.needs);
    if (!refusal.empty()) return;
    by = RefusedBy::kernel;
    if (costs_.lock != nullptr) {
        refusal = look_up_in_lock(kernel, query, answer.query_result.estimate);
        by = RefusedBy::lock;
    } else {
        Estimate of_error;
        if (kernel.error != nullptr) refusal = error(kernel, query, of_error);
        answer.asked = KernelQuery::QueryStage::error;
        by = of_error.error > costs_.tolerance ? RefusedBy::tolerance : RefusedBy::kernel;
        if (!refusal.empty()) return;
        call_kernel("cost", refusal,
                    [&] { answer.query_result.estimate = mean_estimate(kernel, sized(query), costs_); });
        describe_failure(query, answer.query_result.estimate);
        answer.query_result.estimate.error = of_error.error;
        answer.query_result.estimate.error_measured = of_error.error_measured;
    }
    answer.asked = KernelQuery::QueryStage::cost;
    if (!refusal.empty()) return;
    by = RefusedBy::kernel;
    if (kernel.workspace != nullptr) refusal = workspace(kernel, query);
    answer.asked = refusal.empty() ? KernelQuery::QueryStage::all : KernelQuery::QueryStage::workspace;
    if (refusal.empty()) by = RefusedBy::none;
}

/// Prefixes a failure with the size at which the measurement failed: `at N = 4: no memory`.
void KernelQueryCache::describe_failure(KernelQuery& query, Estimate& estimate) const {
    if (estimate.failure.empty()) return;
    const std::span<const SizedProblem> all = sized(query);
    const Problem& failed = *all[std::min(static_cast<std::size_t>(estimate.failed_at), all.size() - 1)];
    const std::vector<Symbols::Symbol> symbols = symbols_->list();
    for (const std::vector<std::int64_t>& sizes : sizes_) {
        if (symbols_of(*query.problem_.materialize()) == nullptr) return;
        if (!(at_sizes(*query.problem_.materialize(), sizes) == failed)) continue;
        std::vector<std::string> named;
        for (std::size_t s = 0; s < symbols.size(); ++s)
            if (symbols[s].low < symbols[s].high) named.push_back(fmt::format("{} = {}", symbols[s].name, sizes[s]));
        if (!named.empty()) estimate.failure = fmt::format("at {}: {}", fmt::join(named, ", "), estimate.failure);
        return;
    }
}

KernelQuery::Answer& KernelQueryCache::answer(KernelQuery& query, const Kernel& kernel) const {
    const auto known = std::find_if(query.answers_.begin(), query.answers_.end(),
                                    [&](const KernelQuery::Answer& answer) { return answer.kernel == &kernel; });
    if (known != query.answers_.end()) return *known;
    if (query.answers_.empty()) query.answers_.reserve(kernels_of(kernel.definition).size());
    KernelQuery::Answer& answer = query.answers_.emplace_back(KernelQuery::Answer{&kernel});
    if (const FeatureSet missing = kernel.needs - features_; !missing.empty())
        answer.query_result.by = RefusedBy::features,
        answer.query_result.refusal = fmt::format("needs {}, in use is {}", to_string(missing), to_string(features_));
    else if (!has_device(costs_.devices, kernel.device))
        answer.query_result.by = RefusedBy::device,
        answer.query_result.refusal = fmt::format("runs on {}", to_string(kernel.device));
    else
        evaluate(query, answer);
    return answer;
}

/// Evaluates again what depends on costs and errors.
void KernelQueryCache::reevaluate(KernelQuery& query, KernelQuery::Answer& answer) const {
    QueryResult& query_result = answer.query_result;
    const bool is_inexact = answer.kernel->error != nullptr;
    if (!query_result.refusal.empty() && !(is_inexact && answer.asked == KernelQuery::QueryStage::error)) return;
    query_result.refusal.clear();
    if (is_inexact) return evaluate(query, answer);
    call_kernel("cost", query_result.refusal,
                [&] { query_result.estimate = mean_estimate(*answer.kernel, sized(query), costs_); });
    query_result.by = query_result.refusal.empty() ? RefusedBy::none : RefusedBy::kernel;
    describe_failure(query, query_result.estimate);
}

void KernelQueryCache::set_costs(const CostModel& costs) {
    std::vector<KernelRule> rules = std::move(costs_.rules);
    costs_ = costs;
    costs_.rules = std::move(rules);
    for (KernelQuery& query : queries_) {
        for (KernelQuery::Answer& answer : query.answers_) reevaluate(query, answer);
        release_memory(query);
    }
}

void KernelQueryCache::release_memory(KernelQuery& query) {
    query.problem_.release_memory();
    query.sized_ = {};
}

bool KernelQueryCache::can_prepare(KernelQuery& query, const Kernel& kernel) {
    if (kernel.prepare == nullptr) return true;
    QueryResult& query_result = answer(query, kernel).query_result;
    if (query_result.prepared) return true;
    call_kernel("prepare", query_result.refusal,
                [&] { kernel.prepare(*query.problem_.materialize(), costs_.policy.threads); });
    query_result.by = query_result.refusal.empty() ? RefusedBy::none : RefusedBy::kernel;
    return query_result.prepared = query_result.refusal.empty();
}

}  // namespace cairn::selection
