#pragma once

#include "cairn/compile.hpp"
#include "driver/buckets.hpp"
#include "driver/stage_driver.hpp"
#include "fusion/match.hpp"
#include "runtime/program_set.hpp"
#include "selection/choose/challenger_covers.hpp"
#include "selection/choose/select.hpp"
#include "selection/explain/explainer.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// The stages of a compile, in their order. Which of all ways to run is taken stands between prepare() and emit(): it
/// is for others to say.
namespace cairn::driver {

/// What is known of a bucket before its program is made.
struct PreparedBucket {
    BucketRanges cut;
    StageDriver driver;
    std::shared_ptr<ir::GraphData> graph;
    std::vector<fusion::Match> matches = {};
    std::vector<accuracy::ErrorBudget> bounds = {};  ///< where any tolerance is not exact
    std::unique_ptr<selection::Candidates> candidates = nullptr;
};

/// As select sees them; valid as long as the buckets stay where they are.
std::vector<selection::Bucket> selection_buckets(const std::vector<PreparedBucket>& buckets);

/// Of one run of each bucket, as often as it runs beside the others.
double expected_seconds(const std::vector<PreparedBucket>& buckets, const selection::Selections& selections);

/// For the programs that a path became, and what others can gain at most (Explanation::optimality_gap). They share what
/// was kept of the choice.
runtime::Explainer explainer_of(std::shared_ptr<const selection::Explainer> all, std::vector<int> path,
                                double optimality_gap, std::vector<ProgramTrial> trials = {},
                                std::vector<TuningPoint> tuning = {}, std::vector<std::string> notes = {});

class Stages {
public:
    /// All three must outlive it; dumps and progress are called after `variant`, where there is one. Throws Error for
    /// options that are wrong, and for a graph that has no output or that this library cannot run.
    Stages(const Graph& graph, const Context& context, const CompileOptions& options, std::string variant = {});

    /// Where costs come from.
    const selection::CostModel& costs() const noexcept { return costs_; }
    /// graph > simplify > expand > fuse > candidates > tune: the ways to run each bucket, and what they cost.
    std::vector<PreparedBucket> prepare();
    /// Wall clock that measuring took so far: calibrating and tuning.
    double measuring_seconds() const noexcept { return measuring_; }
    /// The cheapest covers of prepare()'s buckets, where they were found on the way there.
    std::optional<selection::Selections> take_chosen() { return std::exchange(chosen_, std::nullopt); }
    /// What the runs of a compile that measures nothing call, where prepare() measured.
    const std::vector<selection::CallKind>& unmeasured_plan() const noexcept { return unmeasured_plan_; }
    /// What the plan in hand was expected to take meanwhile (autotune/policy/tuning_progress.hpp).
    const std::vector<TuningPoint>& curve() const noexcept { return curve_; }
    /// The program of a bucket by the ways chosen, its memory planned. `driver` is the bucket's, or a copy of it.
    program::Program program_of(PreparedBucket& bucket, const selection::Selection& selection,
                                StageDriver& driver) const;
    /// The same, with the sizes that it is for.
    runtime::BucketProgram emit(PreparedBucket& bucket, const selection::Selection& selection,
                                StageDriver& driver) const;
    /// The programs made ready to run, and to tell why they are what they are and what they were selected for.
    CompiledGraph link(std::vector<runtime::BucketProgram> buckets, runtime::Explainer explainer = nullptr,
                       runtime::SelectionKey selection_key = {}) const;

private:
    std::string driver_name(const BucketRanges& cut) const;
    void check_options() const;
    void check_graph() const;
    void set_up_costs();
    std::shared_ptr<const selection::Priors> priors() const;
    fusion::Patterns patterns(const ir::GraphData& graph) const;
    PreparedBucket prepare(const BucketRanges& cut) const;
    void tune(std::vector<PreparedBucket>& buckets);
    void plan(program::Program& program, StageDriver& driver) const;

    const ir::GraphData& graph_;
    const Context& context_;
    const CompileOptions& options_;
    std::string variant_;
    double measuring_ = 0;
    std::vector<selection::CallKind> unmeasured_plan_;
    std::vector<TuningPoint> curve_;
    std::optional<selection::Selections> chosen_;
    selection::CostModel costs_;
    runtime::ProgramSet result_template_;  // all of the result but its programs: the graph may grow meanwhile
};

}  // namespace cairn::driver
