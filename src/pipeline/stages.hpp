#pragma once

#include "cairn/compile.hpp"
#include "fuse/tiles.hpp"
#include "pipeline/buckets.hpp"
#include "pipeline/stage_driver.hpp"
#include "runtime/program_set.hpp"
#include "select/reasons.hpp"
#include "select/rivals.hpp"
#include "select/select.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// The stages of a compile, in their order. Which of all ways to run is taken stands between prepare() and emit(): it
/// is for others to say.
namespace cairn::inline v0 {

/// What is known of a bucket before its program is made.
struct PreparedBucket {
    Cut cut;
    StageDriver driver;
    std::shared_ptr<ir::GraphData> graph;
    std::vector<fuse::Tile> tiles = {};
    std::vector<select::Bound> bounds = {};  ///< where any tolerance is not exact
    std::unique_ptr<select::Candidates> candidates = nullptr;
};

/// As select sees them; valid as long as the buckets stay where they are.
std::vector<select::Bucket> selectable(const std::vector<PreparedBucket>& buckets);

/// Of one run of each bucket, as often as it runs beside the others.
double expected_seconds(const std::vector<PreparedBucket>& buckets, const select::Selections& selections);

/// For the programs that a path became, and what others can gain at most (Explanation::most_gain). They share what was
/// kept of the choice.
runtime::Reasons reasons_of(std::shared_ptr<const select::Reasons> all, std::vector<int> path, double most_gain,
                            std::vector<ExplainedDuel> duels = {}, std::vector<TuningPoint> tuning = {},
                            std::vector<std::string> notes = {});

class Stages {
public:
    /// All three must outlive it; dumps and progress are called after `variant`, where there is one. Throws Error for
    /// options that are wrong, and for a graph that has no output or that this library cannot run.
    Stages(const Graph& graph, const Context& context, const CompileOptions& options, std::string variant = {});

    /// Where costs come from.
    const select::CostSource& costs() const noexcept { return costs_; }
    /// graph > simplify > expand > fuse > candidates > tune: the ways to run each bucket, and what they cost.
    std::vector<PreparedBucket> prepare();
    /// Wall clock that measuring took so far: calibrating and tuning.
    double measuring_seconds() const noexcept { return measuring_; }
    /// The cheapest covers of prepare()'s buckets, where they were found on the way there.
    std::optional<select::Selections> take_chosen() { return std::exchange(chosen_, std::nullopt); }
    /// What the runs of a compile that measures nothing call, where prepare() measured.
    const std::vector<select::Kind>& unmeasured_plan() const noexcept { return unmeasured_plan_; }
    /// What the plan in hand was expected to take meanwhile (tune/curve.hpp).
    const std::vector<TuningPoint>& curve() const noexcept { return curve_; }
    /// The program of a bucket by the ways chosen, its memory planned. `driver` is the bucket's, or a copy of it.
    program::Program program_of(PreparedBucket& bucket, const select::Selection& selection, StageDriver& driver) const;
    /// The same, with the sizes that it is for.
    runtime::BucketProgram emit(PreparedBucket& bucket, const select::Selection& selection, StageDriver& driver) const;
    /// The programs made ready to run, and to tell why they are what they are and what they were selected for.
    CompiledGraph link(std::vector<runtime::BucketProgram> buckets, runtime::Reasons reasons = nullptr,
                       runtime::Subject subject = {}) const;

private:
    std::string driver_name(const Cut& cut) const;
    void check_options() const;
    void check_graph() const;
    void set_up_costs();
    std::shared_ptr<const select::Priors> priors() const;
    fuse::Patterns patterns(const ir::GraphData& graph) const;
    PreparedBucket prepare(const Cut& cut) const;
    void tune(std::vector<PreparedBucket>& buckets);
    void plan(program::Program& program, StageDriver& driver) const;

    const ir::GraphData& graph_;
    const Context& context_;
    const CompileOptions& options_;
    std::string variant_;
    double measuring_ = 0;
    std::vector<select::Kind> unmeasured_plan_;
    std::vector<TuningPoint> curve_;
    std::optional<select::Selections> chosen_;
    select::CostSource costs_;
    runtime::ProgramSet frame_;  // all of the result but its programs: the graph may grow meanwhile
};

}  // namespace cairn::inline v0
