#pragma once

#include "apps/compare/implementation.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::compare {

/// The times of the requests of one batch size, in the order in which they ran.
struct BatchTimes {
    std::int64_t batch_size = 1;
    std::vector<double> round_trips{};  ///< seconds from the request to its answers
    std::vector<double> own{};          ///< as the implementation measured itself; empty if it does not

    bool has_own() const { return own.size() == round_trips.size(); }
    /// The times that are reported.
    const std::vector<double>& seconds() const { return has_own() ? own : round_trips; }
};

/// What was measured of one implementation.
struct Measured {
    std::optional<std::string> error{};  ///< why it failed; what it has measured before stays
    std::optional<Loaded> loaded{};      ///< nothing: it failed before
    std::optional<double> peak_bytes{};
    std::vector<Answer> answers{};      ///< to all rows; empty: it failed before
    std::vector<BatchTimes> batches{};  ///< one for each batch size
    std::vector<double> calibration{};  ///< seconds beside each of its turns
};

/// What was measured of all.
struct Measurements {
    std::vector<Measured> implementations;
    bool is_complete = true;  ///< false: stopped
};

/// Makes an implementation. Throws Error.
using ImplementationMaker = std::function<std::unique_ptr<Implementation>(const ImplementationSettings& implementation,
                                                                          const Settings& settings)>;

/// Loads each implementation, warms it up at every batch size, and lets it answer all rows once, which is not timed.
/// Then the implementations alternate: in each turn, each of them answers `iterations` requests of every batch size;
/// the first of a turn is the second of the one before. All are asked the same rows. A failure ends that implementation
/// only; a stop ends all, and what was measured is returned.
Measurements measure(const Settings& settings, const Dataset& data, const ImplementationMaker& make,
                     const std::function<void(std::string_view)>& progress, const std::stop_token& stop);

}  // namespace cairn::compare
