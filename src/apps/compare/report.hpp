#pragma once

#include "apps/compare/agreement.hpp"
#include "apps/compare/machine.hpp"
#include "apps/compare/schedule.hpp"
#include "apps/compare/statistics.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace cairn::compare {

/// The times of one batch size of an implementation.
struct ReportedTimes {
    std::int64_t batch_size = 1;
    Statistics seconds{};              ///< of a request
    double requests_per_second = 0;    ///< requests divided by the sum of their times
    std::optional<double> overhead{};  ///< mean of round trip less own time; nothing: the times are round trips
};

/// One implementation.
struct ReportedImplementation {
    ImplementationSettings settings;
    std::string model_sha256{};          ///< empty: no model is named
    std::optional<std::string> error{};  ///< why it failed
    std::optional<Loaded> loaded{};
    std::optional<double> peak_bytes{}, accuracy{};
    std::optional<Statistics> calibration{};  ///< beside its turns
    std::vector<ReportedTimes> times{};
};

/// A report, from which all forms are written.
struct Report {
    std::string title, made;  ///< made: a time of UTC
    bool is_complete = true;
    Settings settings;
    std::string data_sha256;
    std::int64_t rows = 0;
    Machine machine;
    std::optional<Statistics> calibration{};  ///< of all turns
    std::vector<ReportedImplementation> implementations{};
    std::vector<Agreement> agreements{};  ///< of all pairs that have answered
};

/// Digests of the models of a comparison, in its order; empty for those that name none, and for paths that cannot be
/// read: loading them says why.
std::vector<std::string> model_digests(const Settings& settings);

Report make_report(const Settings& settings, const Dataset& data, const std::vector<std::string>& digests,
                   const Measurements& measurements, const Machine& machine);

/// What reports must have in common to be compared: task, data, what is measured.
nlohmann::ordered_json settings_json(const Settings& settings, const std::string& data_sha256, std::int64_t rows);
/// The report as JSON; docs/compare-report.schema.json describes it. Times are in seconds, memory in bytes.
nlohmann::ordered_json json_of(const Report& report);
/// A line for each batch size of each implementation, with a line of names first; failed implementations have one line
/// with their error.
std::string csv_of(const Report& report);
/// The report as a page.
std::string markdown_of(const Report& report);
/// The report for a terminal.
std::string text_of(const Report& report);

}  // namespace cairn::compare
