#pragma once

#include "kernels/cpu/simd/pooling/window_plan.hpp"
#include "kernels/cpu/simd/reduction/reduce_plan.hpp"

/// What pool_rows.cpp tells pool.cpp.
namespace cairn::kernels::cpu {

struct PoolPlan {
    WindowPlan image;
    ReduceKind fold;
};

}  // namespace cairn::kernels::cpu
