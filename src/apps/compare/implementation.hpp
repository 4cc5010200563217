#pragma once

#include "apps/compare/dataset.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace cairn::compare {

/// The answer to one row.
struct Answer {
    std::string label{};                 ///< of Task::classify; of Task::run if its graph has labels
    std::vector<double> values{};        ///< logits, a vector, or all outputs of a graph
    std::vector<std::int64_t> tokens{};  ///< of Task::generate
    friend bool operator==(const Answer&, const Answer&) = default;
};

/// The label of the largest of as many values.
inline const std::string& label_of_largest(const std::vector<std::string>& labels, const std::vector<double>& values) {
    return labels[static_cast<std::size_t>(std::ranges::max_element(values) - values.begin())];
}

/// What loading has taken.
struct Loaded {
    double load_seconds = 0;                        ///< until the first request can be answered, compiling included
    std::optional<double> compile_seconds{};        ///< the part of it that compiles; nothing: unknown
    std::map<std::string, std::string> versions{};  ///< of the libraries that compute
};

/// The answers to the rows of one request.
struct Reply {
    std::vector<Answer> answers;
    std::optional<double> own_seconds{};  ///< as the implementation measured itself; nothing: it does not
};

/// An implementation under comparison. Every failure is thrown as Error.
class Implementation {
public:
    Implementation() = default;
    Implementation(const Implementation&) = delete;
    Implementation& operator=(const Implementation&) = delete;
    virtual ~Implementation() = default;

    /// Is called once, first.
    virtual Loaded load(const std::stop_token& stop) = 0;
    /// Answers one request.
    virtual Reply answer(std::span<const DataRow> rows, const std::stop_token& stop) = 0;
    /// The most memory so far, in bytes; nothing if the system does not say. Is called after the first requests, before
    /// another implementation is loaded, and later.
    virtual std::optional<double> peak_bytes() = 0;
};

}  // namespace cairn::compare
