#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace cairn::test {

inline nlohmann::json golden(const std::string& name) {
    std::ifstream file(std::string(CAIRN_SOURCE_DIR) + "/tests/golden/" + name);
    return nlohmann::json::parse(file);
}

inline std::string model_folder(const std::string& name) {
    return std::string(CAIRN_SOURCE_DIR) + "/examples/models/" + name;
}

/// The largest absolute difference; infinite where the lengths differ.
inline double largest_difference(std::span<const float> actual, const nlohmann::json& expected) {
    if (actual.size() != expected.size()) return INFINITY;
    double largest = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double difference = std::abs(static_cast<double>(actual[i]) - expected[i].get<double>());
        if (!(difference <= largest)) largest = difference;
    }
    return largest;
}

/// The largest absolute difference, by the largest magnitude of the expected values.
inline double relative_difference(std::span<const float> actual, const nlohmann::json& expected) {
    double largest = 0;
    for (const auto& value : expected) largest = std::max(largest, std::abs(value.get<double>()));
    return largest_difference(actual, expected) / largest;
}

}  // namespace cairn::test
