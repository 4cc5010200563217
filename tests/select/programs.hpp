#pragma once

#include "cairn/graph.hpp"
#include "cairn/kernels.hpp"
#include "select/ways.hpp"

#include <deque>
#include <span>
#include <utility>
#include <vector>

namespace cairn::select {

/// Programs that are chosen together, with all that their buckets refer to.
class Programs {
public:
    void add(const Graph& graph, const KernelSet& kernels, const CostSource& costs, double weight = 1) {
        add(graph, kernels, costs, weight, kernels.definitions, {});
    }
    void add(const Graph& graph, const KernelSet& kernels, const CostSource& costs, double weight,
             std::span<const Definition> definitions, const fuse::Options& options, std::vector<Bound> bounds = {}) {
        graphs_.push_back(graph);
        const ir::GraphData& data = *graphs_.back().data();
        tiles_.push_back(fuse::propose(data, definitions, options));
        candidates_.emplace_back(data, kernels, levels::baseline, costs, true);
        bounds_.push_back(std::move(bounds));
        buckets_.push_back({data, tiles_.back(), candidates_.back(), weight, bounds_.back()});
    }
    void clear() { *this = {}; }

    std::span<const Bucket> buckets() const noexcept { return buckets_; }

private:
    std::deque<Graph> graphs_;
    std::deque<std::vector<fuse::Tile>> tiles_;
    std::deque<Candidates> candidates_;
    std::deque<std::vector<Bound>> bounds_;
    std::vector<Bucket> buckets_;
};

}  // namespace cairn::select
