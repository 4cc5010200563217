#include "select/reasons.hpp"

#include "device/context_parts.hpp"
#include "ir/op_table.hpp"
#include "search/sides.hpp"
#include "select/emit.hpp"
#include "select/trade.hpp"
#include "types/knobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace cairn::inline v0::select {
namespace {

using ir::NodeId;

void end_on(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Cancelled("explain");
}

/// What the program calls a value.
std::string name_of(const ir::Node& node) {
    return node.composite.empty() ? std::string(ir::info(node.op).name) : node.composite;
}

std::string place_of(const std::source_location& where) { return where.line() == 0 ? "" : Error::place(where); }

/// What a verdict is compared by: a time, then none.
double rank_of(const KernelVerdict& verdict) {
    constexpr double none = std::numeric_limits<double>::infinity();
    return verdict.refusal.empty() && verdict.failure.empty() ? verdict.seconds : none;
}

/// Why something that costs less by sums was not taken, where that is not for want of measurements.
std::string decision_of(const Explanation& explanation, bool has_bounds, bool is_exact) {
    double ratio = 1;
    bool is_kept = false;
    for (const ExplainedDuel& duel : explanation.duels)
        if (duel.won) ratio *= duel.ratio, is_kept = is_kept || duel.samples == 0;
    if (ratio < 1) return fmt::format("slower when run whole: {:.3g}x", 1 / ratio);
    if (is_kept) return "no run of whole programs could tell, and sums promise too little";
    if (has_bounds) return "its errors would add up to more than is allowed";
    return is_exact ? "other programs were asked for" : "the search was cut before it was found";
}

/// The chosen one, then what costs less.
bool is_nearer(const ExplainedWay& a, const ExplainedWay& b) {
    const auto key = [](const ExplainedWay& way) {
        return std::tuple(!way.chosen, !way.slower, way.slower.value_or(0) + way.price);
    };
    return key(a) < key(b);
}

}  // namespace

/// Goes through the tiles of a bucket, then through the alternatives of the search.
class Reasons::Collector {
public:
    Collector(const Bucket& bucket, const std::stop_token& stop)
        : bucket_(bucket),
          candidates_(bucket.candidates),
          influence_(bucket.graph, candidates_.classes(), bucket.bounds),
          stop_(stop),
          value_at_(bucket.graph.nodes().size(), -1) {
        note_sizes();
        part_.bounds.assign(bucket.bounds.begin(), bucket.bounds.end());
        part_.weight = bucket.weight;
        part_.tiles.resize(bucket.tiles.size());
        for (const fuse::Tile& tile : bucket.tiles)
            part_.names.push_back(names_in(bucket.graph, candidates_.classes(), tile));
        ways_of_tile_.resize(bucket.tiles.size());
        for (std::size_t t = 0; t < bucket.tiles.size(); ++t) {
            end_on(stop_);
            add_tile(static_cast<int>(t));
        }
    }

    Choice add(const Goal& goal, const Candidate& candidate, int number) {
        end_on(stop_);
        for (const Source& source : candidate.sources)
            if (source.form == Form::seen) add_reading(source.node, number);
        if (candidate.tile >= 0)
            for (const auto& [value, way] : ways_of_tile_[static_cast<std::size_t>(candidate.tile)])
                value_at(value).ways[way].choices.push_back(number);
        const KeptProblem& problem = candidate.problem.kept();
        const auto known = asked_.find(&problem);
        const int number_of_asked =
            known != asked_.end() ? known->second : asked(problem, candidates_.question(*problem.whole()));
        return {value_of(goal.value), number_of_asked, candidate.tile, candidate.kernel};
    }

    Part finish() {
        for (const auto& [spelling, place] : views_) {
            const NodeId base = candidates_.classes().value_of(candidates_.views()[spelling].base);
            value_at(place.first).ways[place.second].base = value_at_[base];
        }
        return std::move(part_);
    }

private:
    void note_sizes() {
        const std::vector<Symbols::Symbol> symbols = bucket_.graph.symbols()->list();
        for (const std::vector<std::int64_t>& sizes : representative_sizes(*bucket_.graph.symbols())) {
            auto& named = part_.sizes.emplace_back();
            for (std::size_t s = 0; s < symbols.size(); ++s) named.emplace_back(symbols[s].name, sizes[s]);
        }
    }

