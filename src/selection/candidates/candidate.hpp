#pragma once

#include "accuracy/metric/combined_error.hpp"
#include "fusion/match.hpp"
#include "graph/types/small_vector.hpp"
#include "selection/candidates/interned_problem.hpp"
#include "selection/cost/cost.hpp"

#include <cstdint>
#include <string_view>

/// A candidate: a kernel that computes a match, with the forms of its operands.
namespace cairn::selection {

/// The form in which a candidate needs an operand.
enum class OperandForm : std::uint8_t {
    strided,  ///< read in place, through its view
    dense,    ///< copied densely to memory of its own
    packed,   ///< in a packed or computed layout
};

/// One operand: the node that is read, and the form in which the kernel reads it.
struct KernelOperand {
    ir::NodeId node = 0;  ///< an expression of the match's input
    OperandForm form = OperandForm::strided;
    std::string_view layout = {};  ///< of an operand that is not plain, as the kernel names it
    Device device = Device::cpu;   ///< device whose memory holds it
    bool transferred = false;      ///< it may have been copied to that device
    friend bool operator==(const KernelOperand&, const KernelOperand&) = default;
};

/// Names of layouts, in the order of outputs or operands; empty: plain memory.
using LayoutNames = types::SmallVector<std::string_view, 2>;

/// The operands of a candidate; usually few.
using KernelOperands = types::SmallVector<KernelOperand, 3>;

/// A kernel for a match.
struct Candidate {
    int match = -1;  ///< index of the match; -1 for a copy or a packing
    const Kernel* kernel = nullptr;
    ProblemHandle problem;    ///< valid as long as the Candidates that made it
    KernelOperands operands;  ///< one for each problem input
    fusion::Nodes outputs;    ///< values that it computes; each named by its first expression
    Estimate estimate;
    Device device = Device::cpu;      ///< device whose memory holds its outputs
    double rounding = 0;              ///< error of the match's own roundings; the kernel's is in `estimate`
    LayoutNames output_layouts = {};  ///< one for each output; empty list: all dense

    /// The relative error of its outputs, of the kernel and of roundings.
    double error() const { return accuracy::combined_error(estimate.error, rounding); }
};

}  // namespace cairn::selection
