#pragma once

#include "fusion/match.hpp"
#include "graph/types/small_vector.hpp"
#include "selection/candidates/interned_problem.hpp"
#include "selection/cost/cost.hpp"

#include <cstdint>
#include <string_view>

/// A kernel that computes a tile, and from what.
namespace cairn::selection {

/// How an operand of a candidate is wanted.
enum class OperandForm : std::uint8_t {
    strided,  ///< where it lies, through its view
    dense,    ///< copied to memory of its own
    packed,   ///< in a packed layout
};

/// One operand: what has to be there, and how the kernel sees it.
struct KernelOperand {
    ir::NodeId node = 0;  ///< a spelling of the tile's input
    OperandForm form = OperandForm::strided;
    std::string_view layout = {};  ///< of a packed operand, as the kernel names it
    Device device = Device::cpu;   ///< in the memory of
    bool transferred = false;      ///< it may have been copied there
    friend bool operator==(const KernelOperand&, const KernelOperand&) = default;
};

/// Those of a candidate: mostly few.
using KernelOperands = types::SmallVector<KernelOperand, 3>;

/// A kernel for a tile.
struct Candidate {
    int match = -1;  ///< index among the tiles; -1 for a copy or a packing
    const Kernel* kernel = nullptr;
    ProblemHandle problem;    ///< valid as long as the Candidates it is of
    KernelOperands operands;  ///< of each problem input
    fusion::Nodes outputs;    ///< values that it makes, dense, each by its first spelling
    Estimate estimate;
    Device device = Device::cpu;  ///< in the memory of which its outputs lie
    double rounding = 0;          ///< the part of the error that is none of the kernel's
};

}  // namespace cairn::selection