    void add_tile(int t) {
        const fuse::Tile& tile = bucket_.tiles[static_cast<std::size_t>(t)];
        auto& [questions, rounding, limit] = part_.tiles[static_cast<std::size_t>(t)];
        for (Question* question : candidates_.asked_for(t))
            questions.push_back(asked(question->problem().kept(), *question));
        if (questions.empty()) return;  // a view, which needs no kernel, or not looked at
        rounding = candidates_.rounding_in(tile);
        if (bucket_.bounds.empty() && rounding > 0) limit = 0;  // all is exact
        if (!bucket_.bounds.empty())
            for (const NodeId output : tile.outputs)
                limit = std::min(limit, influence_.limit(candidates_.memory_of(output)));
        Way way{tile.definition, {}, {}, t};
        for (const NodeId node : tile.interior) way.laws = way.laws | candidates_.classes().laws_of(node);
        std::vector<int> made;
        for (const NodeId output : tile.outputs) {
            const int value = value_of(candidates_.memory_of(output));
            if (std::find(made.begin(), made.end(), value) != made.end()) continue;
            made.push_back(value);
            Way own = way;
            own.laws = own.laws | candidates_.classes().laws_of(output);
            ways_of_tile_[static_cast<std::size_t>(t)].emplace_back(value, value_at(value).ways.size());
            value_at(value).ways.push_back(std::move(own));
        }
    }

    /// A value that has other spellings may lie in another one's memory.
    void add_reading(NodeId node, int number) {
        const expand::Classes& classes = candidates_.classes();
        const NodeId value = classes.value_of(node);
        if (classes.spellings(value).size() < 2 || candidates_.views()[node].base == node) return;
        const auto [it, fresh] = views_.try_emplace(node);
        if (fresh) {
            it->second = {value_of(value), value_at(value_of(value)).ways.size()};
            Way view{{}, std::string(ir::info(bucket_.graph.node(node).op).name), classes.laws_of(node)};
            const NodeId base = candidates_.views()[node].base;
            view.definition = name_of(bucket_.graph.node(base));
            value_at(it->second.first).ways.push_back(std::move(view));
        }
        Numbers& choices = value_at(it->second.first).ways[it->second.second].choices;
        if (choices.empty() || choices.back() != number) choices.push_back(number);
    }

    Value& value_at(int value) { return part_.values[static_cast<std::size_t>(value)]; }

    int value_of(NodeId value) {
        int& known = value_at_[value];
        if (known >= 0) return known;
        const ir::Node& node = bucket_.graph.node(value);
        part_.values.push_back(
            {node.dtype, node.shape, name_of(node), node.where, candidates_.bound()[value], {}, node.label});
        return known = static_cast<int>(part_.values.size()) - 1;
    }

    /// What was asked, and what all kernels asked have said to it.
    int asked(const KeptProblem& kept, const Question& question) {
        const auto [it, fresh] = asked_.try_emplace(&kept, static_cast<int>(part_.asked.size()));
        if (!fresh) return it->second;
        Asked asked{part_.texts.size(), 0, part_.answers.size(), 0};
        part_.texts += cairn::to_string(*kept.whole());
        asked.text_end = part_.texts.size();
        const auto add = [&](const Kernel& kernel, const Judged& judged) {
            part_.answers.push_back(
                {&kernel, &*part_.refusals.insert(judged.refusal).first, judged.estimate, judged.by});
        };
        question.for_each_answer(add);
        asked.answer_end = part_.answers.size();
        part_.asked.push_back(asked);
        kept.put_away();
        return it->second;
    }

    const Bucket& bucket_;
    Candidates& candidates_;
    Influence influence_;
    const std::stop_token& stop_;
    Part part_;
    std::vector<int> value_at_;                                           // of each node
    std::vector<std::vector<std::pair<int, std::size_t>>> ways_of_tile_;  // value, and which of its ways
    std::map<NodeId, std::pair<int, std::size_t>> views_;                 // by spelling
    std::unordered_map<const KeptProblem*, int> asked_;
};

Reasons::Reasons(const Memo& memo, std::span<const Bucket> buckets, const std::stop_token& stop)
    : problem_(memo.problem),
      bucket_of_(memo.sides),
      choices_(memo.candidates.size()),
      amounts_(memo.candidates.size()),
      errors_(memo.errors) {
    std::vector<std::unique_ptr<Collector>> collectors;
    for (const Bucket& bucket : buckets) collectors.push_back(std::make_unique<Collector>(bucket, stop));
    for (int goal = 0; goal < problem_.goals(); ++goal) {
        const Memo::Asked& asked = memo.goals[static_cast<std::size_t>(goal)];
        if (asked.goal.kept) {
            const int only = problem_.first(goal);
            amounts_[static_cast<std::size_t>(only)] = {0, asked.bytes, problem_.cost(only)};
            continue;
        }
        for (int choice = problem_.first(goal); choice < problem_.first(goal + 1); ++choice) {
            amounts_[static_cast<std::size_t>(choice)] = amounts_of(memo, buckets, choice);
            const Candidate& candidate = memo.candidate(choice);
            if (candidate.kernel == nullptr) continue;  // it is there
            choices_[static_cast<std::size_t>(choice)] =
                collectors[static_cast<std::size_t>(asked.bucket)]->add(asked.goal, candidate, choice);
        }
    }
    for (const auto& collector : collectors) parts_.push_back(collector->finish());
}

