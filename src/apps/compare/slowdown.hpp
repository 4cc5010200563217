#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cairn::compare {

/// A report that was written by json_of(), read back. Throws Error(file) for a file that is none, or of another format.
nlohmann::json read_report(const std::filesystem::path& path);

/// One batch size of one implementation in two reports.
struct RowChange {
    std::string name;
    std::int64_t batch_size = 1;
    double old_seconds = 0, new_seconds = 0;  ///< p50
    double machine = 1;                       ///< new calibration / old: above 1 the machine is slower now
    /// How much slower it is than the machine explains: (new / old) / machine.
    double factor() const { return new_seconds / old_seconds / machine; }
};

/// What has changed between two reports.
struct ReportChange {
    std::vector<RowChange> rows{};
    std::vector<std::string> failures{};  ///< what had times and has none now
    std::vector<std::string> notes{};     ///< what was not compared, and other models or machines
};

/// Throws Error(argument) if the old report was stopped or has other settings than settings_json(): one sentence with
/// the first difference.
void check_comparable(const nlohmann::json& old_report, const nlohmann::json& settings);

/// Compares by p50 what both reports have, scaled by the calibration beside the turns of each implementation. Throws
/// what check_comparable() throws.
ReportChange change_of(const nlohmann::json& old_report, const nlohmann::json& new_report);

/// The change as text: all rows, those slower by more than `allowed` (0.05: 5 %) marked.
std::string text_of(const ReportChange& change, double allowed);
/// True if nothing failed and no row is slower by more than `allowed`.
bool is_acceptable(const ReportChange& change, double allowed);

}  // namespace cairn::compare
