#pragma once

#include "apps/cli/options.hpp"
#include "cairn/context.hpp"
#include "cairn/graph.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace cairn::cli {

/// The database of `--db`, or the user's own; looked at first, as inspect_database_file() does.
std::filesystem::path database_of(const Options& options);

/// A context with the threads and features asked for; `database` may be empty. What it logs goes to standard error.
Context make_context(const Options& options, const std::filesystem::path& database);
/// The same with the database that the mode asks for.
Context make_context(const Options& options);

/// The whole of a file, or of standard input for `-`. Throws Error(file).
std::string read_text(const std::string& path);
/// Throws Error(file) where a file of that path could not be written, as far as can be told without making it: before
/// work that takes long. An empty path is well.
void check_can_write(const std::string& path);
/// Throws Error(file).
void write_text(const std::string& path, std::string_view text);

/// The graph of a file, with an output. Throws Error(file) naming the file, the line and the column.
Graph read_graph(const std::string& path);
/// The same of what the file holds.
Graph graph_of_text(const std::string& text, const std::string& path);

/// A line on standard error.
void print_to_stderr(std::string_view line);

}  // namespace cairn::cli
