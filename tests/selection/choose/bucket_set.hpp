#pragma once

#include "cairn/graph.hpp"
#include "cairn/kernels.hpp"
#include "selection/choose/producers.hpp"

#include <deque>
#include <span>
#include <utility>
#include <vector>

namespace cairn::selection {

/// Programs that are selected together, with all that their buckets refer to.
class BucketSet {
public:
    void add(const Graph& graph, const KernelSet& kernels, const CostModel& costs, double weight = 1) {
        add(graph, kernels, costs, weight, kernels.definitions, {});
    }
    void add(const Graph& graph, const KernelSet& kernels, const CostModel& costs, double weight,
             std::span<const Definition> definitions, const fusion::Options& options,
             std::vector<accuracy::ErrorBudget> bounds = {}) {
        graphs_.push_back(graph);
        const ir::GraphData& data = *graphs_.back().data();
        matches_.push_back(fusion::propose(data, definitions, options));
        candidates_.emplace_back(data, kernels, levels::baseline, costs, true);
        bounds_.push_back(std::move(bounds));
        buckets_.push_back({data, matches_.back(), candidates_.back(), weight, bounds_.back()});
    }
    void clear() { *this = {}; }

    std::span<const Bucket> buckets() const noexcept { return buckets_; }

private:
    std::deque<Graph> graphs_;
    std::deque<std::vector<fusion::Match>> matches_;
    std::deque<Candidates> candidates_;
    std::deque<std::vector<accuracy::ErrorBudget>> bounds_;
    std::vector<Bucket> buckets_;
};

}  // namespace cairn::selection
