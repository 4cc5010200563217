#include "graph/types/dense_strides.hpp"
#include "selection/candidates/candidates.hpp"

#include <algorithm>
#include <utility>

// Layouts in which values are held: which kernels write, and which operands are read in them.
namespace cairn::selection {

using ir::NodeId;

Goal Candidates::packed(NodeId node, std::string_view name, Device device) const {
    if (!bound_[node]) return {memory_of(node), {false, name, device}};
    const ValueView& view = views_[node];
    const NodeId base_value = classes_.value_of(view.base);
    if (const auto found = written_at_bind_.find(base_value); found != written_at_bind_.end())
        for (const TensorDesc* written : found->second)
            if (layout_through_view(node, written->shape, written->layout) == name)
                return {base_value, {false, written->layout, device}};
    if (const Layout* row = layout(name); row != nullptr && !row->transposed.empty() && view.base != node) {
        const std::string_view of_base = name == row->name ? row->transposed : row->name;
        if (layout_through_view(node, graph_->node(view.base).shape, of_base) == name)
            return {view.base, {false, of_base, device}};
    }
    return {node, {false, name, device}};
}

/// The operands with those packed that the kernel reads packed, in all combinations of the layouts in which it reads
/// them: the first one named for an input, and those in which a kernel writes or quantizes the value. Empty if one
/// cannot be packed.
std::vector<KernelOperands> Candidates::as_packed(const Kernel& kernel, const KernelOperands& strided) const {
    if (!use_packed_ || kernel.packed_inputs.empty()) return {};
    std::vector<KernelOperands> all{strided};
    for (auto first = kernel.packed_inputs.begin(); first != kernel.packed_inputs.end();) {
        const auto input = static_cast<std::size_t>(first->input);
        if (input >= strided.size()) return {};
        const KernelOperand& operand = strided[input];
        if (!bound_[operand.node] || graph_->node(operand.node).shape.size() != 2) return {};
        const std::span<const std::string_view> written = layouts_of(classes_.value_of(operand.node));
        std::vector<KernelOperands> packed;
        const auto end = std::find_if(first, kernel.packed_inputs.end(),
                                      [&](const LayoutInput& other) { return other.input != first->input; });
        for (auto wanted = first; wanted != end; ++wanted)
            if (wanted == first || std::find(written.begin(), written.end(), wanted->layout) != written.end())
                for (KernelOperands operands : all) {
                    operands[input] = {operand.node, OperandForm::packed, wanted->layout, operand.device};
                    packed.push_back(std::move(operands));
                }
        all = std::move(packed);
        first = end;
    }
    return all;
}

/// The same operands with those in computed layouts that the kernel reads so and that can be written so: all
/// combinations, or the first ones if there are many. Operands without any are left out.
std::vector<KernelOperands> Candidates::in_computed_layouts(const Kernel& kernel,
                                                            const KernelOperands& operands) const {
    constexpr std::size_t max_combinations = 16;
    std::vector<KernelOperands> all{operands};
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const NodeId node = operands[i].node;
        if (operands[i].form != OperandForm::strided || bound_[node]) continue;
        if (is_view(node) && !is_reshaped(node)) continue;
        const std::size_t before = all.size();
        for (const std::string_view name : layouts_of(classes_.value_of(node))) {
            const bool reads =
                std::any_of(kernel.layout_inputs.begin(), kernel.layout_inputs.end(), [&](const LayoutInput& read) {
                    return read.input == static_cast<int>(i) && read.layout == layout(name)->name;
                });
            for (std::size_t base = 0; reads && base < before && all.size() <= max_combinations; ++base) {
                all.push_back(all[base]);
                all.back()[i] = {node, OperandForm::packed, name, operands[i].device};
            }
        }
    }
    all.erase(all.begin());
    return all;
}

