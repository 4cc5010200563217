#include "driver/state_storage.hpp"

#include "accuracy/budget/error_budget.hpp"
#include "driver/memory_limit.hpp"
#include "graph/ir/state_dtype_cast.hpp"

#include <algorithm>
#include <memory>

namespace cairn::driver {
namespace {

bool has_room(const ir::GraphData& graph, const CompileOptions& options) {
    const std::vector<accuracy::ErrorBudget> left = accuracy::subtract_state_rounding(
        graph, accuracy::error_budgets_of(graph, options.tolerance, options.output_tolerances));
    return std::all_of(left.begin(), left.end(), [](const accuracy::ErrorBudget& bound) { return bound.limit >= 0; });
}

}  // namespace

std::vector<StoredStates> narrower_states(const Graph& graph, const CompileOptions& options) {
    std::vector<StoredStates> found;
    if (has_memory_limit(options)) return found;
    for (const DType dtype : {DType::f16, DType::bf16})
        if (std::shared_ptr<ir::GraphData> stored = ir::cast_stored_states(*graph.data(), dtype);
            stored != nullptr && has_room(*stored, options))
            found.push_back({dtype, Graph(std::move(stored))});
    return found;
}

}  // namespace cairn::driver