/// Times are as measured or expected: what selection adds to costs, so that a call is taken last, is not told. A call
/// whose measurement failed has no time.
search::Amounts Reasons::amounts_of(const Memo& memo, std::span<const Bucket> buckets, int choice) const {
    const Memo::Asked& asked = memo.goals[static_cast<std::size_t>(problem_.goal_of(choice))];
    const Bucket& bucket = buckets[static_cast<std::size_t>(asked.bucket)];
    const Estimate& estimate = memo.candidate(choice).estimate;
    search::Amounts amounts = {};
    const bool is_failed = !estimate.failure.empty(), is_once = bucket.candidates.bound()[asked.goal.value];
    const double seconds = is_failed ? estimate.seconds : estimate.time();
    amounts[is_once ? price : run] = is_once ? seconds * bind_weight : (seconds + estimate.handover) * bucket.weight;
    amounts[failed] = is_failed ? 1 : 0;
    amounts[unmeasured] = estimate.counts_last ? 1 : 0;
    return amounts;
}

/// What a path and the search tell of each alternative.
struct Reasons::Found {
    std::vector<std::optional<search::Marginal>> marginals;
    std::vector<bool> chosen;
    std::string decision;  // why something that costs less was not taken
    int cheapest = -1;     // an alternative of the cheapest program
    double least = 0;      // what is no more than rounding
    bool exact = true;

    /// The alternative of a way that its cheapest program has: the chosen one, if any is; -1 where there is none.
    int best_of(const Way& way) const {
        int best = -1;
        for (const int choice : way.choices)
            if (best < 0 || key(choice) < key(best)) best = choice;
        return best;
    }
    /// The chosen way is nearer than others, then what costs less.
    bool is_nearer(const Way& a, const Way& b) const { return key(best_of(a)) < key(best_of(b)); }

private:
    std::tuple<bool, bool, double> key(int choice) const {
        if (choice < 0) return {true, true, 0};
        const auto c = static_cast<std::size_t>(choice);
        return {!chosen[c], !marginals[c], marginals[c] ? marginals[c]->above : 0};
    }
};

KernelVerdict Reasons::verdict(const Part& part, const Asked& asked, const Answer& answer, const Tile& tile) const {
    KernelVerdict verdict;
    verdict.kernel = answer.kernel->id;
    verdict.problem = part.texts.substr(asked.text, asked.text_end - asked.text);
    verdict.is_reference = is_reference(verdict.kernel);
    verdict.refusal = *answer.refusal;
    const Estimate& estimate = answer.estimate;
    const double error = estimate.error + tile.rounding;
    if (verdict.refusal.empty() && error > tile.limit)
        verdict.refusal = fmt::format("its relative error is {:.4g}, on the way to an output there may be {}", error,
                                      tile.limit == 0 ? "none" : fmt::format("{:.4g}", tile.limit));
    if (!verdict.refusal.empty()) {
        verdict.refused_by = answer.refusal->empty() ? RefusedBy::tolerance : answer.by;
        return verdict;
    }
    verdict.seconds = estimate.time();
    verdict.failure = estimate.failure;
    verdict.measured = estimate.measured && verdict.failure.empty();
    verdict.counts_last = estimate.counts_last;
    verdict.at_least = estimate.at_least;
    if (estimate.from != nullptr) verdict.expected_from = *estimate.from;
    verdict.note = estimate.note;
    verdict.error = error;
    verdict.error_measured = estimate.error_measured;
    return verdict;
}

