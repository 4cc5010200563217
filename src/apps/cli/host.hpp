#pragma once

#include "apps/cli/options.hpp"
#include "cairn/context.hpp"
#include "cairn/graph.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace cairn::cli {

/// The database of `--db`, or the user's own, checked by inspect_database_file().
std::filesystem::path database_of(const Options& options);

/// A context with the given threads and features; `database` may be empty. It logs to standard error.
Context make_context(const Options& options, const std::filesystem::path& database);
/// The same with the database that the mode needs.
Context make_context(const Options& options);

/// The contents of a file, or of standard input for `-`. Throws Error(file).
std::string read_text(const std::string& path);
/// Throws Error(file) if the path cannot be written, as far as this is known without creating the file; for use before
/// long work. An empty path is valid.
void check_can_write(const std::string& path);
/// Throws Error(file).
void write_text(const std::string& path, std::string_view text);

/// Reads a graph, which must have an output. Throws Error(file) naming the file, the line and the column.
Graph read_graph(const std::string& path);
/// The same for the contents of the file.
Graph graph_of_text(const std::string& text, const std::string& path);

/// Prints a line on standard error.
void print_to_stderr(std::string_view line);

}  // namespace cairn::cli
