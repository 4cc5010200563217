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
        return std::nextafter(nearest, 0.0f);
    return nearest;
}

/// Values in a register of an operand.
int values_of(WarpOperation operation) {
    if (operation == WarpOperation::mma_tf32) return 1;
    return operation == WarpOperation::mma_i8 ? 4 : 2;
}

double value_at(unsigned bits, int index, WarpOperation operation) {
    const auto half = [&] { return static_cast<std::uint16_t>(bits >> (16 * index)); };
    switch (operation) {
        case WarpOperation::mma_i8: return static_cast<std::int8_t>(bits >> (8 * index));
        case WarpOperation::mma_tf32: return std::bit_cast<float>(bits & ~0x1fffu);
        case WarpOperation::mma_bf16: return types::bf16_to_f32(half());
        default: return types::f16_to_f32(half());
    }
}

}  // namespace

void multiply_fragments(void* const* parts, WarpOperation operation) {
    double a[16][32], b[32][8];
    const int values = values_of(operation), depth = 8 * values;
    for (int lane = 0; lane < 32; ++lane) {
        const auto& part = *static_cast<const LaneFragments*>(parts[lane]);
        const int g = lane / 4, t = lane % 4;
        for (int i = 0; i < values; ++i) {
            for (int r = 0; r < 4; ++r)
                a[g + r % 2 * 8][values * t + i + r / 2 * (depth / 2)] = value_at(part.a[r], i, operation);
            for (int r = 0; r < 2; ++r) b[values * t + i + r * (depth / 2)][g] = value_at(part.b[r], i, operation);
        }
    }
    for (int lane = 0; lane < 32; ++lane) {
        const auto& part = *static_cast<const LaneFragments*>(parts[lane]);
        const int g = lane / 4, t = lane % 4;
        const bool is_integral = operation == WarpOperation::mma_i8;
        for (int r = 0; r < 4; ++r) {
            double sum = is_integral ? 0 : static_cast<float*>(part.d)[r];
            for (int k = 0; k < depth; ++k) sum += a[g + r / 2 * 8][k] * b[k][2 * t + r % 2];
            if (is_integral)
                static_cast<unsigned*>(part.d)[r] += static_cast<unsigned>(static_cast<int>(sum));
            else
                static_cast<float*>(part.d)[r] = truncated(sum);
        }
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