/// Each kernel once: by its fastest answer, or by its first refusal; the kernel of `first` by its answer to what that
/// was asked.
std::vector<KernelVerdict> Reasons::verdicts(const Part& part, const Tile& tile, const Choice* first) const {
    std::map<const Kernel*, KernelVerdict> best;  // in the order of the list
    for (const int number : tile.asked) {
        const Asked& one = part.asked[static_cast<std::size_t>(number)];
        for (std::size_t a = one.answer; a < one.answer_end; ++a) {
            const Answer& answer = part.answers[a];
            const bool is_first = first != nullptr && answer.kernel == first->kernel;
            if (is_first && number != first->asked) continue;
            KernelVerdict fresh = verdict(part, one, answer, tile);
            const auto [it, is_new] = best.try_emplace(answer.kernel, fresh);
            const bool is_better =
                fresh.refusal.empty() && (!it->second.refusal.empty() || rank_of(fresh) < rank_of(it->second));
            if (!is_new && is_better) it->second = std::move(fresh);
        }
    }
    std::vector<KernelVerdict> all;
    for (auto& [kernel, one] : best) all.push_back(std::move(one));
    return all;
}

namespace {

/// Why a kernel that takes less for the same operands was not taken.
void note_decision(const KernelVerdict& chosen, const std::string& decision, KernelVerdict& rival) {
    const bool is_faster = rank_of(rival) < chosen.seconds && rival.problem == chosen.problem;
    if (!is_faster || rival.counts_last || !rival.note.empty() || !chosen.failure.empty()) return;
    rival.note = kernel_of(rival.kernel) == kernel_of(chosen.kernel) ? "faster by no more than chance makes" : decision;
}

}  // namespace

ExplainedInstruction Reasons::instruction(const Part& part, int choice, const std::string& decision) const {
    const Choice& made = choices_[static_cast<std::size_t>(choice)];
    const Tile conversion{{made.asked}};
    const Tile* of_tile = made.tile < 0 ? nullptr : &part.tiles[static_cast<std::size_t>(made.tile)];
    const Tile& tile = of_tile == nullptr || of_tile->asked.empty() ? conversion : *of_tile;
    const Value& value = part.values[static_cast<std::size_t>(made.value)];
    ExplainedInstruction told;
    told.op = value.op;
    told.where = place_of(value.where);
    if (made.tile >= 0) told.names = part.names[static_cast<std::size_t>(made.tile)];
    for (KernelVerdict& each : verdicts(part, tile, &made)) {
        if (each.kernel == made.kernel->id)
            told.chosen = std::move(each);
        else
            told.rivals.push_back(std::move(each));
    }
    for (KernelVerdict& rival : told.rivals) note_decision(told.chosen, decision, rival);
    return told;
}

/// What the cheapest program with a choice takes more than the one with what was taken.
void Reasons::compare(const Found& found, int choice, int taken, double weight, ExplainedWay& told) const {
    const auto& own = found.marginals[static_cast<std::size_t>(choice)];
    const auto& base = found.marginals[static_cast<std::size_t>(taken >= 0 ? taken : found.cheapest)];
    if (!own || !base) return;
    const auto more = [&](Counted which) {
        const double apart = own->amounts[which] - base->amounts[which];
        return which == bytes ? std::round(apart) : std::abs(apart) > found.least ? apart / weight : 0;
    };
    if (own->amounts[failed] > base->amounts[failed]) {
        told.decided_by = "a kernel that it needs failed when it was measured";
        return;
    }
    told.slower = more(run);
    told.more_bytes = more(bytes);
    told.price = more(price);
    if (*told.slower + told.price >= 0) return;
    told.decided_by = own->amounts[unmeasured] > 0 ? "not measured yet" : found.decision;
}

ExplainedWay Reasons::way(const Part& part, const Way& way, const Found& found, int taken) const {
    ExplainedWay told;
    told.definition = way.definition;
    told.view = way.view;
    told.laws = canon::to_string(way.laws);
    const int best = found.best_of(way);
    if (best >= 0) {
        told.chosen = found.chosen[static_cast<std::size_t>(best)];
        if (told.chosen)
            told.slower = 0;
        else
            compare(found, best, taken, part.weight, told);
    }
    // What is seen is come by in its best way, which may be a copy of what is seen of another value.
    const Way* made = &way;
    while (!made->view.empty() && made->base >= 0) {
        const Way* nearest = nullptr;
        for (const Way& each : part.values[static_cast<std::size_t>(made->base)].ways)
            if (nearest == nullptr || found.is_nearer(each, *nearest)) nearest = &each;
        if (nearest == nullptr) break;
        made = nearest;
    }
    if (made->tile < 0) return told;
    told.definition = made->definition;
    const int maker = found.best_of(*made);
    const Choice* first = maker < 0 ? nullptr : &choices_[static_cast<std::size_t>(maker)];
    told.kernels = verdicts(part, part.tiles[static_cast<std::size_t>(made->tile)], first);
    for (std::size_t k = 0; k < told.kernels.size() && first != nullptr; ++k)
        if (told.kernels[k].kernel == first->kernel->id) told.best = static_cast<int>(k);
    return told;
}

