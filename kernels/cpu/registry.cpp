#include "kernels/cpu/registry.hpp"

#include "kernels/cpu/panel/layout.hpp"
#include "kernels/cpu/reference/registration.hpp"
#include "kernels/cpu/table.hpp"
#include "kernels/partial_sums.hpp"

namespace cairn::kernels::cpu {

void add_level(std::vector<Kernel>& kernels, FeatureSet needs, const CpuTable& table) {
    add_attention(kernels, needs, table.simd);
    add_row_kernels(kernels, needs, table.simd);
    add_reductions(kernels, needs, table.simd);
    add_pools(kernels, needs, table.simd);
    add_cumsum(kernels, needs, table.simd);
    add_panel_linear(kernels, needs, table.panel);
    add_panel_integer_linear(kernels, needs, table.panel);
    add_gemm(kernels, needs, table.gemm);
    add_eigen_matmul(kernels, needs, table.eigen);
    add_convolutions(kernels, needs, table.panel);
    add_im2col_convolutions(kernels, needs, table.gemm);
    add_elementwise(kernels, needs, table.simd);
}

std::vector<Kernel> kernel_list() {
    std::vector<Kernel> kernels;
#if defined(CAIRN_HAS_amx_bf16)
    add_panel_bf16_linear(kernels, levels::amx_bf16, cairn_table_amx_bf16);
#endif
#if defined(CAIRN_HAS_avx512_vnni)
    add_panel_byte_linear(kernels, levels::avx512_vnni, cairn_table_avx512_vnni);
#endif
#if defined(CAIRN_HAS_avx512)
    add_level(kernels, levels::avx512, cairn_table_avx512);
#endif
#if defined(CAIRN_HAS_avx2)
    add_level(kernels, levels::avx2, cairn_table_avx2);
#endif
    add_level(kernels, levels::baseline, cairn_table_baseline);
    add_panel_gather(kernels);
    add_panel_pack(kernels);
    add_panel_quantize(kernels);
    add_panel_dequantize(kernels);
    add_copies(kernels);
    add_gathers(kernels);
    add_scatter(kernels);
    add_counting_sort(kernels);
    add_argsort(kernels);
    add_iota(kernels);
    add_pad(kernels);
    reference::add_elementwise(kernels);
    reference::add_reductions(kernels);
    reference::add_matmul(kernels);
    reference::add_movement(kernels);
    reference::add_indexing(kernels);
    reference::add_scans(kernels);
    reference::add_state_changes(kernels);
    return kernels;
}

std::vector<Layout> layout_list() {
    std::vector<Layout> layouts;
    add_panel_layouts(layouts);
    add_partial_sums_layout(layouts);
    return layouts;
}

}  // namespace cairn::kernels::cpu
