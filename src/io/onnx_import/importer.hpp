#pragma once

#include "io/onnx_import/model_file.hpp"
#include "io/onnx_import/model_weights.hpp"
#include "io/onnx_import/report.hpp"
#include "io/onnx_import/size_names.hpp"
#include "io/onnx_node/node.hpp"

#include "cairn/onnx/import.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cairn::inline v0::onnx {

/// Values by name in a graph, within those of the graphs around it.
struct Scope {
    const Scope* outer = nullptr;
    std::unordered_map<std::string_view, ValuePtr> values = {};

    /// The value of that name; null for an absent optional one.
    ValuePtr find(std::string_view name) const;
};

/// Converts the nodes of one model, in order. Nodes that cannot be imported are reported, their outputs are `refused`,
/// and nodes that read these are passed over.
class Importer : public GraphImporter {
public:
    Importer(const Model& model, const ImportOptions& options);

    Imported run();

    ValuePtr stored(const TensorProto& tensor, std::string_view name) override { return weights_.value(tensor, name); }
    std::vector<ValuePtr> import_graph(const GraphProto& graph, const std::vector<ValuePtr>& inputs) override;
    std::int64_t unroll_limit() const override { return options_.unroll_limit; }

private:
    void add_inputs();
    ValuePtr fixed_input(const Port& port, const InputView& view);
    void add_outputs(const Scope& scope);
    void add_initializers(const GraphProto& graph, Scope& scope);
    void import_nodes(const std::vector<NodeProto>& nodes, Scope& scope);
    void import_node(const NodeProto& node, std::size_t index, Scope& scope);
    std::vector<ValuePtr> outputs_of(const NodeProto& node, std::vector<ValuePtr> inputs);
    std::vector<ValuePtr> call_function(const FunctionProto& function, const NodeProto& node,
                                        const std::vector<ValuePtr>& inputs);
    const FunctionProto* function_of(const NodeProto& node) const;
    std::int64_t opset_of(const std::string& domain) const;
    void set_names(const NodeProto& node, const std::vector<ValuePtr>& inputs, const std::vector<ValuePtr>& outputs);

    const Model& model_;
    const ModelProto& proto_;
    const ImportOptions& options_;
    Graph graph_;
    SizeNames sizes_;
    std::deque<TensorProto> fixed_;  ///< the values of inputs that are constants
    std::deque<NodeProto> calls_;    ///< nodes of functions with the attributes of a call
    ModelWeights weights_;
    Report report_;
    Scope main_;
    Scope* scope_ = nullptr;                 ///< of the node under import
    const OpsetVersions* opsets_ = nullptr;  ///< of the graph or function that it is in
    std::size_t depth_ = 0;                  ///< of functions and graphs that are being imported
};

}  // namespace cairn::inline v0::onnx
