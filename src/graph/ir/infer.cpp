#include "graph/ir/infer.hpp"

#include "graph/ir/graph_error.hpp"
#include "graph/ir/inference_context.hpp"
#include "graph/ir/valid_names.hpp"
#include "graph/types/device_code.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::ir {
namespace {

Inferred by_family(const InferenceContext& context) {
    switch (info(context.op()).kind) {
        case OpClass::elementwise: return infer_elementwise(context);
        case OpClass::reduction: return infer_reduction(context);
        case OpClass::contraction: return infer_matmul(context);
        case OpClass::movement: return infer_movement(context);
        case OpClass::indexing: return infer_indexing(context);
        case OpClass::scan: return infer_scan(context);
        case OpClass::effect: return infer_state_change(context);
        case OpClass::transfer: {
            const std::int64_t device = context.integer("device");
            if (!types::device_of_code(device)) context.fail(fmt::format("there is no device {}", device));
            return {context.node(0).dtype, context.shape(0)};
        }
        case OpClass::leaf: break;
    }
    if (context.op() == Op::iota) return infer_iota(context);
    context.fail("is a leaf and has no shape rule");
}

/// `; operand 0 is "scores"`: the operands that the user named.
std::string names_of(const GraphData& graph, std::span<const NodeId> operands) {
    std::string text;
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (const std::string& label = graph.node(operands[i]).label; !label.empty())
            text += fmt::format("; operand {} is {}", i, quoted(label));
    return text;
}

void check_count(const InferenceContext& context) {
    const OpInfo& row = info(context.op());
    const auto count = static_cast<int>(context.size());
    if (count < row.min_operands || (row.max_operands >= 0 && count > row.max_operands))
        context.fail(fmt::format("takes {}{} operands, got {}", row.min_operands,
                                 row.max_operands < 0 ? " or more" : "", count));
}

// Checks the attributes and sorts them into the order of the op's row.
void check_attributes(const InferenceContext& context, Attributes& attributes) {
    const OpInfo& row = info(context.op());
    for (const Attribute& attribute : attributes)
        if (std::find(row.attributes.begin(), row.attributes.end(), attribute.name) == row.attributes.end())
            context.fail("has no attribute " + attribute.name);
    Attributes sorted;
    for (const std::string_view name : row.attributes) {
        const auto named = [&](const Attribute& attribute) { return attribute.name == name; };
        const auto it = std::find_if(attributes.begin(), attributes.end(), named);
        if (it == attributes.end()) context.fail(fmt::format("attribute {} is missing", name));
        sorted.push_back(std::move(*it));
    }
    if (attributes.size() != sorted.size()) context.fail("an attribute is given twice");
    attributes = std::move(sorted);
    for (const Attribute& attribute : attributes) {
        const auto* list = std::get_if<std::vector<Dim>>(&attribute.value);
        for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
            if (!(*list)[i].is_constant() && (*list)[i].symbols() != context.graph().symbols())
                context.fail(
                    fmt::format("{} {} is made of another graph's symbols", attribute.name, to_string((*list)[i])));
    }
}

}  // namespace

Inferred infer(const GraphData& graph, Op op, std::span<const NodeId> operands, Attributes& attributes,
               const std::source_location& where) {
    const InferenceContext context(graph, op, operands, attributes);
    try {
        check_count(context);
        check_attributes(context, attributes);
        Inferred result = by_family(context);
        element_count(result.shape);
        return result;
    } catch (const ShapeError& fault) {
        refuse(graph.part_name(op), fault.text + names_of(graph, operands), where);
    } catch (const Error& error) {
        // Arithmetic on sizes does not know the op: the op and its operands are added here.
        refuse(graph.part_name(op), fmt::format("{}: {}{}", error.what(), context.text(), names_of(graph, operands)),
               where);
    }
}

std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b) {
    const Shape& longer = a.size() >= b.size() ? a : b;
    const Shape& shorter = a.size() >= b.size() ? b : a;
    Shape result = longer;
    const std::size_t offset = longer.size() - shorter.size();
    for (std::size_t i = 0; i < shorter.size(); ++i) {
        Dim& size = result[offset + i];
        if (size == shorter[i] || shorter[i] == Dim(1)) continue;
        if (!(size == Dim(1))) return std::nullopt;
        size = shorter[i];
    }
    return result;
}

}  // namespace cairn::ir
