#pragma once

#include "cairn/compile.hpp"
#include "program/lock.hpp"

#include <filesystem>
#include <memory>
#include <string>

/// Mode::replay: what a lock says is chosen again.
namespace cairn::inline v0 {

/// Throws Error(file) naming the path.
std::shared_ptr<const program::Lock> read_lock(const std::filesystem::path& path);

/// In words what a lock lacks for a graph, and what in it the graph has no use for: by what would be chosen without it.
std::string lock_difference(const program::Lock& lock, const Graph& graph, const Context& context,
                            const CompileOptions& options);

}  // namespace cairn::inline v0