/// The layouts in which a kernel writes the outputs of a match, given the query with plain outputs; an empty list if
/// all are plain. Results that lie in other memory are plain, but bound ones may be reshapes of entire values.
LayoutNames Candidates::written_layouts(const Kernel& kernel, const fusion::Match& match, KernelQuery& plain) {
    LayoutNames layouts;
    if (kernel.output_layout == nullptr) return layouts;
    bool is_any = false;
    for (std::size_t i = 0; i < match.outputs.size(); ++i) {
        const NodeId output = match.outputs[i];
        const bool is_own = !is_view(output) || (bound_[output] && is_reshaped(output));
        std::string_view name;
        if (is_own && (match.moved.empty() || !match.is_moved(i)))
            name = query_cache_.output_layout(plain, kernel, static_cast<int>(i));
        // Packed layouts are those of bound values, computed ones those of a run.
        if (!name.empty() && layout(name)->is_computed == bound_[output]) name = {};
        layouts.push_back(name);
        is_any = is_any || !name.empty();
    }
    return is_any ? layouts : LayoutNames();
}

void Candidates::find_layouts(std::span<const fusion::Match> matches) {
    std::vector<LayoutNames> found;
    written_at_bind_.clear();
    const auto writes = [](const Kernel* kernel) { return kernel->output_layout != nullptr; };
    const auto add = [](LayoutNames& known, std::string_view name) {
        if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
    };
    const auto add_written = [&](NodeId value, NodeId output, std::string_view name) {
        TensorDesc tensor = *dense_desc(output);
        tensor.layout = name;
        std::vector<const TensorDesc*>& known = written_at_bind_[value];
        const TensorDesc* const written = query_cache_.desc_interner().of(tensor);
        if (std::find(known.begin(), known.end(), written) == known.end()) known.push_back(written);
    };
    for (const fusion::Match& match : matches) {
        const std::span<const Kernel* const> kernels = query_cache_.kernels_of(std::string(match.definition));
        if (std::none_of(kernels.begin(), kernels.end(), writes)) continue;
        for (const Device device : devices_.all) {
            KernelQuery* const plain = query_of(match, strided_alternatives(match, memory_for(device)).front());
            if (plain == nullptr) continue;
            for (const Kernel* kernel : kernels) {
                if (kernel->device != device) continue;
                const LayoutNames written = written_layouts(*kernel, match, *plain);
                if (!written.empty()) found.resize(graph_->nodes().size());
                for (std::size_t i = 0; i < written.size(); ++i) {
                    if (written[i].empty()) continue;
                    const NodeId output = match.outputs[i], memory = memory_of(output);
                    bound_[output] ? add_written(memory, output, written[i]) : add(found[memory], written[i]);
                }
            }
            KernelQueryCache::release_memory(*plain);
        }
    }
    for (NodeId id = 0; id < found.size(); ++id) {
        if (bound_[id]) {
            if (const auto at = written_at_bind_.find(classes_.value_of(views_[id].base)); at != written_at_bind_.end())
                for (const TensorDesc* written : at->second)
                    if (const std::string_view name = layout_through_view(id, written->shape, written->layout);
                        !name.empty())
                        add(found[classes_.value_of(id)], name);
        } else if (is_reshaped(id)) {
            for (const std::string_view name : found[memory_of(id)])
                if (layout(name)->holds_reshapes) add(found[classes_.value_of(id)], name);
        }
    }
    add_quantized_layouts(matches, found);
    if (found == layouts_) return;
    layouts_ = std::move(found);
    candidate_cache_.forget();
}

/// Adds the layouts to which kernels quantize large right operands of products, within the tolerance; other reads of
/// the same matrix, as those of an embedding, may then read these, too. Matrices that kernels write in layouts of their
/// own are left out: those are smaller.
void Candidates::add_quantized_layouts(std::span<const fusion::Match> matches, std::vector<LayoutNames>& found) {
    constexpr std::int64_t min_elements = 1 << 16;  // smaller ones are read from a cache
    if (query_cache_.tolerance() == 0 || !use_packed_) return;
    std::vector<bool> seen(graph_->nodes().size());
    std::vector<bool> is_multiplied(graph_->nodes().size());
    for (const ir::Node& node : graph_->nodes())
        if (node.op == ir::Op::matmul) is_multiplied[views_[node.operands[1]].base] = true;
    const auto add = [&](NodeId node) {
        const ir::Node& matrix = graph_->node(node);
        const NodeId value = classes_.value_of(node);
        if (!bound_[node] || !is_multiplied[views_[node].base] || seen[value] || matrix.shape.size() != 2) return;
        seen[value] = true;
        if (element_count(matrix.shape).upper_bound() < min_elements) return;
        if (!found.empty() && !found[value].empty()) return;
        for (const Layout& row : kernels_->layouts) {
            if (row.is_computed) continue;
            const Goal goal = packed(node, row.name);
            const std::vector<Candidate> packings = of_packing(goal.value, goal.place.layout);
            if (std::none_of(packings.begin(), packings.end(), [](const Candidate& c) { return c.error() > 0; }))
                continue;
            found.resize(graph_->nodes().size());
            found[value].push_back(row.name);
        }
    };
    for (const fusion::Match& match : matches) std::for_each(match.inputs.begin(), match.inputs.end(), add);
}

