#pragma once

#include "graph/ir/graph_data.hpp"
#include "rewrite/alternatives/e_classes.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace cairn::alternatives {

/// Options of expand().
struct Options {
    std::stop_token stop = {};               ///< throws Cancelled
    std::vector<std::string> disabled = {};  ///< names of disabled rules
    /// True if there are kernels that widen operands themselves (Kernel::widened_inputs): operands of products may
    /// then be read rounded (EClasses::rounded).
    bool round_operands = false;
};

/// A graph with further expressions of its values, and their e-classes.
struct Expansion {
    std::shared_ptr<ir::GraphData> graph;
    EClasses classes;
};

/// Equality saturation: adds equivalent expressions that pay only sometimes; the search chooses among them by time. The
/// graph is rewritten with bound values first, so that every expression of a value comes before every user of any of
/// them. Names, lines, outputs, states and shapes stay.
///
///     %3 = matmul %0, %1        %2 = concat %1, %5     %3 = matmul %0, %1     %6 = matmul %0, %5    %3 = %4 exact
///     %6 = matmul %0, %5   ->   %x = matmul %0, %2     %4 = slice %x          %7 = slice %x         %6 = %7 exact
///
/// Runs after simplify, which reduces every value to its simplest expression.
Expansion expand(const ir::GraphData& graph, const Options& options = {});

}  // namespace cairn::alternatives
