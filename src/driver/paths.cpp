#include "cairn/paths.hpp"

#include "device/context_impl.hpp"
#include "driver/memory_limit.hpp"
#include "driver/provenance.hpp"
#include "driver/replay.hpp"
#include "driver/split_points.hpp"
#include "driver/stages.hpp"
#include "driver/verification_covers.hpp"
#include "selection/search/cheapest_paths.hpp"
#include "selection/search/k_best.hpp"
#include "selection/search/numbering.hpp"

#include <fmt/format.h>

#include <cmath>
#include <mutex>
#include <ostream>

namespace cairn::inline v0 {

/// The result of the path search and everything it was computed from.
struct PathSpace {
    PathSpace(const Graph& given, const Context& with, const CompileOptions& as)
        : graph(given),
          context(with),
          options(driver::with_split_points(given, with, as)),
          stages(graph, context, options),
          buckets(stages.prepare()),
          memo(memo_of_all()),
          exploration(selection::explore_or_throw(memo.problem, {.only_cheapest = false, .stop = options.stop})),
          numbering(exploration.dag, exploration.paths),
          order(exploration.dag, exploration.paths),
          cheapest(order.choices(exploration.paths)) {}
    PathSpace(const PathSpace&) = delete;
    PathSpace& operator=(const PathSpace&) = delete;

    const selection::Memo::Request& request(int choice) const {
        return memo.goals[static_cast<std::size_t>(memo.problem.goal_of(choice))];
    }
    const selection::Candidate& candidate(int choice) const { return memo.candidate(choice); }
    const driver::PreparedBucket& bucket_of(int choice) const {
        return buckets[static_cast<std::size_t>(request(choice).bucket)];
    }
    /// True for work that is done once, when weights are bound.
    bool is_bound(int choice) const { return bucket_of(choice).candidates->bound()[request(choice).goal.value]; }

    Graph graph;
    Context context;
    CompileOptions options;
    driver::Stages stages;
    mutable std::vector<driver::PreparedBucket> buckets;
    selection::Memo memo;
    search::Exploration exploration;
    search::Numbering numbering;
    search::CheapestPaths order;  ///< counts costs as integers, as the order of paths does
    std::vector<int> cheapest;
    /// Guards the candidates, whose queries are cached. Recursive: a progress sink may query while a path is compiled.
    mutable std::recursive_mutex candidates_mutex;

    /// Shared by all compiled paths; constructed for the first one.
    const std::shared_ptr<const selection::Explainer>& explainer() const {
        if (cached_explainer_ == nullptr)
            cached_explainer_ =
                std::make_shared<const selection::Explainer>(memo, driver::selection_buckets(buckets), options.stop);
        return cached_explainer_;
    }

private:
    selection::Memo memo_of_all() {
        for (driver::PreparedBucket& bucket : buckets) bucket.driver.begin("select");
        const bool search = buckets[0].driver.enabled("search");
        selection::choose_state_device(driver::selection_buckets(buckets),
                                       {search, false, options.stop, options.seconds_per_kept_byte});
        return selection::memo_of(driver::selection_buckets(buckets),
                                  search ? selection::Breadth::all : selection::Breadth::first, options.stop,
                                  options.seconds_per_kept_byte);
    }

    mutable std::shared_ptr<const selection::Explainer> cached_explainer_;
};

struct PathRange::State {
    State(std::shared_ptr<const PathSpace> given, bool most_expensive_first) : found(std::move(given)) {
        const search::Exploration& all = found->exploration;
        if (most_expensive_first) {
            negated = all.dag.negated();
            best.emplace(*negated, all.paths);
            advance();
        } else {
            path.emplace(found, found->cheapest);
        }
    }
    void advance() {
        if (!best) {
            best.emplace(found->exploration.dag, found->exploration.paths);
            best->next();
        }
        path.reset();
        if (best->next()) path.emplace(found, best->path(best->found() - 1).choices);
    }

