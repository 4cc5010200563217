#pragma once

#include "apps/cli/options.hpp"
#include "cairn/timing_file.hpp"

#include <filesystem>
#include <string>
#include <vector>

/// The database that `cairn db` works on: that of `--db`, or the user's own.
namespace cairn::cli {

/// Its path. Throws Error(file) if it does not exist.
std::filesystem::path existing_database(const Options& options);

/// Its path; empty if it does not exist.
std::filesystem::path existing_database_or_empty(const Options& options);

/// Opens it for reading only. Throws Error(file) if it does not exist.
TimingFile open_to_read(const Options& options);
/// Opens it for writing. Throws Error(file) if it does not exist.
TimingFile open_to_write(const Options& options);
/// Opens it for writing, and creates it if it does not exist.
TimingFile open_or_create(const Options& options);

/// Opens another database, named on the command line, for reading. Throws Error(file) if it is not a database.
TimingFile open_other(const std::string& path);

/// The environments of times measured here with the given threads and features: that of the CPU first, and those of the
/// GPU that `--device` names.
std::vector<TimingEnvironment> environments_of_this_machine(const Options& options);
/// The pattern for environments; `here` stands for this machine's, or for those of the GPU that `--device` names.
std::string environment_pattern(const std::string& text, const Options& options);
/// The environments to keep for such a pattern: with `here` those of the CPU and of the GPU that `--device` names, or
/// of every GPU if it names none.
void set_kept_environments(TimingRetention& which, const std::string& text, const Options& options);

}  // namespace cairn::cli
