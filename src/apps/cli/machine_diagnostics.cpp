#include "apps/cli/machine_diagnostics.hpp"

#include <fmt/format.h>

#include <fstream>

namespace cairn::cli {
namespace {

constexpr const char* unknown = "unknown";

/// The first line of a file; empty if it does not exist.
std::string line_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

MachineDiagnostic governor_diagnostic(const std::filesystem::path& root) {
    MachineDiagnostic fact{"governor", line_of(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"), {}};
    if (fact.value.empty())
        fact.value = unknown;
    else if (fact.value != "performance")
        fact.advice = "clocks rise late, so short runs are slow and times vary: cpupower frequency-set -g performance";
    return fact;
}

MachineDiagnostic turbo_diagnostic(const std::filesystem::path& root) {
    const std::string intel = line_of(root / "sys/devices/system/cpu/intel_pstate/no_turbo"),
                      other = line_of(root / "sys/devices/system/cpu/cpufreq/boost");
    MachineDiagnostic fact{"turbo", unknown, {}};
    if (intel.empty() && other.empty()) return fact;
    const bool is_on = intel.empty() ? other != "0" : intel != "1";
    fact.value = is_on ? "on" : "off";
    if (is_on) fact.advice = "clocks depend on heat and on what other cores do: measure where nothing else runs";
    return fact;
}

/// The selected value is in brackets: `always [madvise] never`.
MachineDiagnostic huge_pages_diagnostic(const std::filesystem::path& root) {
    const std::string choices = line_of(root / "sys/kernel/mm/transparent_hugepage/enabled");
    const std::size_t open = choices.find('['), close = choices.find(']');
    MachineDiagnostic fact{"huge pages", unknown, {}};
    if (open == std::string::npos || close == std::string::npos || close < open) return fact;
    fact.value = choices.substr(open + 1, close - open - 1);
    if (fact.value == "never")
        fact.advice = "large weights miss the TLB: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";
    return fact;
}

}  // namespace

std::vector<MachineDiagnostic> machine_diagnostics(const std::filesystem::path& root) {
    return {governor_diagnostic(root), turbo_diagnostic(root), huge_pages_diagnostic(root)};
}

MachineDiagnostic quota_diagnostic(std::optional<double> quota) {
    if (!quota) return {"CPU quota", "none", {}};
    return {"CPU quota", fmt::format("{:.3g} CPUs", *quota),
            "threads are stopped when the quota of a period is spent: use no more threads than it has CPUs"};
}

}  // namespace cairn::cli
