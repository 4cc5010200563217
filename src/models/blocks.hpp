#pragma once

#include "cairn/composites.hpp"
#include "cairn/models/checkpoint.hpp"

#include <string>
#include <string_view>

/// What the model builders share: weights by name in f32, heads, activations by their Hugging Face name.
namespace cairn::inline v0::models {

/// Makes each weight once, as stored, and gives it as f32.
class WeightTable {
public:
    WeightTable(Graph& graph, const std::vector<WeightSpec>& specs) : graph_(graph), specs_(specs) {}
    /// Throws Error(argument) for a name that is not in the list.
    Tensor operator()(const std::string& name) const;

private:
    Graph& graph_;
    const std::vector<WeightSpec>& specs_;
};

/// [B,T,C] to [B,heads,T,C/heads], and back.
Tensor split_heads(const Tensor& x, std::int64_t heads);
Tensor merge_heads(const Tensor& x);

/// The activation of that name; `known` says whether there is one.
bool is_known_activation(std::string_view name) noexcept;
Tensor activate(std::string_view name, const Tensor& x);

}  // namespace cairn::inline v0::models
