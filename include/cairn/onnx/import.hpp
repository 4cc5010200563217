#pragma once

#include "cairn/graph.hpp"
#include "cairn/onnx/model.hpp"
#include "cairn/weights.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cairn::inline v0::onnx {

/// The values that a size may have: multiples of `multiple` from `low` to `high`, both inclusive. A single one makes it
/// a constant. Models that halve an image five times and add what they upsample need multiples of 32:
///
///     {.sizes = {{"H", {32, 1280, 32}}, {"W", {32, 1280, 32}}}}
struct SizeBounds {
    std::int64_t low = 1;
    std::int64_t high = 4096;
    std::int64_t multiple = 1;
};

/// What import() is told about a model.
struct ImportOptions {
    /// Bounds of named sizes by name (`dim_param`). An axis without a name, or with the name `?`, `None` or `-1`, is
    /// called after its input and number: `x_0` is the first axis of the input `x`.
    std::map<std::string, SizeBounds> sizes = {};
    /// Sizes that are equal though the file gives them different names, or none: `{{"state_1", "x_0"}}`.
    std::map<std::string, std::string> equal_sizes = {};
    /// Bounds of all other sizes that the file does not state.
    SizeBounds other_sizes = {};
    /// Inputs that are the same in every run: they become constants and are no inputs of the graph. Dense, on the CPU;
    /// the memory is copied.
    std::map<std::string, InputView> values = {};
    /// Longest loop that is unrolled: `Loop`, `Scan`, and the steps of recurrent operators.
    std::int64_t unroll_limit = 1024;
};

/// What cannot be imported, as one reason for one operator.
struct Unsupported {
    std::string op;          ///< operator; empty: an input or output, named by `node`
    std::string domain;      ///< empty: `ai.onnx`
    std::int64_t opset = 0;  ///< version of the domain's operator set
    std::string node;        ///< name of the first such node, or its number: `#12`
    std::string reason;      ///< one sentence
    std::int64_t count = 1;  ///< of such nodes
};

/// Everything that cannot be imported, at once. The message has a line for each entry.
class CAIRN_API ImportError : public Error {
public:
    ImportError(std::string_view file, std::vector<Unsupported> unsupported);
    /// One entry for each reason, in the order of the file.
    const std::vector<Unsupported>& unsupported() const noexcept { return unsupported_; }

private:
    std::vector<Unsupported> unsupported_;
};

/// A model as a graph with the inputs, outputs and weights of the file, by their names there.
struct Imported {
    Graph graph;
    /// The weights by name, for CompiledGraph::bind: views of the mapped file, which stays mapped as long as this or a
    /// view exists. Weights that the file does not align to their element size are copied when they are bound.
    WeightSource weights;
    /// Names in the file of sizes whose symbols have others: `p2o.DynamicDimension.0` of `p2o_DynamicDimension_0`. The
    /// symbol of a size `H` of multiples of 32 is the quotient, `H_by_32`.
    std::map<std::string, std::string> symbol_names = {};
};

/// Converts a model to a graph of Cairn. Operator sets 7 to 28 of `ai.onnx` are understood (docs/onnx.md lists the
/// operators). Arithmetic on shapes is done here, with sizes as polynomials (Dim); shapes that the file states for
/// values other than inputs are not used. Initializers are weights, or constants if they are a single number.
///
///     auto [graph, weights, names] = onnx::import(file, {.sizes = {{"batch", {1, 32}}}});
///     CompiledGraph model = compile(graph, context);
///     model.bind(weights);
///
/// Throws ImportError with everything that cannot be imported, and Error(argument) for a name in `options` that the
/// file does not have, bounds out of order, and a value of another type or shape than its input.
CAIRN_API Imported import(const Model& model, const ImportOptions& options = {});

}  // namespace cairn::inline v0::onnx
