#pragma once

#include "cairn/compile.hpp"
#include "driver/stages.hpp"
#include "program/lock.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Mode::replay: compiles the selection that a lock records.
namespace cairn::driver {

/// Reads and parses a lock. Throws Error(file) naming the path.
std::shared_ptr<const program::Lock> read_lock(const std::filesystem::path& path);

/// A digest of the graph and of the options that decide which covers are valid (tolerances, disabled stages). Measured
/// times, limits and budgets are not included.
std::string selection_digest(const Graph& graph, const CompileOptions& options);
/// The key of a selection, with that digest. `buckets` provide the device of states.
runtime::SelectionKey selection_key_of(const Graph& graph, const CompileOptions& options,
                                       const std::vector<PreparedBucket>& buckets, std::string stored = {});

/// The programs that the lock of Mode::replay records, without a search or a database. Empty in another mode, and if
/// the lock was written for another graph, other ranges of sizes or other options: then its calls restrict an ordinary
/// selection. Throws Error(unsupported) naming a step that cannot be reproduced.
std::optional<CompiledGraph> replay_covers(const Graph& graph, const Context& context, const CompileOptions& options);
/// Logs that the selection is restricted to the calls of a lock whose covers are for another graph, sizes or options.
void log_replay_by_calls(const Context& context, const CompileOptions& options);

/// Describes the problems that a lock lacks for a graph and those that it does not need, compared with a compile
/// without the lock. `reason` is the error of replaying the covers.
std::string lock_difference(const program::Lock& lock, const Graph& graph, const Context& context,
                            const CompileOptions& options, std::string_view reason);

}  // namespace cairn::driver
