#pragma once

#include "cairn/compiled_graph.hpp"

#include <filesystem>
#include <string>

/// The two steps of CompiledGraph::load(), for callers that inspect the text in between.
namespace cairn::driver {

/// Reads the text of a saved file. Throws Error(file).
std::string read_saved(const std::filesystem::path& path);

/// Checks and links the contents of a saved file; errors name the path. Throws as CompiledGraph::load() does.
CompiledGraph load_text(const std::string& text, const std::filesystem::path& path, const Context& context);

}  // namespace cairn::driver
