#include "selection/explain/explainer.hpp"

#include "device/context_impl.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/types/knobs.hpp"
#include "selection/choose/constrained_selection.hpp"
#include "selection/emit/emit.hpp"
#include "selection/search/decomposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace cairn::selection {
namespace {

using ir::NodeId;

void check_stop(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Cancelled("explain");
}

/// The program's name for a value.
std::string name_of(const ir::Node& node) {
    return node.composite.empty() ? std::string(ir::info(node.op).name) : node.composite;
}

std::string place_of(const std::source_location& where) { return where.line() == 0 ? "" : Error::place(where); }

/// Sort key of a kernel: its time, or infinity.
double sort_key(const ExplainedKernel& verdict) {
    constexpr double none = std::numeric_limits<double>::infinity();
    return verdict.refusal.empty() && verdict.failure.empty() ? verdict.seconds : none;
}

/// The reason why a cheaper alternative (by sums) was rejected, other than missing measurements.
std::string rejection_reason(const Explanation& explanation, bool has_bounds, bool is_exact) {
    double ratio = 1, low = 1, high = 1;
    bool is_kept = false;
    for (const ProgramTrial& trial : explanation.trials) {
        if (!trial.won) continue;
        ratio *= trial.ratio, low *= trial.low, high *= trial.high;
        is_kept = is_kept || trial.samples == 0;
    }
    if (ratio < 1)
        return fmt::format("slower as a whole program: {:.3g}x{}", 1 / ratio,
                           high < 1 ? "" : fmt::format(", not significantly ({:.3g}x to {:.3g}x)", 1 / high, 1 / low));
    if (is_kept) return "program trials were inconclusive, and the expected gain is too small";
    if (has_bounds) return "its errors exceed the error budget";
    return is_exact ? "another program was requested" : "the search was cut off before it was found";
}

/// The chosen one first, then ascending extra cost.
bool precedes(const ExplainedAlternative& a, const ExplainedAlternative& b) {
    const auto key = [](const ExplainedAlternative& way) {
        return std::tuple(!way.chosen, !way.slower, way.slower.value_or(0) + way.price);
    };
    return key(a) < key(b);
}

}  // namespace

/// Collects the matches of a bucket, then the alternatives of the search.
class Explainer::Collector {
public:
    Collector(const Bucket& bucket, const std::stop_token& stop)
        : bucket_(bucket),
          candidates_(bucket.candidates),
          influence_(bucket.graph, candidates_.classes(), bucket.bounds),
          stop_(stop),
          value_at_(bucket.graph.nodes().size(), -1) {
        note_sizes();
        record_.bounds.assign(bucket.bounds.begin(), bucket.bounds.end());
        record_.weight = bucket.weight;
        record_.matches.resize(bucket.matches.size());
        for (const fusion::Match& match : bucket.matches)
            record_.names.push_back(user_names_of(bucket.graph, candidates_.classes(), match));
        producers_by_match_.resize(bucket.matches.size());
        for (std::size_t t = 0; t < bucket.matches.size(); ++t) {
            check_stop(stop_);
            add_match(static_cast<int>(t));
        }
    }

    ChoiceRecord add(const Goal& goal, const Candidate& candidate, int number) {
        check_stop(stop_);
        for (const KernelOperand& operand : candidate.operands)
            if (operand.form == OperandForm::strided) add_reading(operand.node, number);
        if (candidate.match >= 0)
            for (const auto& [value, way] : producers_by_match_[static_cast<std::size_t>(candidate.match)])
                value_at(value).alternatives[way].choices.push_back(number);
        const InternedProblem& problem = candidate.problem.kept();
        const auto known = asked_.find(&problem);
        const int number_of_asked =
            known != asked_.end() ? known->second : asked(problem, candidates_.query(*problem.materialize()));
        return {value_of(goal.value), number_of_asked, candidate.match, candidate.kernel};
    }

