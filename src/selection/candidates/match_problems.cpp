#include "graph/ir/op_table.hpp"
#include "selection/candidates/candidates.hpp"
#include "selection/candidates/result_view.hpp"

#include <algorithm>
#include <utility>

// Problems of matches.
namespace cairn::selection {

using ir::NodeId;

namespace {

bool broadcasts_inputs(const std::string& definition) {
    if (definition == "elementwise") return true;
    const auto op = ir::find_op(definition);
    return op && ir::info(*op).kind == ir::OpClass::elementwise;
}

}  // namespace

bool Candidates::changes_state(const fusion::Match& match) const {
    const ir::Node& node = graph_->node(match.outputs[0]);
    return ir::is(node, ir::OpClass::effect) && match.definition == ir::info(node.op).name;
}

const TensorDesc* Candidates::describe(const KernelOperand& operand) {
    if (operand.form == OperandForm::strided) return signatures_.strided(operand.node);
    const ir::Node& node = graph_->node(operand.node);
    TensorDesc desc = TensorDesc::dense(node.dtype, node.shape);
    if (operand.form == OperandForm::packed) desc.layout = operand.layout;
    desc.bound = bound_[operand.node];
    return query_cache_.desc_interner().of(desc);
}

const TensorDesc* Candidates::dense_desc(NodeId id) {
    const ir::Node& node = graph_->node(id);
    if (dense_descs_[id] == nullptr)
        dense_descs_[id] = query_cache_.desc_interner().of(TensorDesc::dense(node.dtype, node.shape));
    return dense_descs_[id];
}

/// Follows problem.hpp: broadcasting is stride 0. `is_product`: the last two axes are the matrix's own.
const TensorDesc* Candidates::expanded(const TensorDesc* input, const TensorDesc* output, bool is_product) {
    if (!input->layout.empty() || input->shape == output->shape) return input;
    const TensorDesc*& known = expanded_[is_product ? 1 : 0][{input, output}];
    if (known == nullptr) {
        TensorDesc desc = *input;
        desc.shape = output->shape;
        if (is_product) std::copy(input->shape.end() - 2, input->shape.end(), desc.shape.end() - 2);
        desc.strides = broadcast_strides(input->shape, input->strides, desc.shape);
        known = query_cache_.desc_interner().of(desc);
    }
    return known;
}

/// Writes a result to the place that it is moved to. False if strides cannot express that.
bool Candidates::describe_result_view(const fusion::Match& match, std::size_t output) {
    // With several outputs the inputs cannot take the shape of each of them.
    const bool by_element = broadcasts_inputs(match.definition) && match.outputs.size() == 1;
    const auto view = match.attributes.has("columns") ? columns_view(*graph_, match, output, views_)
                                                      : result_view(*graph_, match, output, views_, by_element);
    if (!view) return false;
    const auto described = [&](TensorDesc desc, std::vector<Dim> strides) {
        desc.shape = view->shape;
        desc.strides = std::move(strides);
        return query_cache_.desc_interner().of(desc);
    };
    if (view->moves > 0 && by_element)
        for (const TensorDesc*& input : inputs_) {
            auto strides = strides_through(*graph_, match.moved[output], view->moves, input->strides);
            if (!strides) return false;
            input = described(*input, std::move(*strides));
        }
    outputs_[output] = described(*outputs_[output], view->strides);
    return true;
}

/// Null if strides cannot express operands or results. `layouts`: computed layouts of the results, if any.
KernelQuery* Candidates::query_of(const fusion::Match& match, const KernelOperands& operands,
                                  const LayoutNames& layouts) {
    static const Attributes none;
    inputs_.clear();
    outputs_.clear();
    for (const KernelOperand& operand : operands) inputs_.push_back(describe(operand));
    for (const NodeId computed : match.computed()) outputs_.push_back(dense_desc(computed));
    const bool is_fused = match.definition == "fused", is_matmul = match.definition == "matmul";
    const std::size_t factors = is_fused || is_matmul ? 2 : 0;
    // A definition in place of the matmul reads its operands unexpanded.
    const std::size_t first = is_fused && !match.body.begins_with(ir::Op::matmul) ? factors : 0;
    if (factors > 0 || broadcasts_inputs(match.definition))
        for (std::size_t i = first; i < inputs_.size(); ++i)
            inputs_[i] = expanded(inputs_[i], outputs_.at(0), i < factors);
    for (std::size_t i = 0; i < match.moved.size(); ++i)
        if (match.is_moved(i) && !describe_result_view(match, i)) return nullptr;
    for (std::size_t i = 0; i < layouts.size(); ++i) {
        if (layouts[i].empty()) continue;
        TensorDesc desc = *outputs_[i];
        desc.layout = layouts[i];
        outputs_[i] = query_cache_.desc_interner().of(desc);
    }
    ProblemRef problem{match.definition, &match.attributes, &match.body, match.results, inputs_, outputs_};
    if (changes_state(match)) {
        // The new rows are written to their place in the state's memory; older rows are untouched.
        TensorDesc rows = *inputs_.back();
        rows.strides = views_[match.outputs[0]].strides;
        rows.bound = false;
        outputs_ = {query_cache_.desc_interner().of(rows)};
        problem.definition = "copy";
        problem.attributes = &none;
        problem.inputs = problem.inputs.subspan(1);
        problem.outputs = outputs_;
    }
    return &query_cache_.query(problem);
}

}  // namespace cairn::selection
