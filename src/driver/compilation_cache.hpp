#pragma once

#include "cairn/compile.hpp"

#include <optional>
#include <string>

/// The compilation cache (CompileOptions::cache_file).
namespace cairn::driver {

/// Cache key of a compile: a digest of graph, options, threads, machine, kernels and library.
std::string cache_key_for(const Graph& graph, const Context& context, const CompileOptions& options);

/// Loads the compiled graph of a file whose key is `what`. None if the file does not exist; none, with a log line, if
/// its key differs or it cannot be loaded.
std::optional<CompiledGraph> load_cached(const std::filesystem::path& path, const std::string& what,
                                         const Context& context);

/// Writes the file; a failure is logged.
void store_cached(const CompiledGraph& compiled, const std::filesystem::path& path, const std::string& what,
                  const Context& context);

}  // namespace cairn::driver
