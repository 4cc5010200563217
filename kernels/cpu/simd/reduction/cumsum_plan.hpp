#pragma once

#include "cairn/types.hpp"

/// What cumsum_rows.cpp tells cumsum.cpp.
namespace cairn::kernels::cpu {

struct CumsumPlan {
    int axis;
    DType dtype;
};

}  // namespace cairn::kernels::cpu
