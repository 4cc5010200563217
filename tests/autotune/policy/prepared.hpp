#pragma once

#include "driver/stages.hpp"

#include <deque>
#include <vector>

namespace cairn::test {

/// A graph prepared for selection, and the programs of given selections.
class PreparedGraph {
public:
    PreparedGraph(const Graph& given, const Context& with, CompileOptions as = {})
        : graph(given),
          context(with),
          options(std::move(as)),
          stages(graph, context, options),
          all(stages.prepare()),
          buckets(driver::selection_buckets(all)) {}
    PreparedGraph(const PreparedGraph&) = delete;
    PreparedGraph& operator=(const PreparedGraph&) = delete;

    selection::Selections choose(const selection::Options& select_options = {}) const {
        return selection::select(buckets, select_options);
    }
    program::Program program_of(std::size_t bucket, const selection::Selection& cover) {
        driver::StageDriver driver(options, "");
        return stages.program_of(all[bucket], cover, driver);
    }

    const Graph graph;
    const Context context;
    const CompileOptions options;
    driver::Stages stages;
    std::vector<driver::PreparedBucket> all;
    const std::vector<selection::Bucket> buckets;
};

}  // namespace cairn::test
