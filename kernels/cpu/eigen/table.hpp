#pragma once

#include "kernels/cpu/level.hpp"

#include <vector>

/// The functions of the Eigen family that are compiled once per level.
// clang-format off
#define CAIRN_EIGEN_TABLE(ROW) \
    ROW(eigen_matmul)
// clang-format on

namespace cairn::kernels::cpu {

struct EigenTable {
    CAIRN_EIGEN_TABLE(CAIRN_FIELD)
};

/// Appends the kernels of a level in order of preference.
void add_eigen_matmul(std::vector<Kernel>& kernels, FeatureSet needs, const EigenTable& table);

}  // namespace cairn::kernels::cpu

#if defined(CAIRN_ISA)
namespace CAIRN_LEVEL {
CAIRN_EIGEN_TABLE(CAIRN_DECLARE)
}  // namespace CAIRN_LEVEL
#endif
