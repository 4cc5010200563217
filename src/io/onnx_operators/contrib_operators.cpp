#include "io/onnx_operators/contrib.hpp"
#include "io/onnx_operators/operators.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace cairn::inline v0::onnx {

Tensor result_of_operator(Node& node, std::string_view op, std::int64_t opset, std::vector<ValuePtr> inputs) {
    Node inner(node.proto(), opset, std::move(inputs), node.graph(), node.importer());
    const Operator* const row = find_operator({}, op, opset);
    if (row == nullptr || inner.output_count() == 0)
        node.refuse(fmt::format("there is no {} in operator set {}", op, opset));
    row->make(inner);
    return inner.outputs()[0]->tensor(node.graph());
}

}  // namespace cairn::inline v0::onnx