    std::shared_ptr<const PathSpace> found;
    std::optional<search::PathDag> negated;
    std::optional<search::KBestPaths> best;  // constructed for the second path
    std::optional<Path> path;
};

namespace {

/// Compensated summation: the rounding error of each addition is accumulated and added at the end (Neumaier).
class Sum {
public:
    void add(double value) {
        const double sum = sum_ + value;
        lost_ += std::abs(sum_) >= std::abs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
        sum_ = sum;
    }
    double value() const { return sum_ + lost_; }

private:
    double sum_ = 0, lost_ = 0;
};

/// Throws Error(unsupported) naming the first kernel of a cover that cannot prepare its problem.
void prepare(const selection::Selection& selection, selection::Candidates& candidates) {
    for (const auto& [goal, candidate, number] : selection.chosen) {
        if (candidates.can_prepare(candidate)) continue;
        std::string reason;
        for (const selection::KernelAnswer& answer : candidates.answers(*candidate.problem))
            if (answer.kernel == candidate.kernel->id) reason = answer.refusal;
        throw Error(
            ErrorKind::unsupported, "paths",
            fmt::format("{} cannot prepare {}: {}", candidate.kernel->id, to_string(*candidate.problem), reason));
    }
}

/// Throws Error(unsupported) naming the first error budget that a cover exceeds.
void check_errors(const selection::Selection& selection) {
    for (const auto& [bound, error, limit] : selection.errors)
        if (error > limit * (1 + 1e-12))
            throw Error(ErrorKind::unsupported, "paths",
                        fmt::format("the combined error of {} is {:.4g}, allowed is {:.4g}", bound, error, limit));
}

}  // namespace

const std::shared_ptr<const PathSpace>& Paths::space() const {
    if (space_ == nullptr) throw Error(ErrorKind::argument, "paths", "the handle is moved-from");
    return space_;
}

std::string Paths::count() const { return space()->numbering.count().to_string(); }
double Paths::log10_count() const { return space()->numbering.count().log10(); }
bool Paths::is_exact() const { return space()->exploration.exact; }

std::string Paths::not_searched() const {
    if (is_exact()) return {};
    return fmt::format("some of the {} search states were not followed: paths through them are missing",
                       space()->exploration.states);
}

Path Paths::cheapest() const { return *cheapest_first().begin(); }
PathRange Paths::cheapest_first() const { return PathRange(std::make_unique<PathRange::State>(space(), false)); }
PathRange Paths::most_expensive_first() const { return PathRange(std::make_unique<PathRange::State>(space(), true)); }

Path Paths::at(std::string_view rank) const {
    const search::Numbering& numbering = space()->numbering;
    const std::optional<search::Natural> number = search::Natural::parse(rank);
    std::optional<search::Path> path;
    if (number) path = numbering.unrank(*number);
    if (!path)
        throw Error(ErrorKind::argument, "paths",
                    fmt::format("\"{}\" is no number of a path: there are {}, from 0 on", rank, count()));
    return {space_, std::move(path->choices)};
}

std::string Paths::rank(const Path& path) const {
    if (&path.space() != space().get()) throw Error(ErrorKind::argument, "paths", "the path is one of other Paths");
    return space_->numbering.rank(path.choices()).value().to_string();
}

Path Paths::sample(std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    return sample(random);
}

Path Paths::sample_with(const std::function<std::uint64_t()>& random) const {
    return {space(), space()->numbering.sample(random).value().choices};
}

const PathSpace& Path::space() const {
    if (space_ == nullptr) throw Error(ErrorKind::argument, "paths", "the path is moved-from");
    return *space_;
}

double Path::cost() const {
    const PathSpace& all = space();
    search::ExactCost sum = 0;
    for (const int choice : choices_) sum += all.order.exact(all.memo.problem.cost(choice));
    return all.order.rounded(sum);
}

double Path::seconds() const {
    const PathSpace& all = space();
    Sum sum;
    for (const int choice : choices_)
        if (!all.request(choice).goal.kept && !all.is_bound(choice)) {
            // Costs that the selection adds so that a call is taken last are not time.
            const selection::Estimate& estimate = all.candidate(choice).estimate;
            sum.add((estimate.time() + estimate.cross_core_transfer) * all.bucket_of(choice).cut.weight);
        }
    return sum.value();
}

double Path::kept_bytes() const {
    const PathSpace& all = space();
    double bytes = all.memo.always_kept_bytes;
    for (const int choice : choices_)
        if (all.request(choice).goal.kept) bytes += all.request(choice).bytes;
    return bytes;
}

std::vector<PathStep> Path::steps() const {
    const PathSpace& all = space();
    const std::lock_guard lock(all.candidates_mutex);
    std::vector<PathStep> steps;
    const selection::Selections covers =
        selection::covers_of(all.memo, driver::selection_buckets(all.buckets), choices_);
    for (std::size_t b = 0; b < all.buckets.size(); ++b) {
        const driver::PreparedBucket& bucket = all.buckets[b];
        const std::string name = driver::bucket_name(bucket.cut.ranges);
        for (const auto& [goal, candidate, number] : covers.buckets[b].chosen) {
            const std::source_location& where = bucket.graph->node(goal.value).where;
            steps.push_back({name, candidate.kernel->id, to_string(*candidate.problem), candidate.estimate.time(),
                             candidate.estimate.measured, bucket.candidates->bound()[goal.value],
                             where.line() == 0 ? std::string() : Error::place(where),
                             candidate.estimate.from == nullptr ? std::string() : *candidate.estimate.from,
                             candidate.estimate.failure});
        }
    }
    return steps;
}

CompiledGraph Path::compile() const {
    const PathSpace& all = space();
    const std::lock_guard lock(all.candidates_mutex);
    const selection::Selections covers =
        selection::covers_of(all.memo, driver::selection_buckets(all.buckets), choices_);
    for (std::size_t b = 0; b < all.buckets.size(); ++b) {
        check_errors(covers.buckets[b]);
        prepare(covers.buckets[b], *all.buckets[b].candidates);
    }
    const selection::Options select_options{.stop = all.options.stop,
                                            .seconds_per_kept_byte = all.options.seconds_per_kept_byte};
    driver::ExactSource source(all.graph, all.context, all.options, all.stages, all.buckets);
    const std::optional<selection::Selections> exact =
        source.is_separate()
            ? driver::exact_covers(source.buckets(), select_options)
            : driver::find_verification_covers(all.stages, all.buckets, covers, all.options, select_options);
    std::vector<runtime::BucketProgram> programs;
    for (std::size_t b = 0; b < all.buckets.size(); ++b) {
        driver::PreparedBucket& bucket = all.buckets[b];
        driver::StageDriver driver = bucket.driver;
        driver.check_cancelled();
        programs.push_back(all.stages.emit(bucket, covers.buckets[b], driver));
        if (exact)
            driver::attach_exact_program(bucket, covers.buckets[b],
                                         {source.stages(), source.buckets()[b], exact->buckets[b]}, all.options,
                                         programs.back());
    }
    CompiledGraph compiled = all.stages.link(
        std::move(programs),
        driver::explainer_of(all.explainer(), choices_, all.exploration.exact ? 0 : 1, {}, {}, all.stages.notes()),
        driver::selection_key_of(all.graph, all.options, all.buckets));
    driver::check_limit(compiled.memory(), all.options);
    return compiled;
}

PathRange::PathRange(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
PathRange::PathRange(PathRange&&) noexcept = default;
PathRange& PathRange::operator=(PathRange&&) noexcept = default;
PathRange::~PathRange() = default;

PathRange::State& PathRange::valid() const {
    if (state_ == nullptr) throw Error(ErrorKind::argument, "paths", "the range is moved-from");
    return *state_;
}

PathRange::Iterator PathRange::begin() {
    Iterator iterator;
    iterator.state_ = &valid();
    return iterator;
}

bool PathRange::Iterator::is_at_end() const { return state_ == nullptr || !state_->path; }

const Path& PathRange::Iterator::operator*() const {
    if (is_at_end()) throw Error(ErrorKind::argument, "paths", "the iterator is at the end");
    return *state_->path;
}

PathRange::Iterator& PathRange::Iterator::operator++() {
    if (is_at_end()) throw Error(ErrorKind::argument, "paths", "the iterator is at the end");
    state_->advance();
    return *this;
}

Paths paths(const Graph& graph, const Context& context, const CompileOptions& options) {
    const TimingDb::ReadSnapshot reading(*context.impl()->timings);
    return Paths(std::make_shared<const PathSpace>(graph, context, options));
}

std::string to_string(const Path& path) {
    std::string text = fmt::format("{:.4g} s in runs, {} bytes kept\n", path.seconds(), path.kept_bytes());
    for (const PathStep& step : path.steps())
        text += fmt::format("  {}{}{} {:.4g} s {}{} | {}{}{}{}\n", step.bucket, step.bucket.empty() ? "" : " ",
                            step.kernel, step.seconds,
                            step.failure.empty() ? driver::time_provenance(step.measured, step.expected_from)
                                                 : "failed when measured " + step.failure,
                            step.at_bind ? " once" : "", step.problem, step.where.empty() ? "" : " (", step.where,
                            step.where.empty() ? "" : ")");
    return text;
}

std::ostream& operator<<(std::ostream& out, const Path& path) { return out << to_string(path); }

}  // namespace cairn::inline v0
