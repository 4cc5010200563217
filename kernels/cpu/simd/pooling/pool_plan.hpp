#pragma once

#include "kernels/cpu/simd/pooling/window_plan.hpp"
#include "kernels/cpu/simd/reduction/reduce_plan.hpp"

/// The plan that pool_registration.cpp passes to pool.cpp.
namespace cairn::kernels::cpu {

struct PoolPlan {
    WindowPlan image;
    ReduceKind fold;
};

}  // namespace cairn::kernels::cpu
