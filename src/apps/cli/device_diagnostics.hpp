#pragma once

#include "apps/cli/machine_diagnostics.hpp"
#include "apps/cli/options.hpp"
#include "cairn/devices.hpp"
#include "cairn/tuning.hpp"

#include <filesystem>
#include <vector>

namespace cairn::cli {

/// Facts about each GPU: name, memory, driver, compiler, and the rates by which times on it are estimated: measured now
/// for a GPU that the Context has opened, else those that the database has, else nominal ones. If there is none, one
/// fact says why. The database is only read.
std::vector<MachineDiagnostic> device_diagnostics(const Context& context, const std::filesystem::path& database);

/// The facts of one GPU, each named after it. `since`: when the rates were measured, for people.
std::vector<MachineDiagnostic> facts_of(Device device, const DeviceInfo& info, const KnownRates& known,
                                        const std::string& since);

/// The fact that there is no GPU.
MachineDiagnostic absence_of(const FoundDevices& found);

}  // namespace cairn::cli