    BucketRecord finish() {
        for (const auto& [expression, place] : views_) {
            const NodeId base = candidates_.classes().value_of(candidates_.views()[expression].base);
            value_at(place.first).alternatives[place.second].base = value_at_[base];
        }
        return std::move(record_);
    }

private:
    void note_sizes() {
        const std::vector<Symbols::Symbol> symbols = bucket_.graph.symbols()->list();
        for (const std::vector<std::int64_t>& sizes : representative_sizes(*bucket_.graph.symbols())) {
            auto& named = record_.sizes.emplace_back();
            for (std::size_t s = 0; s < symbols.size(); ++s) named.emplace_back(symbols[s].name, sizes[s]);
        }
    }

    void add_match(int t) {
        const fusion::Match& match = bucket_.matches[static_cast<std::size_t>(t)];
        auto& [queries, rounding, limit] = record_.matches[static_cast<std::size_t>(t)];
        for (KernelQuery* query : candidates_.queries_for(t)) queries.push_back(asked(query->problem().kept(), *query));
        if (queries.empty()) return;  // a view, which needs no kernel, or not queried
        rounding = candidates_.rounding_in(match);
        if (bucket_.bounds.empty() && rounding > 0) limit = 0;  // everything is exact
        if (!bucket_.bounds.empty())
            for (const NodeId output : match.outputs)
                limit = std::min(limit, influence_.limit(candidates_.memory_of(output)));
        Producer way{match.definition, {}, {}, t};
        for (const NodeId node : match.interior) way.laws = way.laws | candidates_.classes().laws_of(node);
        std::vector<int> made;
        for (const NodeId output : match.outputs) {
            const int value = value_of(candidates_.memory_of(output));
            if (std::find(made.begin(), made.end(), value) != made.end()) continue;
            made.push_back(value);
            Producer own = way;
            own.laws = own.laws | candidates_.classes().laws_of(output);
            producers_by_match_[static_cast<std::size_t>(t)].emplace_back(value, value_at(value).alternatives.size());
            value_at(value).alternatives.push_back(std::move(own));
        }
    }

    /// Records a read of a value in another value's memory; possible for values with several expressions.
    void add_reading(NodeId node, int number) {
        const alternatives::EClasses& classes = candidates_.classes();
        const NodeId value = classes.value_of(node);
        if (classes.expressions(value).size() < 2 || candidates_.views()[node].base == node) return;
        const auto [it, fresh] = views_.try_emplace(node);
        if (fresh) {
            it->second = {value_of(value), value_at(value_of(value)).alternatives.size()};
            Producer view{{}, std::string(ir::info(bucket_.graph.node(node).op).name), classes.laws_of(node)};
            const NodeId base = candidates_.views()[node].base;
            view.definition = name_of(bucket_.graph.node(base));
            value_at(it->second.first).alternatives.push_back(std::move(view));
        }
        Numbers& choices = value_at(it->second.first).alternatives[it->second.second].choices;
        if (choices.empty() || choices.back() != number) choices.push_back(number);
    }

    Value& value_at(int value) { return record_.values[static_cast<std::size_t>(value)]; }

    int value_of(NodeId value) {
        int& known = value_at_[value];
        if (known >= 0) return known;
        const ir::Node& node = bucket_.graph.node(value);
        record_.values.push_back(
            {node.dtype, node.shape, name_of(node), node.where, candidates_.bound()[value], {}, node.label});
        return known = static_cast<int>(record_.values.size()) - 1;
    }

    /// Records a query, and the answers of all kernels queried.
    int asked(const InternedProblem& kept, const KernelQuery& query) {
        const auto [it, fresh] = asked_.try_emplace(&kept, static_cast<int>(record_.asked.size()));
        if (!fresh) return it->second;
        Request asked{record_.texts.size(), 0, record_.answers.size(), 0};
        record_.texts += cairn::to_string(*kept.materialize());
        asked.text_end = record_.texts.size();
        const auto add = [&](const Kernel& kernel, const QueryResult& query_result) {
            record_.answers.push_back({&kernel, &*record_.refusals.insert(query_result.refusal).first,
                                       query_result.estimate, query_result.by});
        };
        query.for_each_answer(add);
        asked.answer_end = record_.answers.size();
        record_.asked.push_back(asked);
        kept.release_memory();
        return it->second;
    }

