#pragma once

#include "io/onnx_node/value.hpp"

#include "cairn/weights.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace cairn::inline v0::onnx {

/// The weights of a graph that are tensors of a file.
class ModelWeights {
public:
    /// `owner` keeps the bytes of tensors. `taken`: names of inputs.
    ModelWeights(Graph graph, std::shared_ptr<const void> owner, std::set<std::string, std::less<>> taken);

    /// A value that becomes a weight of this name, or one like it if the name is taken, when it is first used: a
    /// constant if it is a single number or a short list of integers. A tensor that bodies of loops and functions ask
    /// for many times becomes one weight.
    ValuePtr value(const TensorProto& tensor, std::string_view name);
    /// For CompiledGraph::bind.
    WeightSource source() const;

private:
    struct Shared;
    Tensor add(const TensorProto& tensor, const std::string& name);
    Tensor make(const TensorProto& tensor, const std::string& name);

    Graph graph_;
    std::shared_ptr<Shared> shared_;
    std::set<std::string, std::less<>> taken_;
    std::map<const std::byte*, std::vector<std::pair<TensorProto, Tensor>>> added_;  ///< by their elements, kept
};

}  // namespace cairn::inline v0::onnx
