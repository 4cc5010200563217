#pragma once

#include "cairn/compile.hpp"

/// Where the range of a symbol is cut when nobody says where.
namespace cairn::driver {

/// The same options with bounds for each automatic split (Split::automatic). Half of the time for tuning goes into
/// finding them. Throws as compile() does.
CompileOptions with_split_points(const Graph& graph, const Context& context, const CompileOptions& options);

}  // namespace cairn::driver
