#include "io/onnx_operators/control_flow.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::onnx {
namespace {

bool is_equal_known(const ValuePtr& a, const ValuePtr& b) {
    const Known *const x = a->known(), *const y = b->known();
    return x != nullptr && y != nullptr && x->type == y->type && x->dims == y->dims && x->integers == y->integers &&
           x->floats == y->floats;
}

/// The value of one of two branches. `condition` is a scalar.
ValuePtr chosen_value(const Node& node, const Graph& graph, const Tensor& condition, const ValuePtr& a,
                      const ValuePtr& b) {
    if (a == nullptr || b == nullptr) return nullptr;
    if (a == b || any_refused({a, b})) return any_refused({a}) ? a : b;
    if (a->kind() != Value::Kind::tensor || b->kind() != Value::Kind::tensor)
        node.refuse("its condition must be known at import, because its branches give sequences or optionals");
    if (is_equal_known(a, b)) return a;
    const Tensor &x = a->tensor(graph), &y = b->tensor(graph);
    if (a->type() != b->type())
        node.refuse(fmt::format("its branches give {} and {}", to_string(a->type()), to_string(b->type())));
    if (x.shape() != y.shape())
        node.refuse(fmt::format("its condition must be known at import, because its branches give the shapes {} and {}",
                                cairn::to_string(x.shape()), cairn::to_string(y.shape())));
    return Value::of(where(condition, x, y), a->type());
}

}  // namespace

void make_if(Node& node) {
    const auto branch = [&](bool condition) {
        auto values = node.importer().import_graph(node.graph_attribute(condition ? "then_branch" : "else_branch"), {});
        if (values.size() < node.output_count())
            node.refuse(fmt::format("a branch has {} outputs instead of {}", values.size(), node.output_count()));
        return values;
    };
    if (const std::optional<bool> condition = known_condition(node.value_ptr(0))) {
        const std::vector<ValuePtr> values = branch(*condition);
        for (std::size_t i = 0; i < node.output_count(); ++i) node.set(i, values[i]);
        return;
    }
    const Tensor condition = reshape(node.tensor(0), Shape{});
    const std::vector<ValuePtr> then_values = branch(true), else_values = branch(false);
    for (std::size_t i = 0; i < node.output_count(); ++i)
        node.set(i, chosen_value(node, node.graph(), condition, then_values[i], else_values[i]));
}

}  // namespace cairn::inline v0::onnx
