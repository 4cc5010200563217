#pragma once

#include "io/onnx_file/model_proto.hpp"

#include "cairn/types.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cairn::inline v0::onnx {

/// A tensor whose elements are known at import: a constant, or arithmetic on shapes. Elements are row-major.
struct Known {
    ElementType type = ElementType::i64;
    std::vector<std::int64_t> dims;
    std::vector<Dim> integers;   ///< elements of integer and boolean types; a size may be symbolic
    std::vector<double> floats;  ///< elements of float types

    bool is_float() const noexcept;
    std::size_t count() const noexcept { return is_float() ? floats.size() : integers.size(); }
    /// True if no element contains a symbol.
    bool is_constant() const noexcept;

    static Known scalar(ElementType type, Dim value);
    static Known list(std::vector<Dim> values, ElementType type = ElementType::i64);
    static Known number(ElementType type, double value);
};

bool is_float_type(ElementType type) noexcept;
bool is_integer_type(ElementType type) noexcept;  ///< not boolean

/// Tensors of more elements are not evaluated at import.
inline constexpr std::int64_t most_known_elements = 4096;

/// Stored floats are parameters up to this number of elements, and weights beyond.
inline constexpr std::int64_t most_known_floats = 64;

/// The elements of a stored tensor; empty for more than most_known_elements integers or most_known_floats, and for
/// types that are neither a dtype of Cairn nor integers of 16 or 32 bits.
std::optional<Known> known_from(const TensorProto& tensor);

/// `value` rounded to the precision of a float type.
double rounded_to(ElementType type, double value);
/// An integer wrapped to the width of an integer type; a boolean becomes 0 or 1.
std::int64_t wrapped_to(ElementType type, std::int64_t value) noexcept;

/// Sums, differences and products modulo 2^64 of constants; those of sizes do not overflow.
Dim wrapping_sum(const Dim& a, const Dim& b);
Dim wrapping_difference(const Dim& a, const Dim& b);
Dim wrapping_product(const Dim& a, const Dim& b);

}  // namespace cairn::inline v0::onnx
