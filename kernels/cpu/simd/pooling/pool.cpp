#include "kernels/cpu/simd/pooling/pool_plan.hpp"
#include "kernels/cpu/simd/pooling/window_band.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <limits>

/// Sum, mean and maximum over each window of an image. Bytes are exact as floats.
namespace CAIRN_LEVEL {
namespace {

struct NoFactor {};

struct SumOfWindow {
    static constexpr float identity = 0;
    CAIRN_INLINE static NoFactor factor(std::int64_t) { return {}; }
    CAIRN_INLINE static void take(F32& sum, NoFactor, F32 x) { sum += x; }
    CAIRN_INLINE static F32 finish(F32 sum) { return sum; }
};

struct MeanOfWindow : SumOfWindow {
    float taps;
    CAIRN_INLINE F32 finish(F32 sum) const { return sum / splat(taps); }
};

/// NaN if any element is NaN.
struct MaxOfWindow {
    static constexpr float identity = -std::numeric_limits<float>::infinity();
    CAIRN_INLINE static NoFactor factor(std::int64_t) { return {}; }
    CAIRN_INLINE static void take(F32& largest, NoFactor, F32 x) { largest = max(largest, x); }
    CAIRN_INLINE static F32 finish(F32 largest) { return largest; }
};

/// Maximum of i32, whose bits the band holds in place of floats.
struct MaxOfInteger {
    static constexpr float identity = -0.0f;  // its bits are the least i32
    CAIRN_INLINE static NoFactor factor(std::int64_t) { return {}; }
    CAIRN_INLINE static void take(F32& largest, NoFactor, F32 x) {
        const I32 a = bits(largest), b = bits(x);
        largest = from_bits(a > b ? a : b);
    }
    CAIRN_INLINE static F32 finish(F32 largest) { return largest; }
};

template <typename Element>
void pool_as(const Args& args, Team& team) {
    const PoolPlan& plan = *static_cast<const PoolPlan*>(args.prepared);
    const Planes<const Element> x(args.inputs[0], plan.image.axes);
    const Planes<Element> out(args.outputs[0], plan.image.axes);
    std::byte* const memory = args.workspace + band_bytes(plan.image, out.height, out.width) * team.rank();
    const auto fold = [&](const auto& op) {
        each_band<Element>(
            plan.image, x, out.depth, out.height, out.width, 1, team, memory,
            [&](Band& band, const BandOutput& at) {
                band.fold(op, out.at(at.b, at.c, at.depth, at.row) + at.column, out.row_stride, at.rows, at.columns);
            },
            [] {});
    };
    switch (plan.fold) {
        case ReduceKind::sum: return fold(SumOfWindow());
        case ReduceKind::mean: return fold(MeanOfWindow{{}, static_cast<float>(plan.image.taps())});
        default: return plan.image.dtype == DType::i32 ? fold(MaxOfInteger()) : fold(MaxOfWindow());
    }
}

}  // namespace

void pool(const Args& args, Team& team) {
    const DType dtype = static_cast<const PoolPlan*>(args.prepared)->image.dtype;
    if (dtype == DType::i8) return pool_as<std::int8_t>(args, team);
    if (dtype == DType::u8) return pool_as<std::uint8_t>(args, team);
    with_element(dtype, [&](auto element) { pool_as<decltype(element)>(args, team); });
}

}  // namespace CAIRN_LEVEL
