#include "driver/state_storage.hpp"

#include "graph/ir/state_dtype_cast.hpp"
#include "selection/choose/error_budget.hpp"

#include <algorithm>
#include <memory>

namespace cairn::driver {
namespace {

bool has_room(const ir::GraphData& graph, const CompileOptions& options) {
    const std::vector<selection::ErrorBudget> left = selection::less_state_rounding(
        graph, selection::error_budgets_of(graph, options.tolerance, options.output_tolerances));
    return std::all_of(left.begin(), left.end(), [](const selection::ErrorBudget& bound) { return bound.limit >= 0; });
}

}  // namespace

std::vector<StoredStates> narrower_states(const Graph& graph, const CompileOptions& options) {
    std::vector<StoredStates> found;
    if (options.memory_limit) return found;
    for (const DType dtype : {DType::f16, DType::bf16})
        if (std::shared_ptr<ir::GraphData> stored = ir::cast_stored_states(*graph.data(), dtype);
            stored != nullptr && has_room(*stored, options))
            found.push_back({dtype, Graph(std::move(stored))});
    return found;
}

}  // namespace cairn::driver
