#pragma once

#include "cairn/compiled_graph.hpp"

#include <filesystem>
#include <string>

/// CompiledGraph::load() in two steps, for who looks at the text in between.
namespace cairn::driver {

/// The text of a saved file. Throws Error(file).
std::string read_saved(const std::filesystem::path& path);

/// What it holds, checked and linked; errors name the path. Throws as CompiledGraph::load() does.
CompiledGraph load_text(std::string text, const std::filesystem::path& path, const Context& context);

}  // namespace cairn::driver
