#pragma once

#include "cairn/compile.hpp"

/// Automatic splits: where the range of a symbol is divided.
namespace cairn::driver {

/// The options with bounds for each automatic split (Split::automatic). Half of the tuning time is spent on finding
/// them. Throws as compile() does.
CompileOptions with_split_points(const Graph& graph, const Context& context, const CompileOptions& options);

}  // namespace cairn::driver