/// The layout in which a node holds a matrix that is in layout `name` in the memory that the node is a view of: the
/// same for that matrix, and the transposed layout for the transposed matrix. Empty for any other view.
std::string_view Candidates::layout_through_view(NodeId node, const Shape& matrix, std::string_view name) const {
    const Shape& shape = graph_->node(node).shape;
    const ValueView& view = views_[node];
    if (shape.size() != 2 || matrix.size() != 2 || !(view.offset == Dim(0))) return {};
    if (shape == matrix && types::are_dense_strides(shape, view.strides)) return name;
    const bool is_transposed =
        shape[0] == matrix[1] && shape[1] == matrix[0] && view.strides[0] == Dim(1) && view.strides[1] == shape[0];
    if (!is_transposed) return {};
    const Layout& row = *layout(name);
    return name == row.name ? row.transposed : row.name;
}

/// The tensor as a kernel of a match writes it, or null.
const TensorDesc* Candidates::written_at_bind(const Goal& goal) const {
    const auto found = written_at_bind_.find(goal.value);
    if (found == written_at_bind_.end()) return nullptr;
    const auto written = std::find_if(found->second.begin(), found->second.end(),
                                      [&](const TensorDesc* tensor) { return tensor->layout == goal.place.layout; });
    return written == found->second.end() ? nullptr : *written;
}

/// The tensor that is packed, with its layout: as a kernel of a match writes it, or the value itself.
TensorDesc Candidates::packed_tensor(const Goal& goal) const {
    if (const TensorDesc* const written = written_at_bind(goal)) return *written;
    const ir::Node& node = graph_->node(goal.value);
    TensorDesc tensor = TensorDesc::dense(node.dtype, node.shape);
    tensor.layout = goal.place.layout;
    return tensor;
}

double Candidates::bytes_of(const Goal& goal) const {
    const ir::Node& node = graph_->node(goal.value);
    auto plain = static_cast<double>(size_of(node.dtype));
    for (const Dim& size : node.shape) plain *= static_cast<double>(size.constant());
    if (goal.place.layout.empty()) return plain;
    const TensorDesc tensor = packed_tensor(goal);
    const auto packed = static_cast<double>(types::bytes_in_layout(*layout(tensor.layout), tensor).constant());
    return written_at_bind(goal) != nullptr ? packed : std::min(plain, packed);
}

double Candidates::priced_bytes_of(const Goal& goal) const {
    const CostModel& costs = query_cache_.costs();
    double price = kept_byte_price(goal.place.device, costs);
    // In a memory that all devices share, bytes have the price of the cheapest: costs are lower bounds.
    if (devices_.share_memory)
        for (const Device device : devices_.all) price = std::min(price, kept_byte_price(device, costs));
    return bytes_of(goal) * price;
}

TensorDesc Candidates::tensor_in_layout(const Goal& goal) const {
    const Layout& row = *layout(goal.place.layout);
    TensorDesc stored = types::stored_tensor(row, packed_tensor(goal));
    if (!row.is_computed) stored.layout = row.name;
    return stored;
}

std::span<const std::string_view> Candidates::layouts_of(NodeId value) const noexcept {
    if (layouts_.empty()) return {};
    return {layouts_[value].data(), layouts_[value].size()};
}

}  // namespace cairn::selection
