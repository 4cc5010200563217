#include "fusion/definition_instance.hpp"

#include "rewrite/simplify/simplify.hpp"

#include <algorithm>
#include <bit>

namespace cairn::fusion {
namespace {

std::uint64_t key_of(const Dim& dim) {
    return dim.is_constant() ? static_cast<std::uint64_t>(dim.constant()) * 2 + 1
                             : static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(dim.node()));
}

std::vector<OperandMask> reads_of(const ir::GraphData& graph, const std::vector<ir::NodeId>& inputs) {
    std::vector<OperandMask> reads(graph.nodes().size(), 0);
    for (std::size_t i = 0; i < inputs.size(); ++i) reads[inputs[i]] |= operand_bit(i);
    for (ir::NodeId id = 0; id < reads.size(); ++id) {
        if (graph.node(id).op == ir::Op::constant) reads[id] = number_bit;
        for (const ir::NodeId operand : graph.node(id).operands) reads[id] |= reads[operand];
    }
    return reads;
}

}  // namespace

OperandMask operand_bit(std::size_t index) { return OperandMask{1} << std::min<std::size_t>(index, 62); }

bool DefinitionInstance::makes(std::size_t output, const ir::Node& node) const {
    const ir::Node& made = graph->node(outputs[output]);
    return node.dtype == made.dtype && node.shape == made.shape;
}

std::optional<DefinitionInstance> instantiate(const Definition& definition, std::span<const TensorDesc> operands,
                                              const Attributes& attributes, const std::shared_ptr<Symbols>& symbols) {
    DefinitionInstance instance;
    try {
        Graph graph(std::make_shared<ir::GraphData>(definition.name, symbols));
        std::vector<Tensor> inputs;
        for (std::size_t i = 0; i < operands.size(); ++i)
            inputs.push_back(graph.input("in" + std::to_string(i), operands[i].dtype, operands[i].shape));
        const std::vector<Tensor> outputs = definition.build(inputs, attributes);
        for (std::size_t i = 0; i < outputs.size(); ++i) graph.output("out" + std::to_string(i), outputs[i]);
        const simplify::Simplified simple = simplify::simplify(*graph.data());
        instance.graph = simple.graph;
        for (const Tensor& input : inputs) instance.inputs.push_back(*simple.map[input.id()]);
        for (const ir::Output& output : simple.graph->outputs()) instance.outputs.push_back(output.node);
        instance.reads = reads_of(*instance.graph, instance.inputs);
    } catch (const InternalError&) { throw; } catch (const Error&) {
        return std::nullopt;
    }
    return instance;
}

const std::optional<DefinitionInstance>& InstanceCache::of(const Definition& definition,
                                                           std::span<const TensorDesc> operands,
                                                           const Attributes& attributes) {
    Key key;
    auto& [names, numbers] = key;
    numbers = {static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&definition)), attributes.size()};
    for (const Attribute& attribute : attributes) {
        names += attribute.name + ' ';
        if (const auto* number = std::get_if<double>(&attribute.value)) {
            numbers.push_back(std::bit_cast<std::uint64_t>(*number));
        } else {
            const auto& list = std::get<std::vector<Dim>>(attribute.value);
            numbers.push_back(list.size());
            for (const Dim& dim : list) numbers.push_back(key_of(dim));
        }
    }
    for (const TensorDesc& operand : operands) {
        numbers.push_back(static_cast<std::uint64_t>(operand.dtype) * 64 + operand.shape.size());
        for (const Dim& dim : operand.shape) numbers.push_back(key_of(dim));
    }
    const auto it = known_.find(key);
    if (it != known_.end()) return it->second;
    return known_.emplace(std::move(key), instantiate(definition, operands, attributes, symbols_)).first->second;
}

}  // namespace cairn::fusion
