#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

/// Reference results of composites along one axis for one row or column, in f64.
namespace cairn::test {

using Row = std::vector<double>;

inline Row softmax(Row x) {
    double most = -INFINITY, sum = 0;
    for (const double v : x) most = v > most || v != v ? v : most;
    for (double& v : x) sum += v = std::exp(v - most);
    for (double& v : x) v /= sum;
    return x;
}

inline Row log_softmax(const Row& x) {
    Row y = softmax(x);
    for (double& v : y) v = std::log(v);
    return y;
}

/// Layer norm if `centered`, otherwise RMS norm; an empty gamma is ones, an empty beta zeros.
inline Row normalized(Row x, bool centered, double eps, const Row& gamma, const Row& beta) {
    double mean = 0, square = 0;
    for (const double v : x) mean += centered ? v / static_cast<double>(x.size()) : 0;
    for (const double v : x) square += (v - mean) * (v - mean) / static_cast<double>(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = (x[i] - mean) / std::sqrt(square + eps) * (gamma.empty() ? 1 : gamma[i]) + (beta.empty() ? 0 : beta[i]);
    return x;
}

/// True if both are NaN, equal, or differ by at most `tolerance` times the larger of 1 and the expected value.
inline bool is_near(double actual, double expected, double tolerance) {
    if (std::isnan(expected)) return std::isnan(actual);
    return actual == expected || std::fabs(actual - expected) <= tolerance * std::max(1.0, std::fabs(expected));
}

}  // namespace cairn::test
