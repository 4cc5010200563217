#pragma once

#include "cairn/compile.hpp"

#include <optional>
#include <string>

/// CompileOptions::saved: what was compiled once is taken from its file.
namespace cairn::driver {

/// All that a compiled graph depends on, as a digest: graph, options, threads, machine, kernels, library.
std::string cache_key_for(const Graph& graph, const Context& context, const CompileOptions& options);

/// The compiled graph of a file that says it was made for that; none where there is no such file, it was made for
/// something else, or cannot be loaded, which the log tells.
std::optional<CompiledGraph> load_cached(const std::filesystem::path& path, const std::string& what,
                                         const Context& context);

/// Writes the file; where that fails the log tells.
void store_cached(const CompiledGraph& compiled, const std::filesystem::path& path, const std::string& what,
                  const Context& context);

}  // namespace cairn::driver
