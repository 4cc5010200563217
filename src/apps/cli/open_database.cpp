#include "apps/cli/open_database.hpp"

#include "apps/cli/database_file.hpp"
#include "apps/cli/host.hpp"
#include "cairn/tuning.hpp"

#include <system_error>

namespace cairn::cli {
namespace {

std::filesystem::path named_database(const Options& options) {
    std::filesystem::path path = database_of(options);
    if (path.empty()) throw Error(ErrorKind::argument, "db", "there is no cache folder: name the database by --db");
    return path;
}

/// Matches the environments of the GPU: those of its kernels, of its copies and of programs on it begin alike.
std::string gpu_pattern(const std::vector<TimingEnvironment>& all) { return all[1].hard + "*"; }

}  // namespace

std::filesystem::path existing_database_or_empty(const Options& options) {
    const std::filesystem::path path = named_database(options);
    std::error_code fault;
    if (!std::filesystem::exists(path, fault)) return {};
    inspect_database_file(path);
    return path;
}

std::filesystem::path existing_database(const Options& options) {
    std::filesystem::path path = existing_database_or_empty(options);
    if (path.empty()) throw Error(ErrorKind::file, "db", "there is no database " + named_database(options).string());
    return path;
}

TimingFile open_to_read(const Options& options) { return {existing_database(options), TimingFile::Use::read}; }

TimingFile open_to_write(const Options& options) { return {existing_database(options), TimingFile::Use::write}; }

TimingFile open_or_create(const Options& options) {
    const std::filesystem::path path = named_database(options);
    std::error_code fault;
    if (options.database.empty()) std::filesystem::create_directories(path.parent_path(), fault);
    inspect_database_file(path);
    return {path, TimingFile::Use::write};
}

TimingFile open_other(const std::string& path) {
    if (!inspect_database_file(path).exists) throw Error(ErrorKind::file, "db", "there is no database " + path);
    return {path, TimingFile::Use::read};
}

std::vector<TimingEnvironment> environments_of_this_machine(const Options& options) {
    return timing_environments(make_context(options, {}));
}

std::string environment_pattern(const std::string& text, const Options& options) {
    if (text != "here") return text;
    const std::vector<TimingEnvironment> all = environments_of_this_machine(options);
    return all.size() == 1 ? all.front().hard : gpu_pattern(all);
}

void set_kept_environments(TimingRetention& which, const std::string& text, const Options& options) {
    which.keep_environment = text;
    if (text != "here") return;
    const std::vector<TimingEnvironment> all = environments_of_this_machine(options);
    which.keep_environment = all.front().hard;
    which.keep_also = {all.size() == 1 ? "cairn * | cuda | *" : gpu_pattern(all)};
}

}  // namespace cairn::cli
