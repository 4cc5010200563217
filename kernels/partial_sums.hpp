#pragma once

#include "cairn/kernel.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

/// Partial sums: the computed layout of a value of f32 that is the sum of dense tensors, one after another in memory.
/// A product whose depth is split among blocks writes it, and its readers add the parts, in their order.
///
///     f32[1,768]@partial_sums.4: 4 * 768 floats; element i is part[0][i] + part[1][i] + part[2][i] + part[3][i]
namespace cairn::kernels {

constexpr std::string_view partial_sums_layout = "partial_sums";

/// True if the tensor is in partial sums.
inline bool is_in_partial_sums(const TensorDesc& tensor) {
    return std::string_view(tensor.layout).substr(0, tensor.layout.rfind('.')) == partial_sums_layout;
}

/// Number of parts of a tensor; 1 in plain memory.
inline std::int64_t part_count(const TensorDesc& tensor) {
    return is_in_partial_sums(tensor) ? std::max<std::int64_t>(layout_parameter(tensor.layout), 1) : 1;
}

void add_partial_sums_layout(std::vector<Layout>& layouts);

}  // namespace cairn::kernels
