#pragma once

#include "cairn/kernel.hpp"
#include "kernels/cpu/panel/code_format.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

/// The panel layout: the packed form of a weight matrix W [K, N]. Each panel holds 32 columns, stored k by k, so that a
/// product reads one stream. The last panel is padded with zeros.
///
///     W[k, n] stands at panels[n / 32 * K * 32 + k * 32 + n % 32]
///
/// `panel32` is the layout of W. The same bytes are `panel32.t` of the transposed matrix. So a table [V, D] that is the
/// embedding and, transposed, the output projection is packed once; row v of the table is column v of the panels.
namespace cairn::kernels::cpu {

constexpr std::int64_t panel_width = 32;
constexpr std::string_view panel_layout = "panel32", panel_layout_transposed = "panel32.t";

/// Storage dtypes of panels: f32, f16, bf16.
inline bool is_panel_dtype(DType dtype) noexcept { return dtype == DType::f32 || is_widening(dtype, DType::f32); }

inline std::int64_t panel_count(std::int64_t columns) noexcept { return (columns + panel_width - 1) / panel_width; }

/// True for a layout of codes of the plain matrix (code_format.hpp).
inline bool is_code_layout(std::string_view name) noexcept { return code_layout_index(name, false) >= 0; }
/// The format of a layout of codes, plain or transposed.
inline const CodeFormat& format_of(std::string_view layout) noexcept {
    const int plain = code_layout_index(layout, false);
    return code_layouts[static_cast<std::size_t>(plain >= 0 ? plain : code_layout_index(layout, true))].format;
}
/// True for a layout of codes that are multiplied as integers.
inline bool are_integer_codes(std::string_view name) noexcept {
    return is_code_layout(name) && format_of(name).bits <= most_bits_of_integers;
}
/// True if a matrix with this depth can be in codes.
inline bool may_be_codes(DType dtype, const Dim& depth) {
    return dtype == DType::f32 && depth.is_constant() && depth.constant() % 32 == 0;
}

/// The layouts panel32 and those of codes, each plain and transposed.
void add_panel_layouts(std::vector<Layout>& layouts);
/// `dequantize_*` of blocks of files to layouts of codes.
void add_panel_dequantize(std::vector<Kernel>& kernels);
/// `pack` kernels for both layouts of elements.
void add_panel_pack(std::vector<Kernel>& kernels);
/// `pack` kernels that quantize a matrix of floats to codes; they state an error.
void add_panel_quantize(std::vector<Kernel>& kernels);
/// `gather` of rows from a table in the layout `panel32.t` or in codes.
void add_panel_gather(std::vector<Kernel>& kernels);

}  // namespace cairn::kernels::cpu
