#include "apps/cli/host.hpp"

#include "apps/cli/database_file.hpp"

namespace cairn::cli {
std::filesystem::path database_of(const Options& options) {
    if (options.database.empty()) return default_timing_db();
    inspect_database_file(options.database);
    return options.database;
}

Context make_context(const Options& options, const std::filesystem::path& database) {
    ContextOptions context;
    if (options.database.empty() && !database.empty()) context = ContextOptions::command_line_defaults();
    context.threads = options.threads.value_or(usable_cpus());
    context.devices = devices_from_text(options.device);
    if (!options.features.empty()) context.features = parse_features(options.features);
    context.timing_db = database;
    if (const std::filesystem::path shipped = shipped_timings_file(); options.mode != "off" && !shipped.empty())
        context.shipped_timings = {shipped};
    context.log = [](LogLevel, std::string_view line) { print_to_stderr(line); };
    return Context(context);
}

Context make_context(const Options& options) {
    const std::filesystem::path database = database_of(options);
    return make_context(options,
                        options.mode == "off" || options.mode == "replay" ? std::filesystem::path() : database);
}

}  // namespace cairn::cli
