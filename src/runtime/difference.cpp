#include "runtime/difference.hpp"

#include "types/half.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace cairn::inline v0::runtime {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

template <typename T>
T stored_at(const std::byte* data, std::size_t i) {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return value;
}

double element(DType dtype, const std::byte* data, std::size_t i) {
    switch (dtype) {
        case DType::f64: return stored_at<double>(data, i);
        case DType::f16: return types::f16_to_f32(stored_at<std::uint16_t>(data, i));
        case DType::bf16: return types::bf16_to_f32(stored_at<std::uint16_t>(data, i));
        default: return stored_at<float>(data, i);
    }
}

bool is_same(double y, double r) { return y == r || (std::isnan(y) && std::isnan(r)); }

/// Calls see(y, r) for each pair of elements.
template <typename See>
void for_each_pair(DType dtype, const ForEachStretch& for_each_stretch, See see) {
    const std::size_t size = size_of(dtype);
    for_each_stretch([&](const std::byte* got, const std::byte* wanted, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes / size; ++i) see(element(dtype, got, i), element(dtype, wanted, i));
    });
}

double difference_of_integers(const ForEachStretch& for_each_stretch) {
    bool same = true;
    for_each_stretch([&](const std::byte* got, const std::byte* wanted, std::size_t bytes) {
        same = same && (bytes == 0 || std::memcmp(got, wanted, bytes) == 0);
    });
    return same ? 0 : endless;
}

}  // namespace

double difference(DType dtype, const ForEachStretch& for_each_stretch) {
    if (!is_float(dtype)) return difference_of_integers(for_each_stretch);
    double off = 0, squares = 0, count = 0;
    bool same = true, comparable = true;
    for_each_pair(dtype, for_each_stretch, [&](double y, double r) {
        ++count;
        if (std::isfinite(r)) squares += r * r;
        if (is_same(y, r)) return;
        same = false;
        comparable = comparable && std::isfinite(y) && std::isfinite(r);
        off += (y - r) * (y - r);
    });
    if (same) return 0;
    // Squares that are no numbers of f64 tell nothing.
    if (!comparable || off == 0 || !std::isfinite(off) || !std::isfinite(squares)) return endless;
    const double rms = std::sqrt(squares / std::max(1.0, count));
    double largest = 0;
    for_each_pair(dtype, for_each_stretch, [&](double y, double r) {
        if (!is_same(y, r)) largest = std::max(largest, std::fabs(y - r) / std::max(std::fabs(r), rms));
    });
    return std::max(std::sqrt(off) / std::sqrt(squares), largest / 10);
}

}  // namespace cairn::inline v0::runtime
