#pragma once

#include "apps/models/adapter_bank.hpp"
#include "cairn/composites.hpp"
#include "cairn/models/checkpoint.hpp"

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// Building blocks shared by the models: weights by name in f32, attention heads, activations by their Hugging Face
/// name.
namespace cairn::inline v0::models {

/// Creates each weight once, in its storage dtype, and returns it as f32; projections are changed by adapters.
class WeightTable {
public:
    /// All arguments must outlive it.
    WeightTable(Graph& graph, const std::vector<WeightSpec>& specs, AdapterBank* adapters = nullptr)
        : graph_(graph), specs_(specs), adapters_(adapters) {}
    /// Throws Error(argument) for a name that is not in the list.
    Tensor operator()(const std::string& name) const;
    /// x @ w + b, with the weight and, if the list has it, the bias of a module.
    Tensor project(const Tensor& x, const std::string& module, MatrixOrder order = MatrixOrder::out_in) const;
    /// x @ w, with a weight [N, K] that may belong to another module.
    Tensor product(const Tensor& x, const std::string& module, const std::string& weight) const;

private:
    const WeightSpec* find(const std::string& name) const;
    const WeightSpec& at(const std::string& name) const;
    /// Nothing if no adapter changes the product.
    std::optional<Tensor> changed_product(const Tensor& x, const Tensor& w, const std::string& module,
                                          const WeightSpec& spec, MatrixOrder order) const;

    Graph& graph_;
    const std::vector<WeightSpec>& specs_;
    AdapterBank* adapters_;
    mutable std::map<std::string, Tensor> made_;  // models may share weights between layers
};

/// Throws Error(argument) for a size below 1 or above 2^31, the limit of tensor sizes, and for `layers` above 10,000.
void check_sizes(std::string_view model, std::initializer_list<std::pair<const char*, std::int64_t>> sizes);
/// Throws Error(argument) unless the width is a multiple of the number of heads.
void check_heads(std::string_view model, std::int64_t width, std::int64_t heads);

/// [B,T,C] to [B,heads,T,C/heads], and the inverse.
Tensor split_heads(const Tensor& x, std::int64_t heads);
Tensor merge_heads(const Tensor& x);

/// Describes what is wrong with the name of an activation: `"snake" is not known; known are gelu_new, ...`; empty if it
/// is valid.
std::string activation_fault(std::string_view name);
/// Applies the activation of that name. Throws Error(unsupported) with activation_fault().
Tensor activate(std::string_view name, const Tensor& x);

}  // namespace cairn::inline v0::models
