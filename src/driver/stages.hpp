#pragma once

#include "cairn/compile.hpp"
#include "driver/buckets.hpp"
#include "driver/stage_driver.hpp"
#include "driver/verification_record.hpp"
#include "fusion/match.hpp"
#include "runtime/program_set.hpp"
#include "selection/choose/challenger_covers.hpp"
#include "selection/choose/select.hpp"
#include "selection/explain/explainer.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// The stages of a compile, in their order. The choice of covers, between prepare() and emit(), is left to the callers.
namespace cairn::driver {

/// A bucket before its program is emitted.
struct PreparedBucket {
    BucketRanges cut;
    StageDriver driver;
    std::shared_ptr<ir::GraphData> graph;
    std::vector<fusion::Match> matches = {};
    std::vector<accuracy::ErrorBudget> bounds = {};  ///< only if a tolerance is not exact
    std::unique_ptr<selection::Candidates> candidates = nullptr;
};

/// The buckets as the selection reads them; valid until the vector or its buckets change.
std::vector<selection::Bucket> selection_buckets(const std::vector<PreparedBucket>& buckets);

/// Expected time of one run of each bucket, times its weight.
double expected_seconds(const std::vector<PreparedBucket>& buckets, const selection::Selections& selections);

/// Explains the programs of a path; `optimality_gap` is Explanation::optimality_gap. All programs of one search share
/// the record `all`.
runtime::Explainer explainer_of(std::shared_ptr<const selection::Explainer> all, std::vector<int> path,
                                double optimality_gap, std::vector<ProgramTrial> trials = {},
                                std::vector<TuningPoint> tuning = {}, std::vector<std::string> notes = {});

class Stages {
public:
    /// All three arguments must outlive this object. `variant` prefixes the names in dumps and progress reports. Throws
    /// Error for invalid options, and for a graph that has no output or that this library cannot run.
    Stages(const Graph& graph, const Context& context, const CompileOptions& options, std::string variant = {});

    /// The source of costs.
    const selection::CostModel& costs() const noexcept { return costs_; }
    /// graph > simplify > expand > fuse > candidates > tune: the candidates of each bucket, with their costs.
    std::vector<PreparedBucket> prepare();
    /// Notes on what the selection is based on: times (timing_notes()) and verifications of earlier programs.
    std::vector<std::string> notes() const;
    /// Wall-clock seconds of measuring so far: calibration and tuning.
    double measuring_seconds() const noexcept { return measuring_; }
    /// The cheapest covers of prepare()'s buckets, if prepare() has selected them already.
    std::optional<selection::Selections> take_selection() { return std::exchange(chosen_, std::nullopt); }
    /// The call kinds that a compile without measuring would choose; empty if prepare() has not measured.
    const std::vector<selection::CallKind>& unmeasured_plan() const noexcept { return unmeasured_plan_; }
    /// Expected time of the plan during the tune (autotune/policy/tuning_progress.hpp).
    const std::vector<TuningPoint>& curve() const noexcept { return curve_; }
    /// The program of a bucket for a selection, with its memory planned. `driver` is the bucket's or a copy of it.
    program::Program program_of(PreparedBucket& bucket, const selection::Selection& selection,
                                StageDriver& driver) const;
    /// The same, with its ranges of sizes.
    runtime::BucketProgram emit(PreparedBucket& bucket, const selection::Selection& selection,
                                StageDriver& driver) const;
    /// Links the programs, with their explanation and the key of their selection.
    CompiledGraph link(std::vector<runtime::BucketProgram> buckets, runtime::Explainer explainer = nullptr,
                       runtime::SelectionKey selection_key = {}) const;

private:
    std::string driver_name(const BucketRanges& cut) const;
    void check_options() const;
    void check_graph() const;
    void set_up_costs();
    void set_up_verifications(const Graph& graph);
    double scale_of_lock(const BucketRanges& cut, double tolerance) const;
    void set_up_tolerance(std::span<const BucketRanges> cuts);
    std::vector<accuracy::ErrorBudget> budgets(const ir::GraphData& graph, const BucketRanges& cut) const;
    void set_up_devices(double seconds);
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
    std::optional<VerificationRecord> verifications_;  // of inexact programs of the graph; none without a database
    bool replays_covers_ = false;                      // the lock of costs_ is of this graph and tolerance
    std::vector<std::vector<runtime::Range>> ranges_;  // of all buckets
    selection::CostModel costs_;
    runtime::ProgramSet result_template_;  // the result without programs; the graph may grow meanwhile
};

}  // namespace cairn::driver
