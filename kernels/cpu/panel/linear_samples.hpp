#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The forms of products with a packed weight, and the sample Problems of each, as text.
namespace cairn::kernels::cpu {

/// The kind of gate: none, with a weight of its own, or by halves of the columns.
enum class Gating : std::uint8_t { none, weight, half };

struct ProductForm {
    const char* definition;
    const char* activation;
    int max_biases;
    Gating gating;
    bool is_argmax = false;
    bool has_low_rank = false;  ///< the product of two narrow operands, which follow the weight, is added
};

/// Samples of a form other than `fused`, with weights of f32 in panels. Of none more than 400 rows.
std::vector<std::string> samples_of(const ProductForm& form, int biases);
/// A bias alone, each activation, a residual, several operands and strides, other dtypes of operands and results, the
/// product read twice; columns that end within a panel.
std::vector<std::string> fused_samples();
/// Outputs with some columns: all columns and two parts split into heads, with the strides of a growing state; heads
/// that end within a panel, parts that omit or share columns, parts of several values and dtypes.
std::vector<std::string> samples_by_columns();

/// The same sample with weights stored in another dtype.
std::string stored_as(std::string_view dtype, std::string sample);
/// The same sample with weights in a layout of codes, its depth rounded up to whole groups.
std::string in_codes(std::string sample, std::size_t layout);
/// One sample for each layout of codes that have at most `most_bits` bits.
std::vector<std::string> in_each_code(const std::vector<std::string>& samples, int most_bits = 16);
/// Each sample in f32, the first ones alternately in bf16 and f16, of those with at least this depth; and one in each
/// layout of codes, whose depth is rounded up.
std::vector<std::string> in_each_form(std::vector<std::string> samples, std::int64_t least_depth = 0);
/// The largest upper bound of a symbol of a sample: `T in 0..400` -> 400. 0 if it has none.
std::int64_t largest_bound(std::string_view sample);

}  // namespace cairn::kernels::cpu
