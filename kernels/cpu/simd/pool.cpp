#include "kernels/cpu/simd/image_band.hpp"
#include "kernels/cpu/simd/pool_plan.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <limits>

/// Sum, mean and largest element of each window of an image.
namespace CAIRN_LEVEL {
namespace {

struct NoFactor {};

struct SumOfWindow {
    static constexpr float none = 0;
    CAIRN_INLINE static NoFactor factor(std::int64_t) { return {}; }
    CAIRN_INLINE static void take(F32& sum, NoFactor, F32 x) { sum += x; }
    CAIRN_INLINE static F32 finish(F32 sum) { return sum; }
};

struct MeanOfWindow : SumOfWindow {
    float taps;
    CAIRN_INLINE F32 finish(F32 sum) const { return sum / splat(taps); }
};

/// NaN if any is.
struct LargestOfWindow {
    static constexpr float none = -std::numeric_limits<float>::infinity();
    CAIRN_INLINE static NoFactor factor(std::int64_t) { return {}; }
    CAIRN_INLINE static void take(F32& largest, NoFactor, F32 x) { largest = max(largest, x); }
    CAIRN_INLINE static F32 finish(F32 largest) { return largest; }
};

template <typename Element>
void pool_as(const Args& args, Team& team) {
    const PoolPlan& plan = *static_cast<const PoolPlan*>(args.prepared);
    const auto fold = [&](const auto& op) {
        fold_windows<Element>(
            plan.image, args.inputs[0], args.outputs[0], 1, team,
            args.workspace, [&](std::int64_t, std::int64_t) -> const auto& { return op; });
    };
    switch (plan.fold) {
        case Fold::sum: return fold(SumOfWindow());
        case Fold::mean: return fold(MeanOfWindow{{}, static_cast<float>(plan.image.taps())});
        default: return fold(LargestOfWindow());
    }
}

}  // namespace

void pool(const Args& args, Team& team) {
    with_element(static_cast<const PoolPlan*>(args.prepared)->image.dtype,
                 [&](auto element) { pool_as<decltype(element)>(args, team); });
}

}  // namespace CAIRN_LEVEL