    const Bucket& bucket_;
    Candidates& candidates_;
    accuracy::ErrorInfluence influence_;
    const std::stop_token& stop_;
    BucketRecord record_;
    std::vector<int> value_at_;                                                 // of each node
    std::vector<std::vector<std::pair<int, std::size_t>>> producers_by_match_;  // value, index of its alternative
    std::map<NodeId, std::pair<int, std::size_t>> views_;                       // by expression
    std::unordered_map<const InternedProblem*, int> asked_;
};

Explainer::Explainer(const Memo& memo, std::span<const Bucket> buckets, const std::stop_token& stop)
    : problem_(memo.problem),
      bucket_of_(memo.subproblem_of),
      choices_(memo.candidates.size()),
      amounts_(memo.candidates.size()),
      errors_(memo.errors) {
    std::vector<std::unique_ptr<Collector>> collectors;
    for (const Bucket& bucket : buckets) collectors.push_back(std::make_unique<Collector>(bucket, stop));
    for (int goal = 0; goal < problem_.goals(); ++goal) {
        const Memo::Request& asked = memo.goals[static_cast<std::size_t>(goal)];
        if (asked.goal.kept) {
            const int only = problem_.first(goal);
            amounts_[static_cast<std::size_t>(only)] = {0, asked.bytes, problem_.cost(only)};
            continue;
        }
        for (int choice = problem_.first(goal); choice < problem_.first(goal + 1); ++choice) {
            amounts_[static_cast<std::size_t>(choice)] = amounts_of(memo, buckets, choice);
            const Candidate& candidate = memo.candidate(choice);
            if (candidate.kernel == nullptr) continue;  // available without a kernel
            choices_[static_cast<std::size_t>(choice)] =
                collectors[static_cast<std::size_t>(asked.bucket)]->add(asked.goal, candidate, choice);
        }
    }
    for (const auto& collector : collectors) records_.push_back(collector->finish());
}

/// Times as measured or expected: the bias that selection adds is left out. Failed calls keep their penalised
/// `seconds`.
search::Amounts Explainer::amounts_of(const Memo& memo, std::span<const Bucket> buckets, int choice) const {
    const Memo::Request& asked = memo.goals[static_cast<std::size_t>(problem_.goal_of(choice))];
    const Bucket& bucket = buckets[static_cast<std::size_t>(asked.bucket)];
    const Estimate& estimate = memo.candidate(choice).estimate;
    search::Amounts amounts = {};
    const bool is_failed = !estimate.failure.empty(), is_once = bucket.candidates.bound()[asked.goal.value];
    const double seconds = is_failed ? estimate.seconds : estimate.time();
    amounts[is_once ? price : run] =
        is_once ? seconds * bind_weight : (seconds + estimate.cross_core_transfer) * bucket.weight;
    amounts[failed] = is_failed ? 1 : 0;
    amounts[unmeasured] = estimate.ranked_last ? 1 : 0;
    return amounts;
}

/// The result of a path and its search for each alternative.
struct Explainer::SearchResult {
    std::vector<std::optional<search::MinMarginal>> min_marginals;
    std::vector<bool> chosen;
    std::string decision;  // why a cheaper alternative was rejected
    int cheapest = -1;     // an alternative of the cheapest program
    double least = 0;      // smallest difference above rounding
    bool exact = true;

    /// The choice of an alternative that its cheapest program has: the chosen one, if any is; -1 if there is none.
    int best_choice_of(const Producer& way) const {
        int best = -1;
        for (const int choice : way.choices)
            if (best < 0 || key(choice) < key(best)) best = choice;
        return best;
    }
    /// The chosen alternative first, then ascending extra cost.
    bool precedes(const Producer& a, const Producer& b) const {
        return key(best_choice_of(a)) < key(best_choice_of(b));
    }

private:
    std::tuple<bool, bool, double> key(int choice) const {
        if (choice < 0) return {true, true, 0};
        const auto c = static_cast<std::size_t>(choice);
        return {!chosen[c], !min_marginals[c], min_marginals[c] ? min_marginals[c]->extra_cost : 0};
    }
};

