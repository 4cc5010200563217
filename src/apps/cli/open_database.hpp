#pragma once

#include "apps/cli/options.hpp"
#include "cairn/timing_file.hpp"

#include <filesystem>
#include <string>

/// The database that `cairn db` is about: that of `--db`, or the user's own.
namespace cairn::cli {

/// Where it is. Throws Error(file) where there is none.
std::filesystem::path existing_database(const Options& options);

/// The same, and empty where there is none.
std::filesystem::path existing_database_or_empty(const Options& options);

/// To be read; it is not changed. Throws Error(file) where there is none.
TimingFile open_to_read(const Options& options);
/// To be changed. Throws Error(file) where there is none.
TimingFile open_to_write(const Options& options);
/// The same, made where there is none.
TimingFile open_or_create(const Options& options);

/// Another one, named on the command line, to be read. Throws Error(file) where it is none.
TimingFile open_other(const std::string& path);

/// What times belong to that are measured here with the threads and features asked for.
TimingEnvironment environment_here(const Options& options);
/// The pattern for environments that is meant: `here` is this machine's.
std::string environment_pattern(const std::string& text, const Options& options);

}  // namespace cairn::cli
