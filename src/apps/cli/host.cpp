#include "apps/cli/host.hpp"

#include "apps/cli/database_file.hpp"
#include "cairn/ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace cairn::cli {
namespace {

[[noreturn]] void fail_file(std::string_view verb, const std::string& path, int code) {
    throw Error(ErrorKind::file, verb, fmt::format("{}: {}", path, std::generic_category().message(code)));
}

}  // namespace

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

std::string read_text(const std::string& path) {
    const auto close = [](std::FILE* file) { return file == stdin ? 0 : std::fclose(file); };
    const std::unique_ptr<std::FILE, decltype(close)> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"), close);
    if (file == nullptr) fail_file("read", path, errno);
    std::string text;
    std::array<char, 65536> part;
    while (const std::size_t count = std::fread(part.data(), 1, part.size(), file.get()))
        text.append(part.data(), count);
    if (std::ferror(file.get()) != 0) fail_file("read", path, errno);
    return text;
}

void check_can_write(const std::string& path) {
    if (path.empty()) return;
    std::error_code fault;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder, fault)) fail_file("write", path, ENOENT);
    if (std::filesystem::is_directory(path, fault)) fail_file("write", path, EISDIR);
}

void write_text(const std::string& path, std::string_view text) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) fail_file("write", path, errno);
    // An empty text may have a null address.
    const bool written =
        (text.empty() || std::fwrite(text.data(), 1, text.size(), file) == text.size()) && std::fflush(file) == 0;
    const int code = errno;
    std::fclose(file);
    if (!written) fail_file("write", path, code);
}

Graph graph_of_text(const std::string& text, const std::string& path) {
    const auto named = [&](const std::string& fault) {
        return Error(ErrorKind::file, "graph", fmt::format("{}: {}", path == "-" ? "standard input" : path, fault));
    };
    try {
        Graph graph = parse_graph(text);
        const std::vector<GraphPort> all = ports(graph);
        const auto is_output = [](const GraphPort& port) { return port.kind == GraphPort::Kind::output; };
        if (std::none_of(all.begin(), all.end(), is_output)) throw named("the graph has no output");
        return graph;
    } catch (const Error& error) {
        if (error.kind() == ErrorKind::file) throw;
        std::string_view fault = error.what();
        constexpr std::string_view part = "[parse_graph] ";
        if (fault.starts_with(part)) fault.remove_prefix(part.size());
        throw named(std::string(fault));
    }
}

Graph read_graph(const std::string& path) { return graph_of_text(read_text(path), path); }

void print_to_stderr(std::string_view line) {
    std::string text(line);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    text += '\n';
    std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace cairn::cli
