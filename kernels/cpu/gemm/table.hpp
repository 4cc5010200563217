#pragma once

#include "kernels/cpu/level.hpp"

#include <vector>

/// The functions of the GEMM family that are compiled once per level.
// clang-format off
#define CAIRN_GEMM_TABLE(ROW) \
    ROW(gemm_float)           \
    ROW(gemm_argmax)         \
    ROW(gemm_double)          \
    ROW(gemm_bytes)           \
    ROW(gemm_i32)             \
    ROW(gemm_i64)             \
    ROW(windows_float)        \
    ROW(windows_double)       \
    ROW(windows_bytes)        \
    ROW(windows_i32)          \
    ROW(windows_i64)
// clang-format on

namespace cairn::kernels::cpu {

struct GemmTable {
    CAIRN_GEMM_TABLE(CAIRN_FIELD)
};

/// Appends the kernels of a level in order of preference: products, and im2col convolutions.
void add_gemm(std::vector<Kernel>& kernels, FeatureSet needs, const GemmTable& table);
void add_im2col_convolutions(std::vector<Kernel>& kernels, FeatureSet needs, const GemmTable& table);

}  // namespace cairn::kernels::cpu

#if defined(CAIRN_ISA)
namespace CAIRN_LEVEL {
CAIRN_GEMM_TABLE(CAIRN_DECLARE)
}  // namespace CAIRN_LEVEL
#endif