ExplainedKernel Explainer::verdict(const BucketRecord& record, const Request& asked, const Answer& answer,
                                   const Match& match) const {
    ExplainedKernel verdict;
    verdict.kernel = answer.kernel->id;
    verdict.problem = record.texts.substr(asked.text, asked.text_end - asked.text);
    verdict.is_reference = is_reference(verdict.kernel);
    verdict.refusal = *answer.refusal;
    const Estimate& estimate = answer.estimate;
    const double error = accuracy::combined_error(estimate.error, match.rounding);
    if (verdict.refusal.empty() && error > match.limit)
        verdict.refusal = fmt::format("its relative error is {:.4g}, the error budget of an output permits {}", error,
                                      match.limit == 0 ? "none" : fmt::format("{:.4g}", match.limit));
    if (!verdict.refusal.empty()) {
        verdict.refused_by = answer.refusal->empty() ? RefusedBy::tolerance : answer.by;
        return verdict;
    }
    verdict.seconds = estimate.time();
    verdict.failure = estimate.failure;
    verdict.measured = estimate.measured && verdict.failure.empty();
    verdict.ranked_last = estimate.ranked_last;
    verdict.is_lower_bound = estimate.is_lower_bound;
    verdict.arithmetic_seconds = estimate.arithmetic;
    verdict.memory_seconds = estimate.memory;
    if (estimate.from != nullptr) verdict.expected_from = *estimate.from;
    verdict.note = estimate.note;
    verdict.error = error;
    verdict.error_measured = estimate.error_measured;
    return verdict;
}

/// Each kernel once: with its fastest answer, or its first refusal; the kernel of `first` with its answer to that
/// query.
std::vector<ExplainedKernel> Explainer::explain_kernels(const BucketRecord& record, const Match& match,
                                                        const ChoiceRecord* first) const {
    std::map<const Kernel*, ExplainedKernel> best;  // in the order of the list
    for (const int number : match.asked) {
        const Request& one = record.asked[static_cast<std::size_t>(number)];
        for (std::size_t a = one.answer; a < one.answer_end; ++a) {
            const Answer& answer = record.answers[a];
            const bool is_first = first != nullptr && answer.kernel == first->kernel;
            if (is_first && number != first->asked) continue;
            ExplainedKernel fresh = verdict(record, one, answer, match);
            const auto [it, is_new] = best.try_emplace(answer.kernel, fresh);
            const bool is_better =
                fresh.refusal.empty() && (!it->second.refusal.empty() || sort_key(fresh) < sort_key(it->second));
            if (!is_new && is_better) it->second = std::move(fresh);
        }
    }
    std::vector<ExplainedKernel> all;
    for (auto& [kernel, one] : best) all.push_back(std::move(one));
    return all;
}

namespace {

/// Records why a faster kernel for the same operands was rejected.
void note_decision(const ExplainedKernel& chosen, const std::string& decision, ExplainedKernel& other_candidate) {
    const bool is_faster = sort_key(other_candidate) < chosen.seconds && other_candidate.problem == chosen.problem;
    if (!is_faster || other_candidate.ranked_last || !other_candidate.note.empty() || !chosen.failure.empty()) return;
    other_candidate.note = without_setting(other_candidate.kernel) == without_setting(chosen.kernel)
                               ? "faster by no more than measurement noise"
                               : decision;
}

}  // namespace

