#include "ir/op_table.hpp"
#include "select/candidates.hpp"
#include "select/moved_results.hpp"

#include <algorithm>
#include <utility>

// What a tile asks of kernels.
namespace cairn::inline v0::select {

using ir::NodeId;

namespace {

bool broadcasts_inputs(const std::string& definition) {
    if (definition == "elementwise") return true;
    const auto op = ir::find_op(definition);
    return op && ir::info(*op).kind == ir::OpClass::elementwise;
}

}  // namespace

bool Candidates::changes_state(const fuse::Tile& tile) const {
    const ir::Node& node = graph_->node(tile.outputs[0]);
    return ir::is(node, ir::OpClass::effect) && tile.definition == ir::info(node.op).name;
}

const TensorDesc* Candidates::describe(const Source& source) {
    if (source.form == Form::seen) return looks_.seen(source.node);
    const ir::Node& node = graph_->node(source.node);
    TensorDesc desc = TensorDesc::dense(node.dtype, node.shape);
    if (source.form == Form::packed) desc.layout = source.layout;
    desc.bound = bound_[source.node];
    return judge_.descs().of(desc);
}

const TensorDesc* Candidates::made(NodeId id) {
    const ir::Node& node = graph_->node(id);
    if (made_[id] == nullptr) made_[id] = judge_.descs().of(TensorDesc::dense(node.dtype, node.shape));
    return made_[id];
}

/// The conventions of problem.hpp: broadcasting shows as stride 0; `is_product`: of matrices that are multiplied.
const TensorDesc* Candidates::expanded(const TensorDesc* input, const TensorDesc* output, bool is_product) {
    if (!input->layout.empty() || input->shape == output->shape) return input;
    const TensorDesc*& known = expanded_[is_product ? 1 : 0][{input, output}];
    if (known == nullptr) {
        TensorDesc desc = *input;
        desc.shape = output->shape;
        if (is_product) std::copy(input->shape.end() - 2, input->shape.end(), desc.shape.end() - 2);
        desc.strides = broadcast_strides(input->shape, input->strides, desc.shape);
        known = judge_.descs().of(desc);
    }
    return known;
}

/// What a tile computes goes where it is moved to. False where strides cannot say that.
bool Candidates::describe_moved(const fuse::Tile& tile, std::size_t output) {
    const bool by_element = broadcasts_inputs(tile.definition);
    const auto view = tile.attributes.has("columns") ? columns_view(*graph_, tile, output, views_)
                                                     : result_view(*graph_, tile, output, views_, by_element);
    if (!view) return false;
    const auto described = [&](TensorDesc desc, std::vector<Dim> strides) {
        desc.shape = view->shape;
        desc.strides = std::move(strides);
        return judge_.descs().of(desc);
    };
    if (view->moves > 0 && by_element)
        for (const TensorDesc*& input : inputs_) {
            auto strides = seen_through(*graph_, tile.moved[output], view->moves, input->strides);
            if (!strides) return false;
            input = described(*input, std::move(*strides));
        }
    outputs_[output] = described(*outputs_[output], view->strides);
    return true;
}

/// Null where strides cannot say how operands or results lie.
Question* Candidates::question_of(const fuse::Tile& tile, const Sources& sources) {
    static const Attributes none;
    inputs_.clear();
    outputs_.clear();
    for (const Source& source : sources) inputs_.push_back(describe(source));
    for (const NodeId computed : tile.computed()) outputs_.push_back(made(computed));
    const bool is_fused = tile.definition == "fused", is_matmul = tile.definition == "matmul";
    const std::size_t factors = is_fused || is_matmul ? 2 : 0;
    // What a definition in place of the matmul reads is as that has it.
    const std::size_t first = is_fused && !tile.body.begins_with(ir::Op::matmul) ? factors : 0;
    if (factors > 0 || broadcasts_inputs(tile.definition))
        for (std::size_t i = first; i < inputs_.size(); ++i)
            inputs_[i] = expanded(inputs_[i], outputs_.at(0), i < factors);
    for (std::size_t i = 0; i < tile.moved.size(); ++i)
        if (tile.is_moved(i) && !describe_moved(tile, i)) return nullptr;
    ShortProblem problem{tile.definition, &tile.attributes, &tile.body, tile.results, inputs_, outputs_};
    if (changes_state(tile)) {
        // The new rows go where they belong in the state's memory; older ones stay where they are.
        TensorDesc rows = *inputs_.back();
        rows.strides = views_[tile.outputs[0]].strides;
        rows.bound = false;
        outputs_ = {judge_.descs().of(rows)};
        problem.definition = "copy";
        problem.attributes = &none;
        problem.inputs = problem.inputs.subspan(1);
        problem.outputs = outputs_;
    }
    return &judge_.question(problem);
}

}  // namespace cairn::inline v0::select
