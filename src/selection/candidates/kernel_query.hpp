#pragma once

#include "cairn/explanation.hpp"
#include "graph/types/hash_index.hpp"
#include "selection/candidates/interned_problem.hpp"
#include "selection/cost/cost.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

/// Kernel query cache: answers of kernels to problems. Equal problems (of equal layers) are queried once.
namespace cairn::selection {

/// A kernel's answer.
struct QueryResult {
    Refusal refusal;    ///< empty: accepted
    Estimate estimate;  ///< valid if accepted
    bool prepared = false;
    RefusedBy by = RefusedBy::none;
};

/// A problem with the answers of the kernels queried so far.
class KernelQuery {
public:
    KernelQuery(const ProblemRef& problem, std::pmr::memory_resource& pool)
        : problem_(problem, pool), answers_(&pool) {}
    ProblemHandle problem() const noexcept { return ProblemHandle(problem_); }
    /// Calls visit(kernel, query_result) for each kernel that has answered.
    template <typename Visit>
    void for_each_answer(const Visit& visit) const {
        for (const Answer& answer : answers_) visit(*answer.kernel, answer.query_result);
    }

private:
    friend class KernelQueryCache;
    /// The last stage evaluated; a refusal comes from it.
    enum class QueryStage : std::uint8_t { nothing, accepts, redundant, error, cost, workspace, all };
    struct Answer {
        const Kernel* kernel;
        QueryStage asked = QueryStage::nothing;
        QueryResult query_result = {};
    };

    InternedProblem problem_;
    std::vector<SizedProblem> sized_;
    std::pmr::vector<Answer> answers_;
};

class KernelQueryCache {
public:
    KernelQueryCache(const KernelSet& kernels, FeatureSet features, const CostModel& costs, const Symbols& symbols);

    /// Replaces the costs, also for answers already given. The rules stay.
    void set_costs(const CostModel& costs);
    /// The largest error allowed by the current costs.
    double tolerance() const noexcept { return costs_.tolerance; }
    const CostModel& costs() const noexcept { return costs_; }
    /// The query of a problem whose descriptions are from desc_interner(). The reference is stable.
    KernelQuery& query(const ProblemRef& problem);
    KernelQuery& query(const Problem& problem);
    TensorDescInterner& desc_interner() noexcept { return desc_interner_; }
    /// Kernels for this definition, in registration order, each at its first setting.
    std::span<const Kernel* const> kernels_of(const std::string& definition) const;
    /// The setting of a kernel to use for a query: the first, unless another is known to be faster, or rules or the
    /// lock exclude the first.
    const Kernel& best_setting(KernelQuery& query, const Kernel& kernel);
    /// A kernel at each setting allowed for a query, the first in front; empty for a kernel without knobs.
    std::vector<const Kernel*> settings(const KernelQuery& query, const Kernel& kernel) const;
    /// A kernel's answer. The reference is valid until another kernel is queried.
    const QueryResult& query_result(KernelQuery& query, const Kernel& kernel) {
        return answer(query, kernel).query_result;
    }
    /// The computed layout in which a kernel writes an output of a query with plain outputs; empty for plain memory,
    /// and if its function throws. The text is stable. Throws Error(argument) for a layout that is unknown.
    std::string_view output_layout(KernelQuery& query, const Kernel& kernel, int output);
    /// Frees what a query can compute again.
    static void release_memory(KernelQuery& query);
    /// Lets a kernel prepare a problem that it accepts. False: preparing failed, and the kernel refuses it from then
    /// on.
    bool can_prepare(KernelQuery& query, const Kernel& kernel);

private:
    KernelQuery::Answer& answer(KernelQuery& query, const Kernel& kernel) const;
    void evaluate(KernelQuery& query, KernelQuery::Answer& answer) const;
    void reevaluate(KernelQuery& query, KernelQuery::Answer& answer) const;
    std::span<const Kernel* const> settings_besides_first(const Kernel& kernel) const;
    bool is_known(KernelQuery& query, const Kernel& setting) const;
    Refusal excluded_by_rule(const Kernel& kernel, const KernelQuery& query) const;
    bool can_compute(const Kernel& kernel, const Problem& problem) const;
    Refusal accepts(const Kernel& kernel, const KernelQuery& query) const;
    Refusal redundant(const Kernel& kernel, const Problem& problem) const;
    void describe_failure(KernelQuery& query, Estimate& estimate) const;
    Refusal error(const Kernel& kernel, KernelQuery& query, Estimate& estimate) const;
    Refusal look_up_in_lock(const Kernel& kernel, const KernelQuery& query, Estimate& estimate) const;
    Refusal exceeds_tolerance(double error, bool is_measured) const;
    Refusal workspace(const Kernel& kernel, const KernelQuery& query) const;
    std::span<const SizedProblem> sized(KernelQuery& query) const;

    FeatureSet features_;
    CostModel costs_;
    const Symbols* symbols_;
    std::vector<std::vector<std::int64_t>> sizes_;
    std::unordered_map<std::string, std::vector<const Kernel*>> kernels_;        // by definition
    std::unordered_map<std::string_view, std::vector<const Kernel*>> settings_;  // besides the first, by that one's id
    const KernelSet* kernel_set_;
    std::set<std::string, std::less<>> layout_names_;
    std::map<std::tuple<const KernelQuery*, const Kernel*, int>, std::string_view> output_layouts_;
    TensorDescInterner desc_interner_;
    std::pmr::monotonic_buffer_resource pool_;
    std::pmr::deque<KernelQuery> queries_{&pool_};
    types::HashIndex index_;  // of `queries_`, by hash
};

}  // namespace cairn::selection
