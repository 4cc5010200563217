#include "cairn/ops.hpp"
#include "graph/ir/graph_data.hpp"
#include "graph/ir/graph_error.hpp"
#include "graph/ir/valid_names.hpp"

namespace cairn::inline v0 {

Tensor name(const Tensor& tensor, std::string_view text, std::source_location where) {
    if (tensor.empty()) ir::refuse("name", "the value is an empty or moved-from Tensor", where);
    if (const std::string fault = ir::verify_name(text); !fault.empty())
        ir::refuse("name", "the name of a value " + fault, where);
    tensor.graph()->set_label(tensor.id(), text);
    return tensor;
}

std::string name_of(const Tensor& tensor) {
    return tensor.empty() ? std::string() : tensor.graph()->node(tensor.id()).label;
}

}  // namespace cairn::inline v0
