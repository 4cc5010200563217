#include "accuracy/budget/error_budget.hpp"

#include "accuracy/metric/float_limits.hpp"
#include "cairn/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>

namespace cairn::accuracy {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The tolerances of outputs that have their own, by output name.
std::map<std::string_view, Tolerance> by_name(const ir::GraphData& graph, std::span<const OutputTolerance> own) {
    std::set<std::string_view> names;
    for (const ir::Output& output : graph.outputs()) names.insert(output.name);
    std::map<std::string_view, Tolerance> result;
    for (const OutputTolerance& one : own) {
        if (!names.contains(one.output))
            throw Error(ErrorKind::argument, "tolerance", fmt::format("there is no output called \"{}\"", one.output));
        if (!result.emplace(one.output, one.tolerance).second)
            throw Error(ErrorKind::argument, "tolerance", fmt::format("output \"{}\" has two", one.output));
    }
    return result;
}

}  // namespace

std::vector<ErrorBudget> error_budgets_of(const ir::GraphData& graph, const Tolerance& all,
                                          std::span<const OutputTolerance> own) {
    const std::map<std::string_view, Tolerance> of_output = by_name(graph, own);
    std::vector<ErrorBudget> bounds;
    for (const ir::Output& output : graph.outputs()) {
        const auto it = of_output.find(output.name);
        const Tolerance& tolerance = it == of_output.end() ? all : it->second;
        const auto port = static_cast<int>(bounds.size());
        bounds.push_back({fmt::format("output \"{}\"", output.name), output.node, tolerance.error(), false, port});
    }
    const alternatives::EClasses single(graph);
    const ErrorInfluence outputs(graph, single, bounds);
    std::vector<ErrorBudget> of_states;
    for (std::size_t s = 0; s < graph.states().size(); ++s)
        if (const ir::StateInfo& state = graph.states()[s];
            state.latest != state.read && outputs.limit(state.latest) == infinity)
            of_states.push_back(error_budget_of_state(graph, static_cast<int>(s), all.error()));
    bounds.insert(bounds.end(), of_states.begin(), of_states.end());
    return bounds;
}

ErrorBudget error_budget_of_state(const ir::GraphData& graph, int state, double limit) {
    const ir::StateInfo& info = graph.states()[static_cast<std::size_t>(state)];
    return {fmt::format("state \"{}\"", info.name), info.latest, limit, true, state};
}

std::vector<ErrorBudget> scaled_budgets(std::vector<ErrorBudget> bounds, double scale) {
    for (ErrorBudget& bound : bounds) {
        bound.limit *= scale;
        bound.scale *= scale;
    }
    return bounds;
}

double rounding_in(const ir::GraphData& graph, const ErrorInfluence& influence, std::size_t bound) {
    double error = 0;
    for (const ir::StateInfo& state : graph.states())
        if (state.public_dtype && influence.influences(state.latest, bound))
            error = combined_error(error, unit_roundoff(state.dtype));
    return error;
}

std::vector<ErrorBudget> subtract_state_rounding(const ir::GraphData& graph, std::vector<ErrorBudget> bounds) {
    const alternatives::EClasses single(graph);
    const std::vector<ErrorBudget> whole = bounds;
    const ErrorInfluence influence(graph, single, whole);
    for (std::size_t b = 0; b < bounds.size(); ++b) {
        const double rounding = rounding_in(graph, influence, b), limit = bounds[b].limit;
        bounds[b].rounding = rounding;
        bounds[b].limit = rounding > limit ? limit - rounding : std::sqrt((limit - rounding) * (limit + rounding));
    }
    return bounds;
}

ErrorInfluence::ErrorInfluence(const ir::GraphData& graph, const alternatives::EClasses& classes,
                               std::span<const ErrorBudget> bounds)
    : graph_(&graph), classes_(&classes), bounds_(bounds), influenced_(bounds.size()) {
    for (const ir::StateInfo& state : graph.states()) state_writes_.emplace(state.read, state.latest);
}

void ErrorInfluence::visit_producers(ir::NodeId from, const std::function<bool(ir::NodeId)>& enter) const {
    std::vector<ir::NodeId> open;
    const auto reach = [&](ir::NodeId id) {
        const ir::NodeId value = classes_->value_of(id);
        for (const ir::NodeId expression : classes_->expressions(value))
            if (++visits_; enter(expression)) open.push_back(expression);
        // The rounded value may be read in its place.
        for (const ir::NodeId narrow : classes_->rounded(value))
            if (enter(narrow)) open.push_back(narrow);
    };
    reach(from);
    while (!open.empty()) {
        const ir::NodeId next = open.back();
        open.pop_back();
        for (const ir::NodeId operand : graph_->node(next).operands) reach(operand);
        if (const auto left = state_writes_.find(next); left != state_writes_.end()) reach(left->second);
    }
}

const std::vector<bool>& ErrorInfluence::influenced_nodes(std::size_t bound) const {
    std::vector<bool>& marked = influenced_[bound];
    if (!marked.empty()) return marked;
    marked.resize(graph_->nodes().size(), false);
    visit_producers(bounds_[bound].node, [&](ir::NodeId id) {
        const bool is_first = !marked[id];
        marked[id] = true;
        return is_first;
    });
    return marked;
}

double ErrorInfluence::limit(ir::NodeId node) const {
    if (limits_.empty()) {
        limits_.assign(graph_->nodes().size(), infinity);
        std::vector<const ErrorBudget*> order;
        for (const ErrorBudget& bound : bounds_) order.push_back(&bound);
        std::sort(order.begin(), order.end(),
                  [](const ErrorBudget* a, const ErrorBudget* b) { return a->limit < b->limit; });
        for (const ErrorBudget* bound : order)
            visit_producers(bound->node, [&](ir::NodeId id) {
                const bool is_first = limits_[id] == infinity;
                if (is_first) limits_[id] = bound->limit;
                return is_first;
            });
    }
    return limits_[node];
}

}  // namespace cairn::accuracy
