#pragma once

#include "cairn/types.hpp"

/// The plan that cumsum_registration.cpp passes to cumsum.cpp.
namespace cairn::kernels::cpu {

struct CumsumPlan {
    int axis;
    DType dtype;
};

}  // namespace cairn::kernels::cpu
