#pragma once

#include "cairn/compile.hpp"
#include "graph/ir/graph_data.hpp"

#include <span>
#include <string>

/// Declares checks and the text form of CompileOptions::input_devices and output_devices.
namespace cairn::driver {

/// Throws Error(argument) for the name of no input or output, and for any device if programs are not searched;
/// Error(unsupported) for a device that is not among `devices`.
void check_port_devices(const ir::GraphData& graph, std::span<const DeviceRates> devices,
                        const CompileOptions& options);

/// A line for each port that is not on the CPU: a part of what identifies a compile.
std::string port_devices_text(const CompileOptions& options);

}  // namespace cairn::driver
