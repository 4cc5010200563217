#pragma once

#include "kernels/cpu/level.hpp"

#include <vector>

/// The functions of the SIMD family that are compiled once per level.
// clang-format off
#define CAIRN_SIMD_TABLE(ROW) \
    ROW(elementwise)          \
    ROW(softmax)              \
    ROW(log_softmax)          \
    ROW(layer_norm)           \
    ROW(rms_norm)             \
    ROW(add_layer_norm)       \
    ROW(add_rms_norm)         \
    ROW(reduce_axes)          \
    ROW(pool)                 \
    ROW(cumsum)               \
    ROW(attention)
// clang-format on

namespace cairn::kernels::cpu {

struct SimdTable {
    CAIRN_SIMD_TABLE(CAIRN_FIELD)
};

/// Append the kernels of a level in order of preference.
void add_elementwise(std::vector<Kernel>& kernels, FeatureSet needs, const SimdTable& table);
void add_row_kernels(std::vector<Kernel>& kernels, FeatureSet needs, const SimdTable& table);
void add_reductions(std::vector<Kernel>& kernels, FeatureSet needs, const SimdTable& table);
void add_pools(std::vector<Kernel>& kernels, FeatureSet needs, const SimdTable& table);
void add_cumsum(std::vector<Kernel>& kernels, FeatureSet needs, const SimdTable& table);
void add_attention(std::vector<Kernel>& kernels, FeatureSet needs, const SimdTable& table);
/// Movement, gather, scatter, sort and iota kernels, whose code is the same at all levels.
void add_copies(std::vector<Kernel>& kernels);
void add_gathers(std::vector<Kernel>& kernels);
void add_scatter(std::vector<Kernel>& kernels);
void add_argsort(std::vector<Kernel>& kernels);
void add_counting_sort(std::vector<Kernel>& kernels);
void add_iota(std::vector<Kernel>& kernels);
void add_pad(std::vector<Kernel>& kernels);

}  // namespace cairn::kernels::cpu

#if defined(CAIRN_ISA)
namespace CAIRN_LEVEL {
CAIRN_SIMD_TABLE(CAIRN_DECLARE)
}  // namespace CAIRN_LEVEL
#endif