ExplainedInstruction Explainer::instruction(const BucketRecord& record, int choice, const std::string& decision) const {
    const ChoiceRecord& made = choices_[static_cast<std::size_t>(choice)];
    const Match conversion{{made.asked}};
    const Match* of_match = made.match < 0 ? nullptr : &record.matches[static_cast<std::size_t>(made.match)];
    const Match& match = of_match == nullptr || of_match->asked.empty() ? conversion : *of_match;
    const Value& value = record.values[static_cast<std::size_t>(made.value)];
    ExplainedInstruction explained;
    explained.op = value.op;
    explained.where = place_of(value.where);
    if (made.match >= 0) explained.names = record.names[static_cast<std::size_t>(made.match)];
    for (ExplainedKernel& each : explain_kernels(record, match, &made)) {
        if (each.kernel == made.kernel->id)
            explained.chosen = std::move(each);
        else
            explained.other_kernels.push_back(std::move(each));
    }
    for (ExplainedKernel& other_candidate : explained.other_kernels)
        note_decision(explained.chosen, decision, other_candidate);
    return explained;
}

/// Extra cost of the cheapest program with this choice against the one with the choice taken.
void Explainer::compare(const SearchResult& found, int choice, int taken, double weight,
                        ExplainedAlternative& explained) const {
    const auto& own = found.min_marginals[static_cast<std::size_t>(choice)];
    const auto& base = found.min_marginals[static_cast<std::size_t>(taken >= 0 ? taken : found.cheapest)];
    if (!own || !base) return;
    const auto more = [&](AmountKind which) {
        const double apart = own->amounts[which] - base->amounts[which];
        return which == bytes ? std::round(apart) : std::abs(apart) > found.least ? apart / weight : 0;
    };
    if (own->amounts[failed] > base->amounts[failed]) {
        explained.decided_by = "a kernel that it needs failed when it was measured";
        return;
    }
    explained.slower = more(run);
    explained.more_bytes = more(bytes);
    explained.price = more(price);
    if (*explained.slower + explained.price >= 0) return;
    explained.decided_by = own->amounts[unmeasured] > 0 ? "not measured yet" : found.decision;
}

ExplainedAlternative Explainer::way(const BucketRecord& record, const Producer& way, const SearchResult& found,
                                    int taken) const {
    ExplainedAlternative explained;
    explained.definition = way.definition;
    explained.view = way.view;
    explained.laws = normal_form::to_string(way.laws);
    const int best = found.best_choice_of(way);
    if (best >= 0) {
        explained.chosen = found.chosen[static_cast<std::size_t>(best)];
        if (explained.chosen)
            explained.slower = 0;
        else
            compare(found, best, taken, record.weight, explained);
    }
    // A view is produced by the best producer of its base, which may itself copy a view of another value.
    const Producer* made = &way;
    while (!made->view.empty() && made->base >= 0) {
        const Producer* nearest = nullptr;
        for (const Producer& each : record.values[static_cast<std::size_t>(made->base)].alternatives)
            if (nearest == nullptr || found.precedes(each, *nearest)) nearest = &each;
        if (nearest == nullptr) break;
        made = nearest;
    }
    if (made->match < 0) return explained;
    explained.definition = made->definition;
    const int maker = found.best_choice_of(*made);
    const ChoiceRecord* first = maker < 0 ? nullptr : &choices_[static_cast<std::size_t>(maker)];
    explained.kernels = explain_kernels(record, record.matches[static_cast<std::size_t>(made->match)], first);
    for (std::size_t k = 0; k < explained.kernels.size() && first != nullptr; ++k)
        if (explained.kernels[k].kernel == first->kernel->id) explained.best = static_cast<int>(k);
    return explained;
}

ExplainedValue Explainer::value(const BucketRecord& record, const Value& value, const SearchResult& found) const {
    ExplainedValue explained{
        cairn::to_string(value.dtype, value.shape), value.op, place_of(value.where), value.at_bind, {}, value.name};
    int taken = -1;
    for (const Producer& each : value.alternatives)
        if (const int best = found.best_choice_of(each); best >= 0 && found.chosen[static_cast<std::size_t>(best)])
            taken = best;
    for (const Producer& each : value.alternatives) explained.alternatives.push_back(way(record, each, found, taken));
    std::stable_sort(explained.alternatives.begin(), explained.alternatives.end(), precedes);
    return explained;
}

