#include "runtime/tensor_error.hpp"

#include "graph/types/element_access.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace cairn::runtime {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

bool is_same(double y, double r) { return y == r || (std::isnan(y) && std::isnan(r)); }

/// Calls see(y, r) for each pair of elements.
template <typename See>
void for_each_pair(DType dtype, const ForEachSegment& for_each_segment, See see) {
    const std::size_t size = size_of(dtype);
    for_each_segment([&](const std::byte* got, const std::byte* wanted, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes / size; ++i)
            see(types::load_float(dtype, got, i), types::load_float(dtype, wanted, i));
    });
}

double integer_error(const ForEachSegment& for_each_segment) {
    bool same = true;
    for_each_segment([&](const std::byte* got, const std::byte* wanted, std::size_t bytes) {
        same = same && (bytes == 0 || std::memcmp(got, wanted, bytes) == 0);
    });
    return same ? 0 : endless;
}

}  // namespace

double tensor_error(DType dtype, const ForEachSegment& for_each_segment) {
    if (!is_float(dtype)) return integer_error(for_each_segment);
    double off = 0, squares = 0, count = 0;
    bool same = true, comparable = true;
    for_each_pair(dtype, for_each_segment, [&](double y, double r) {
        ++count;
        if (std::isfinite(r)) squares += r * r;
        if (is_same(y, r)) return;
        same = false;
        comparable = comparable && std::isfinite(y) && std::isfinite(r);
        off += (y - r) * (y - r);
    });
    if (same) return 0;
    // Squares that overflow or underflow f64 give no usable error.
    if (!comparable || off == 0 || !std::isfinite(off) || !std::isfinite(squares)) return endless;
    const double rms = std::sqrt(squares / std::max(1.0, count));
    double largest = 0;
    for_each_pair(dtype, for_each_segment, [&](double y, double r) {
        if (!is_same(y, r)) largest = std::max(largest, std::fabs(y - r) / std::max(std::fabs(r), rms));
    });
    return std::max(std::sqrt(off) / std::sqrt(squares), largest / 10);
}

}  // namespace cairn::runtime
