#include "io/onnx_import/function_call.hpp"

#include <algorithm>
#include <utility>

namespace cairn::inline v0::onnx {
namespace {

const AttributeProto* value_of(const std::string& reference, const FunctionProto& function, const NodeProto& call) {
    if (const AttributeProto* const given = call.find(reference)) return given;
    const auto it = std::ranges::find(function.defaults, reference, &AttributeProto::name);
    return it != function.defaults.end() ? &*it : nullptr;
}

}  // namespace

NodeProto with_attributes(const NodeProto& node, const FunctionProto& function, const NodeProto& call) {
    NodeProto result = node;
    result.attributes.clear();
    for (const AttributeProto& attribute : node.attributes) {
        AttributeProto replaced = attribute;
        if (!attribute.reference.empty()) {
            const AttributeProto* const value = value_of(attribute.reference, function, call);
            if (value == nullptr) continue;
            replaced = *value;
            replaced.name = attribute.name;
        }
        for (GraphProto& graph : replaced.graphs)
            for (NodeProto& inner : graph.nodes) inner = with_attributes(inner, function, call);
        result.attributes.push_back(std::move(replaced));
    }
    return result;
}

}  // namespace cairn::inline v0::onnx