/// Searches all programs of one bucket, with what the other buckets keep available.
Explainer::SearchResult Explainer::search(int bucket, std::span<const int> path, const std::stop_token& stop) const {
    SearchResult found;
    found.min_marginals.resize(choices_.size());
    found.chosen.resize(choices_.size(), false);
    std::vector<bool> is_available(bucket_of_.size(), false);
    for (const int choice : path) {
        found.chosen[static_cast<std::size_t>(choice)] = true;
        if (const int owner = bucket_of_[static_cast<std::size_t>(problem_.goal_of(choice))];
            owner != search::shared && owner != bucket)
            for (const int need : problem_.alternative(choice).needs)
                is_available[static_cast<std::size_t>(need)] = true;
    }
    const auto is_of_it = [&](int goal) {
        const int owner = bucket_of_[static_cast<std::size_t>(goal)];
        return owner == search::shared || owner == bucket;
    };
    search::InducedProblem induced = search::induced_problem(problem_, is_of_it, [](int) { return true; });
    search::SearchProblem& own = induced.problem;
    const std::vector<int>& names = induced.choices;
    std::vector<int> own_path;
    std::vector<search::Amounts> amounts;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto name = static_cast<std::size_t>(names[i]);
        amounts.push_back(is_available[static_cast<std::size_t>(problem_.goal_of(names[i]))] ? search::Amounts()
                                                                                             : amounts_[name]);
        own.set_cost(static_cast<int>(i), amounts[i][run] + amounts[i][price]);
        if (found.chosen[name]) own_path.push_back(static_cast<int>(i));
    }
    const search::Exploration all = explore_or_throw(own, {.only_cheapest = false, .stop = stop});
    found.exact = all.exact;
    const auto min_marginals = search::min_marginals(own, all.dag, all.paths, own_path, amounts);
    double whole = 0;
    for (const int choice : own_path) whole += own.cost(choice);
    // The selection minimised sums of doubles, which have this precision.
    found.least = 1e-12 * whole;
    for (std::size_t i = 0; i < names.size(); ++i) {
        found.min_marginals[static_cast<std::size_t>(names[i])] = min_marginals[i];
        if (!min_marginals[i]) continue;
        if (found.cheapest < 0 ||
            min_marginals[i]->extra_cost < found.min_marginals[static_cast<std::size_t>(found.cheapest)]->extra_cost)
            found.cheapest = names[i];
    }
    return found;
}

void Explainer::explain(std::span<const int> path, std::span<const program::Program* const> programs,
                        Explanation& explanation, const std::stop_token& stop) const {
    explanation.has_alternatives = true;
    for (std::size_t b = 0; b < records_.size(); ++b) {
        const BucketRecord& record = records_[b];
        SearchResult found = search(static_cast<int>(b), path, stop);
        found.decision = rejection_reason(explanation, !record.bounds.empty(), explanation.is_exact && found.exact);
        explanation.is_exact = explanation.is_exact && found.exact;
        ExplainedBucket& bucket = explanation.buckets[b];
        bucket.sizes = record.sizes;
        for (const accuracy::ErrorBudget& bound : record.bounds)
            bucket.errors.push_back({bound.name, bound.rounding, bound.tolerance(), bound.scale});
        for (const Memo::ErrorTerms& errors : errors_)
            if (static_cast<std::size_t>(errors.bucket) == b) {
                double& error = bucket.errors[static_cast<std::size_t>(errors.bound)].error;
                error = accuracy::combined_error(error, total_error(path, errors));
            }
        std::size_t i = 0;
        for (const auto* section : {&programs[b]->bind, &programs[b]->run})
            for (const program::Instruction& each : *section) {
                check_stop(stop);
                ExplainedInstruction& explained = bucket.instructions[i++];
                if (each.choice < 0) continue;
                ExplainedInstruction known = instruction(record, each.choice, found.decision);
                known.at_bind = explained.at_bind;
                known.device = explained.device;
                known.reads = std::move(explained.reads);
                known.writes = std::move(explained.writes);
                explained = std::move(known);
            }
        for (const Value& each : record.values) {
            check_stop(stop);
            if (!each.alternatives.empty()) bucket.values.push_back(value(record, each, found));
        }
    }
}

}  // namespace cairn::selection
