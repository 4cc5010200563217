#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace cairn::test {

/// The relative L2 norm of the difference of results from wanted ones of the same size.
inline double relative_distance(const std::vector<float>& got, const std::vector<float>& wanted) {
    double difference = 0, square = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        difference += std::pow(static_cast<double>(got[i]) - static_cast<double>(wanted[i]), 2);
        square += std::pow(static_cast<double>(wanted[i]), 2);
    }
    return std::sqrt(difference / square);
}

}  // namespace cairn::test
