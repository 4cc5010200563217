#include "accuracy/metric/float_limits.hpp"
#include "selection/candidates/candidates.hpp"

#include "graph/ir/op_table.hpp"
#include "graph/ir/state_dtype_cast.hpp"

#include <algorithm>
#include <utility>

// Operand alternatives of a match.
namespace cairn::selection {

using ir::NodeId;

/// The expressions under which a value lies in different memory: one in its own, and each view of another value.
std::vector<NodeId> Candidates::strided_expressions(NodeId value) const {
    std::vector<NodeId> found;
    bool is_own = false;
    for (const NodeId expression : classes_.expressions(value))
        if (views_[expression].base != expression || !std::exchange(is_own, true)) found.push_back(expression);
    return found;
}

KernelOperand Candidates::operand_of(NodeId node, OperandForm form, Device device) const {
    const bool is_viewable = form == OperandForm::strided;
    const NodeId memory_node = is_viewable ? views_[node].base : node;
    const ir::Node& memory = graph_->node(memory_node);
    const bool stays =
        ir::is_given(memory) || is_bound_on_cpu(memory_node) || (is_viewable && is_state_version(memory));
    return {node,
            form,
            {},
            device,
            !stays && !devices_.transferable.empty() && devices_.transferable[classes_.value_of(memory_node)]};
}

/// The combinations of expressions of all inputs, read in place; the first expressions in front. If there are too many
/// combinations, all inputs advance to their next expression together.
std::vector<KernelOperands> Candidates::strided_alternatives(const fusion::Match& match, Device device) const {
    constexpr std::size_t max_alternatives = 16;
    std::vector<std::vector<NodeId>> choices;
    std::size_t count = 1, most = 1;
    for (const NodeId input : match.inputs) {
        choices.push_back(strided_expressions(input));
        count = std::min(count * choices.back().size(), max_alternatives + 1);
        most = std::max(most, choices.back().size());
    }
    const bool together = count > max_alternatives;
    std::vector<KernelOperands> alternatives;
    for (std::size_t combination = 0; combination < (together ? most : count); ++combination) {
        std::size_t rest = combination;
        KernelOperands& operands = alternatives.emplace_back();
        for (const std::vector<NodeId>& choice : choices) {
            const std::size_t at = together ? std::min(combination, choice.size() - 1) : rest % choice.size();
            rest /= choice.size();
            operands.push_back(operand_of(choice[at], OperandForm::strided, device));
        }
    }
    return alternatives;
}

/// The same with a dense copy of each view; empty if none is a view.
std::optional<KernelOperands> Candidates::with_copies(KernelOperands operands) const {
    bool any = false;
    for (KernelOperand& operand : operands) {
        if (!is_view(operand.node)) continue;
        operand = operand_of(classes_.value_of(operand.node), OperandForm::dense, operand.device);
        any = true;
    }
    return any ? std::optional(std::move(operands)) : std::nullopt;
}

/// The dtypes of the rounded forms of inputs that the kernel widens itself, each once.
std::vector<DType> Candidates::rounded_dtypes(const Kernel& kernel, const fusion::Match& match) const {
    std::vector<DType> dtypes;
    for (const int input : kernel.widened_inputs) {
        if (static_cast<std::size_t>(input) >= match.inputs.size()) continue;
        for (const NodeId narrow : classes_.rounded(match.inputs[static_cast<std::size_t>(input)]))
            if (const DType dtype = graph_->node(narrow).dtype;
                std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end())
                dtypes.push_back(dtype);
    }
    return dtypes;
}

/// The operands with those that the kernel widens itself read as stored; with `rounded`, other widened inputs in their
/// rounded forms of that dtype. Empty if there are none or if they cannot be read on the device.
std::optional<KernelOperands> Candidates::as_stored(const Kernel& kernel, const fusion::Match& match,
                                                    const KernelOperands& strided, std::optional<DType> rounded) const {
    KernelOperands stored = strided;
    bool any = false;
    for (const int input : kernel.widened_inputs) {
        const auto i = static_cast<std::size_t>(input);
        if (i >= match.inputs.size()) continue;
        for (const NodeId narrow : classes_.rounded(match.inputs[i])) {
            if (graph_->node(narrow).dtype != rounded) continue;
            stored[i] = operand_of(narrow, OperandForm::strided, strided[i].device);
            any = true;
        }
        for (const NodeId expression : classes_.expressions(match.inputs[i])) {
            const ir::Node& node = graph_->node(expression);
            if (node.op != ir::Op::cast || !is_widening(graph_->node(node.operands[0]).dtype, node.dtype)) continue;
            stored[i] = operand_of(node.operands[0], OperandForm::strided, strided[i].device);
            any = true;
            break;
        }
    }
    const bool is_viewable = std::all_of(stored.begin(), stored.end(), [&](const KernelOperand& operand) {
        return can_be_viewed(operand.node, operand.device);
    });
    return any && is_viewable ? std::optional(std::move(stored)) : std::nullopt;
}

double Candidates::rounding_in(const fusion::Match& match) const {
    double error = 0;
    if (classes_.all_rounded().empty()) return error;
    const auto add = [&](NodeId id) {
        const ir::Node& node = graph_->node(id);
        if (node.op == ir::Op::cast && classes_.is_rounded(node.operands[0], id))
            error = accuracy::combined_error(error, accuracy::unit_roundoff(node.dtype));
    };
    for (const NodeId id : match.computed()) add(id);
    for (const NodeId id : match.interior) add(id);
    return error;
}

}  // namespace cairn::selection
