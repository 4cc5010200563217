#pragma once

#include "cairn/kernel.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

/// The panel layouts: packed forms of a weight matrix W [K, N], in panels of 32 columns.
///
/// `panel32`, the packed form of a weight matrix W [K, N]. Each panel holds 32 columns, stored k by k, so that a
/// product reads one stream. The last panel is padded with zeros.
///
///     W[k, n] stands at panels[n / 32 * K * 32 + k * 32 + n % 32]
///
/// `panel32` is the layout of W. The same bytes are `panel32.t` of the transposed matrix. So a table [V, D] that is the
/// embedding and, transposed, the output projection is packed once; row v of the table is column v of the panels.
///
/// `panel32_q8` holds an f32 matrix as codes of 8 bits in groups of 32 along K, each column of a group with a scale; K
/// is a multiple of 32. Dequantization writes it from the blocks of a file, without loss; nothing packs it. A group of
/// a panel has the 32 scales in f16 and then the codes, k by k: 34 bytes for each k.
///
///     W[k, n] = scale * code, in the group at panels + (n / 32 * K + k / 32 * 32) * 34:
///     scale is the f16 at byte n % 32 * 2, code is the i8 at byte 64 + k % 32 * 32 + n % 32
namespace cairn::kernels::cpu {

constexpr std::int64_t panel_width = 32;
constexpr std::string_view panel_layout = "panel32", panel_layout_transposed = "panel32.t";

constexpr std::string_view q8_layout = "panel32_q8", q8_layout_transposed = "panel32_q8.t";
/// Steps of k in a group, bytes of its scales, and bytes of a panel for each k.
constexpr std::int64_t q8_group = 32, q8_scale_bytes = 2 * panel_width, q8_row_bytes = panel_width + 2;

/// Storage dtypes of panels: f32, f16, bf16.
inline bool is_panel_dtype(DType dtype) noexcept { return dtype == DType::f32 || is_widening(dtype, DType::f32); }

inline std::int64_t panel_count(std::int64_t columns) noexcept { return (columns + panel_width - 1) / panel_width; }

/// The layouts panel32 and panel32_q8, plain and transposed.
void add_panel_layouts(std::vector<Layout>& layouts);
/// `dequantize_*` of blocks of files to panel32_q8.
void add_panel_dequantize(std::vector<Kernel>& kernels);
/// `pack` kernels for both layouts.
void add_panel_pack(std::vector<Kernel>& kernels);
/// `gather` of rows from a table in the layouts `panel32.t` and `panel32_q8.t`.
void add_panel_gather(std::vector<Kernel>& kernels);

}  // namespace cairn::kernels::cpu
