#pragma once

#include "graph/ir/graph_data.hpp"
#include "rewrite/alternatives/e_classes.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace cairn::alternatives {

struct Options {
    std::stop_token stop = {};               ///< throws Cancelled
    std::vector<std::string> disabled = {};  ///< names of rows not to use
    /// Whether there are kernels that widen operands themselves (Kernel::widens): what products read may then be read
    /// rounded (EClasses::rounded).
    bool round_operands = false;
};

/// A graph with further spellings of its values, and which nodes are spellings of one or a value rounded.
struct Expansion {
    std::shared_ptr<ir::GraphData> graph;
    EClasses classes;
};

/// Other ways to write the same values, which pay only sometimes: the search chooses among them by time. The graph is
/// written anew, bound values first, so that every spelling of a value comes before every user of any of them; names,
/// lines, outputs, states and shapes stay.
///
///     %3 = matmul %0, %1        %2 = concat %1, %5     %3 = matmul %0, %1     %6 = matmul %0, %5    %3 = %4 exact
///     %6 = matmul %0, %5   ->   %x = matmul %0, %2     %4 = slice %x          %7 = slice %x         %6 = %7 exact
///
/// Comes after simplify, which writes every value in its plainest spelling.
Expansion expand(const ir::GraphData& graph, const Options& options = {});

}  // namespace cairn::alternatives
