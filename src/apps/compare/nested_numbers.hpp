#pragma once

#include "cairn/compiled_graph.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cairn::compare {

/// Elements in row-major order, with their shape.
struct TensorElements {
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;
};

/// The elements of nested lists of numbers or booleans: `[[1, 2], [3, 4]]` has the shape [2,2]; a number is a scalar.
/// Throws Error(argument) naming the input for lists of unequal lengths, other values, integers out of the range of
/// the dtype, and for f16 and bf16, which such lists cannot hold.
TensorElements tensor_elements(const nlohmann::json& lists, DType dtype, std::string_view name);

/// The same of several rows, along a new first axis. Throws as well if their shapes differ.
TensorElements stacked_elements(const std::vector<const nlohmann::json*>& rows, DType dtype, std::string_view name);

/// The elements of a result as numbers. Throws Error(unsupported) for f16 and bf16.
std::vector<double> numbers_of(const OutputView& view);

}  // namespace cairn::compare
