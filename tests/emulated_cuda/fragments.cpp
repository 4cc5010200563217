#include "tests/emulated_cuda/fragments.hpp"

#include "graph/types/half.hpp"

#include <cmath>
#include <cstring>

namespace cairn::emulated_cuda {

namespace {

/// Rounds towards zero.
float truncated(double value) {
    const auto nearest = static_cast<float>(value);
    if (std::isfinite(value) && std::fabs(static_cast<double>(nearest)) > std::fabs(value))
        return std::nextafter(nearest, 0.0f);
    return nearest;
}

double half(unsigned pair, int index, bool is_bf16) {
    const auto bits = static_cast<std::uint16_t>(pair >> (16 * index));
    return is_bf16 ? types::bf16_to_f32(bits) : types::f16_to_f32(bits);
}

}  // namespace

void multiply_fragments(void* const* parts, bool is_bf16) {
    double a[16][16], b[16][8];
    for (int lane = 0; lane < 32; ++lane) {
        const auto& part = *static_cast<const LaneFragments*>(parts[lane]);
        const int g = lane / 4, t = lane % 4;
        for (int i = 0; i < 2; ++i) {
            for (int r = 0; r < 4; ++r) a[g + r % 2 * 8][2 * t + i + r / 2 * 8] = half(part.a[r], i, is_bf16);
            for (int r = 0; r < 2; ++r) b[2 * t + i + r * 8][g] = half(part.b[r], i, is_bf16);
        }
    }
    for (int lane = 0; lane < 32; ++lane) {
        const auto& part = *static_cast<const LaneFragments*>(parts[lane]);
        const int g = lane / 4, t = lane % 4;
        for (int r = 0; r < 4; ++r) {
            double sum = part.d[r];
            for (int k = 0; k < 16; ++k) sum += a[g + r / 2 * 8][k] * b[k][2 * t + r % 2];
            part.d[r] = truncated(sum);
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
