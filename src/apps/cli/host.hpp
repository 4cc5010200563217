#pragma once

#include "apps/cli/options.hpp"
#include "apps/console/graph_file.hpp"
#include "apps/console/standard_streams.hpp"
#include "apps/console/text_file.hpp"
#include "cairn/context.hpp"

#include <filesystem>

namespace cairn::cli {

using console::check_can_write;
using console::graph_of_text;
using console::print_to_stderr;
using console::read_graph;
using console::read_text;
using console::write_text;

/// The database of `--db`, or the user's own, checked by inspect_database_file().
std::filesystem::path database_of(const Options& options);

/// A context with the given threads and features; `database` may be empty. It logs to standard error.
Context make_context(const Options& options, const std::filesystem::path& database);
/// The same with the database that the mode needs.
Context make_context(const Options& options);

}  // namespace cairn::cli
