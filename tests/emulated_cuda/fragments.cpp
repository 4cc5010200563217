#include "tests/emulated_cuda/fragments.hpp"

#include "graph/types/half.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace cairn::emulated_cuda {

namespace {

/// Rounds towards zero; what is subnormal becomes 0, what is too large infinite.
float truncated(double value) {
    if (std::fabs(value) < std::numeric_limits<float>::min()) return 0;
    const auto nearest = static_cast<float>(value);
    if (std::isfinite(nearest) && std::fabs(static_cast<double>(nearest)) > std::fabs(value))
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(nearest) - 1);
    return nearest;
}

/// A value in a register of an operand.
template <WarpOperation operation>
double value_at(unsigned bits, int index) {
    if constexpr (operation == WarpOperation::mma_i8) {
        return static_cast<std::int8_t>(bits >> (8 * index));
    } else if constexpr (operation == WarpOperation::mma_tf32) {
        return std::bit_cast<float>(bits & ~0x1fffu);
    } else {
        const auto half = static_cast<std::uint16_t>(bits >> (16 * index));
        return operation == WarpOperation::mma_bf16 ? types::bf16_to_f32(half) : types::f16_to_f32(half);
    }
}

template <WarpOperation operation>
void multiply(void* const* parts) {
    constexpr bool is_integral = operation == WarpOperation::mma_i8;
    // Values in a register of an operand.
    constexpr int values = operation == WarpOperation::mma_tf32 ? 1 : is_integral ? 4 : 2, depth = 8 * values;
    double a[16][depth], b[depth][8], sums[16][8];
    for (int lane = 0; lane < 32; ++lane) {
        const auto& part = *static_cast<const LaneFragments*>(parts[lane]);
        const int g = lane / 4, t = lane % 4;
        for (int i = 0; i < values; ++i) {
            for (int r = 0; r < 4; ++r)
                a[g + r % 2 * 8][values * t + i + r / 2 * (depth / 2)] = value_at<operation>(part.a[r], i);
            for (int r = 0; r < 2; ++r) b[values * t + i + r * (depth / 2)][g] = value_at<operation>(part.b[r], i);
        }
        for (int r = 0; r < 4; ++r)
            sums[g + r / 2 * 8][2 * t + r % 2] = is_integral ? 0 : static_cast<float*>(part.d)[r];
    }
    for (int row = 0; row < 16; ++row)
        for (int k = 0; k < depth; ++k)
            for (int column = 0; column < 8; ++column) sums[row][column] += a[row][k] * b[k][column];
    for (int lane = 0; lane < 32; ++lane) {
        const auto& part = *static_cast<const LaneFragments*>(parts[lane]);
        const int g = lane / 4, t = lane % 4;
        for (int r = 0; r < 4; ++r) {
            const double sum = sums[g + r / 2 * 8][2 * t + r % 2];
            if constexpr (is_integral)
                static_cast<unsigned*>(part.d)[r] += static_cast<unsigned>(static_cast<int>(sum));
            else
                static_cast<float*>(part.d)[r] = truncated(sum);
        }
    }
}

}  // namespace

void multiply_fragments(void* const* parts, WarpOperation operation) {
    switch (operation) {
        case WarpOperation::mma_i8: return multiply<WarpOperation::mma_i8>(parts);
        case WarpOperation::mma_tf32: return multiply<WarpOperation::mma_tf32>(parts);
        case WarpOperation::mma_bf16: return multiply<WarpOperation::mma_bf16>(parts);
        default: return multiply<WarpOperation::mma_f16>(parts);
    }
}

void load_fragments(void* const* parts, bool transposed) {
    unsigned short rows[32][8];
    for (int lane = 0; lane < 32; ++lane)
        std::memcpy(rows[lane], static_cast<const LaneRow*>(parts[lane])->row, sizeof rows[lane]);
    for (int lane = 0; lane < 32; ++lane) {
        const int g = lane / 4, t = lane % 4;
        unsigned* result = static_cast<const LaneRow*>(parts[lane])->result;
        for (int matrix = 0; matrix < 4; ++matrix) {
            const auto* m = rows + 8 * matrix;
            const unsigned low = transposed ? m[2 * t][g] : m[g][2 * t];
            const unsigned high = transposed ? m[2 * t + 1][g] : m[g][2 * t + 1];
            result[matrix] = low | high << 16;
        }
    }
}

}  // namespace cairn::emulated_cuda