ExplainedValue Reasons::value(const Part& part, const Value& value, const Found& found) const {
    ExplainedValue told{
        cairn::to_string(value.dtype, value.shape), value.op, place_of(value.where), value.once, {}, value.name};
    int taken = -1;
    for (const Way& each : value.ways)
        if (const int best = found.best_of(each); best >= 0 && found.chosen[static_cast<std::size_t>(best)])
            taken = best;
    for (const Way& each : value.ways) told.ways.push_back(way(part, each, found, taken));
    std::stable_sort(told.ways.begin(), told.ways.end(), is_nearer);
    return told;
}

/// All ways to make the program of one bucket, what the others keep being there.
Reasons::Found Reasons::search(int bucket, std::span<const int> path, const std::stop_token& stop) const {
    Found found;
    found.marginals.resize(choices_.size());
    found.chosen.resize(choices_.size(), false);
    std::vector<bool> is_there(bucket_of_.size(), false);
    for (const int choice : path) {
        found.chosen[static_cast<std::size_t>(choice)] = true;
        if (const int owner = bucket_of_[static_cast<std::size_t>(problem_.goal_of(choice))];
            owner != search::shared && owner != bucket)
            for (const int need : problem_.alternative(choice).needs) is_there[static_cast<std::size_t>(need)] = true;
    }
    const auto is_of_it = [&](int goal) {
        const int owner = bucket_of_[static_cast<std::size_t>(goal)];
        return owner == search::shared || owner == bucket;
    };
    search::Excerpt excerpt = search::excerpt_of(problem_, is_of_it, [](int) { return true; });
    search::Problem& own = excerpt.problem;
    const std::vector<int>& names = excerpt.choices;
    std::vector<int> own_path;
    std::vector<search::Amounts> amounts;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto name = static_cast<std::size_t>(names[i]);
        amounts.push_back(is_there[static_cast<std::size_t>(problem_.goal_of(names[i]))] ? search::Amounts()
                                                                                         : amounts_[name]);
        own.set_cost(static_cast<int>(i), amounts[i][run] + amounts[i][price]);
        if (found.chosen[name]) own_path.push_back(static_cast<int>(i));
    }
    const search::Exploration all = explored(own, {.only_cheapest = false, .stop = stop});
    found.exact = all.exact;
    const auto marginals = search::marginals(own, all.space, all.paths, own_path, amounts);
    double whole = 0;
    for (const int choice : own_path) whole += own.cost(choice);
    // The choice was made by sums of doubles, which are no more exact.
    found.least = 1e-12 * whole;
    for (std::size_t i = 0; i < names.size(); ++i) {
        found.marginals[static_cast<std::size_t>(names[i])] = marginals[i];
        if (!marginals[i]) continue;
        if (found.cheapest < 0 ||
            marginals[i]->above < found.marginals[static_cast<std::size_t>(found.cheapest)]->above)
            found.cheapest = names[i];
    }
    return found;
}

void Reasons::explain(std::span<const int> path, std::span<const program::Program* const> programs,
                      Explanation& explanation, const std::stop_token& stop) const {
    explanation.has_rivals = true;
    for (std::size_t b = 0; b < parts_.size(); ++b) {
        const Part& part = parts_[b];
        Found found = search(static_cast<int>(b), path, stop);
        found.decision = decision_of(explanation, !part.bounds.empty(), explanation.is_exact && found.exact);
        explanation.is_exact = explanation.is_exact && found.exact;
        ExplainedBucket& bucket = explanation.buckets[b];
        bucket.sizes = part.sizes;
        for (const Bound& bound : part.bounds)
            bucket.errors.push_back({bound.name, bound.rounding, bound.limit + bound.rounding});
        for (const Memo::Errors& errors : errors_)
            if (static_cast<std::size_t>(errors.bucket) == b)
                bucket.errors[static_cast<std::size_t>(errors.bound)].error += errors_on(path, errors);
        std::size_t i = 0;
        for (const auto* section : {&programs[b]->bind, &programs[b]->run})
            for (const program::Instruction& each : *section) {
                end_on(stop);
                ExplainedInstruction& told = bucket.instructions[i++];
                if (each.choice < 0) continue;
                ExplainedInstruction known = instruction(part, each.choice, found.decision);
                known.once = told.once;
                known.reads = std::move(told.reads);
                known.writes = std::move(told.writes);
                told = std::move(known);
            }
        for (const Value& each : part.values) {
            end_on(stop);
            if (!each.ways.empty()) bucket.values.push_back(value(part, each, found));
        }
    }
}

}  // namespace cairn::inline v0::select
