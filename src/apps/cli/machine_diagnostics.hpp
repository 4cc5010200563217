#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cairn::cli {

/// A fact about the machine, and its effect on times.
struct MachineDiagnostic {
    std::string name, value;
    std::string advice;  ///< why runs, or their measurements, suffer, and the remedy; empty if there is no problem
};

/// Facts about CPUs and memory from the files of the system: governor, turbo, huge pages; `unknown` if a file is
/// missing. `root` is the folder that contains `sys` and `proc`.
std::vector<MachineDiagnostic> machine_diagnostics(const std::filesystem::path& root = "/");

/// The CPU quota, as returned by cpu_quota().
MachineDiagnostic quota_diagnostic(std::optional<double> quota);

}  // namespace cairn::cli
