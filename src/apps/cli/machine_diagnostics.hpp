#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cairn::cli {

/// A fact about the machine, and what it means for times.
struct MachineDiagnostic {
    std::string name, value;
    std::string advice;  ///< why runs, or measurements of them, suffer, and what helps; empty: all is well
};

/// What the system's files tell of CPUs and memory: governor, turbo, huge pages. What they do not tell is said
/// to be unknown. `root` is where `sys` and `proc` are.
std::vector<MachineDiagnostic> machine_diagnostics(const std::filesystem::path& root = "/");

/// What cpu_quota() tells.
MachineDiagnostic quota_diagnostic(std::optional<double> quota);

}  // namespace cairn::cli
