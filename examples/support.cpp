#include "examples/support.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <system_error>

namespace support {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The shipped timings, used until this machine is measured: share/cairn beside the folder of the program.
std::vector<std::filesystem::path> shipped_timings_files() {
    std::error_code fault;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", fault);
    const std::filesystem::path seed = program.parent_path().parent_path() / "share" / "cairn" / "shipped_timings.db";
    if (fault || !std::filesystem::exists(seed, fault)) return {};
    return {seed};
}

/// Refuses a file in a folder that does not exist: the path is probably mistyped, so the folder is not created.
std::string check_folder(const std::string& file) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    std::error_code ignored;
    const bool is_there = folder.empty() || std::filesystem::exists(folder, ignored);
    return is_there ? std::string() : "the folder " + folder.string() + " does not exist";
}

void print_error(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    std::cerr << text << '\n';
}

}  // namespace

CLI::Validator at_least(std::int64_t least) {
    const auto check = [least](const std::string& text) {
        std::int64_t value = 0;
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool legal = fault == std::errc() && end == text.data() + text.size() && value >= least;
        return legal ? std::string() : "must be a whole number of at least " + std::to_string(least) + ", got " + text;
    };
    return {check, "", ""};
}

CLI::Validator seconds() {
    const auto check = [](const std::string& text) {
        constexpr double most = 1e8;
        char* end = nullptr;
        const double seconds = std::strtod(text.c_str(), &end);
        const bool legal = !text.empty() && *end == '\0' && seconds >= 0 && seconds <= most;
        return legal ? std::string() : "must be a number of seconds, got " + text;
    };
    return {check, "", ""};
}

cairn::Mode mode_of(const std::string& name) {
    return name == "off"      ? cairn::Mode::off
           : name == "cached" ? cairn::Mode::cached
           : name == "quick"  ? cairn::Mode::quick
           : name == "normal" ? cairn::Mode::normal
                              : cairn::Mode::exhaustive;
}

std::int64_t peak_resident_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == "VmHWM:") {
            std::int64_t kilobytes = 0;
            status >> kilobytes;
            return kilobytes * 1024;
        }
    return 0;
}

void add_version_and_defaults(CLI::App& app) {
    app.set_version_flag("--version", app.get_description() + ", Cairn " + std::string(cairn::version()));
    app.option_defaults()->always_capture_default();
}

void add_options(CLI::App& app, Options& options) {
    app.add_option("--threads", options.threads, "threads; all usable CPUs when not given")->check(at_least(1));
    app.add_option("--device", options.device, "cpu, cuda, cuda:1 and so on, or auto: a GPU if there is one");
    app.add_option("--mode", options.mode,
                   "off: estimates only; cached: stored timings; normal: measure what is missing")
        ->check(CLI::IsMember({"off", "cached", "normal"}));
    app.add_option("--tune-seconds", options.tune_seconds, "wall clock for measuring in mode normal")->check(seconds());
    app.add_option("--timing-db", options.timing_db,
                   "file of the timing database; the user's cache folder when not given")
        ->check(check_folder);
    app.add_option("--disable", options.disable, "stages of the compiler to leave out, by name")->default_str("");
    app.add_option("--dump-stages", options.dump_stages, "folder for the text form after each stage");
    app.add_option("--cache-dir", options.cache_folder,
                   "folder for the compiled, packed model, which the next start loads; created if missing");
    app.add_flag("--explain", options.explain, "print in 40 lines where time is spent, why, and what to do, and stop");
    app.add_option("--why-not", options.why_not,
                   "print the outcome of a kernel, or of all kernels of a definition or a named value, and stop");
    app.add_option("--save-graph", options.save_graph, "write the graph in text form, for the command cairn, and stop");
    app.add_flag("--no-progress", options.no_progress, "show no progress");
}

cairn::Context make_context(const Options& options) {
    cairn::ContextOptions context;
    if (options.mode != "off") {
        if (options.timing_db.empty())
            context = cairn::ContextOptions::command_line_defaults();
        else
            context.timing_db = options.timing_db;
        context.shipped_timings = shipped_timings_files();
    }
    context.threads = options.threads.value_or(cairn::usable_cpus());
    context.devices = cairn::devices_from_text(options.device);
    context.features = options.features;
    context.cuda_dependent_launches = options.dependent_launches;
    context.log = [](cairn::LogLevel, std::string_view line) { std::cerr << line << '\n'; };
    return cairn::Context(context);
}

cairn::CompileOptions compile_options(const Options& options, ProgressDisplay& display) {
    cairn::CompileOptions compile;
    compile.mode = mode_of(options.mode);
    compile.tune_seconds = options.tune_seconds;
    compile.disable = options.disable;
    compile.dump_stages = options.dump_stages;
    compile.progress = display.sink();
    return compile;
}

std::string cache_folder(const Options& options) { return explains_selection(options) ? "" : options.cache_folder; }

bool explains_selection(const Options& options) { return options.explain || !options.why_not.empty(); }

void print_explanation(const Options& options, const cairn::CompiledGraph& compiled, const cairn::Graph& graph) {
    const cairn::Explanation explanation = compiled.explain();
    if (options.explain) std::cout << explanation;
    if (options.why_not.empty()) return;
    std::cout << cairn::why_not(explanation, options.why_not);
    const cairn::Context context;
    for (const auto& [kernel, definition] : explanation.kernels) {
        if (kernel != options.why_not && definition != options.why_not) continue;
        const auto& known = context.kernels().definitions;
        const auto is_it = [&](const cairn::Definition& each) { return each.name == definition; };
        if (std::none_of(known.begin(), known.end(), is_it)) break;
        const std::string missing = cairn::why_not(graph, definition, context);
        if (!missing.empty()) std::cout << "closest match: " << missing << '\n';
        break;
    }
}

void save_graph(const std::string& path, const cairn::Graph& graph) {
    std::ofstream file(path, std::ios::binary);
    if (!(file << graph).flush()) throw cairn::Error(cairn::ErrorKind::file, "output", "cannot write " + path);
}

double Phases::of(const std::string& name) const {
    double seconds = 0;
    for (const Phase& phase : list)
        if (phase.name == name) seconds += phase.seconds;
    return seconds;
}

ProgressDisplay::ProgressDisplay(bool quiet)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), started_(Clock::now()), phase_started_(started_) {}

ProgressDisplay::~ProgressDisplay() { clear(); }

cairn::ProgressSink ProgressDisplay::sink() {
    return [this](const cairn::Progress& progress) { show(progress); };
}

void ProgressDisplay::show(const cairn::Progress& progress) {
    const bool fresh = phases_.list.empty() || phases_.list.back().name != progress.phase;
    if (fresh) {
        if (!phases_.list.empty()) phases_.list.back().seconds = seconds_since(phase_started_);
        phase_started_ = Clock::now();
        phases_.list.push_back({std::string(progress.phase), 0});
    }
    if (quiet_) return;
    if (!terminal_) {
        if (fresh && (progress.phase == "tune" || progress.phase == "bind")) std::cerr << progress.phase << " ...\n";
        return;
    }
    constexpr int width = 24;
    const int filled = progress.total > 0 ? static_cast<int>(width * progress.done / progress.total) : 0;
    std::fprintf(stderr, "\r\033[K%-9.*s [%.*s%*s] %.*s", static_cast<int>(progress.phase.size()),
                 progress.phase.data(), filled, "########################", width - filled, "",
                 static_cast<int>(progress.detail.size()), progress.detail.data());
}

void ProgressDisplay::clear() {
    if (!quiet_ && terminal_ && !phases_.list.empty()) std::fputs("\r\033[K", stderr);
}

Phases ProgressDisplay::finish() {
    if (!phases_.list.empty()) phases_.list.back().seconds = seconds_since(phase_started_);
    phases_.total = seconds_since(started_);
    clear();
    quiet_ = true;
    return phases_;
}

void refuse_given(const CLI::App& app, std::initializer_list<const char*> options, const std::string& reason) {
    for (const char* option : options)
        if (app.count(option) > 0)
            throw cairn::Error(cairn::ErrorKind::argument, "command line",
                               std::string(option) + " has no effect: " + reason);
}

void refuse_without_effect(const CLI::App& app, const Options& options) {
    if (!options.save_graph.empty())
        refuse_given(app,
                     {"--explain", "--why-not", "--threads", "--mode", "--tune-seconds", "--timing-db", "--disable",
                      "--dump-stages", "--cache-dir"},
                     "--save-graph writes the graph and compiles nothing");
    if (options.mode != "normal") refuse_given(app, {"--tune-seconds"}, "nothing is measured in mode " + options.mode);
    if (options.mode == "off") refuse_given(app, {"--timing-db"}, "mode off takes no times from a database");
    if (explains_selection(options))
        refuse_given(app, {"--cache-dir"},
                     "a loaded model has no explanation: omit --cache-dir, or --explain and --why-not");
}

int guarded(CLI::App& app, int argc, char** argv, const std::function<void()>& work) {
    try {
        app.parse(argc, argv);
        work();
        if (!std::cout.flush()) throw cairn::Error(cairn::ErrorKind::file, "output", "the output cannot be written");
        return 0;
    } catch (const CLI::Success& help) { return app.exit(help); } catch (const CLI::Error& error) {
        print_error(std::string("[command line] ") + error.what());
    } catch (const std::bad_alloc&) {
        print_error("[memory] there is not enough memory");
    } catch (const std::exception& error) {
        std::cout.flush();
        print_error(error.what());
    }
    return 2;
}

std::string read_text(const std::string& path) {
    const auto close = [](std::FILE* file) { return file == stdin ? 0 : std::fclose(file); };
    const std::unique_ptr<std::FILE, decltype(close)> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"), close);
    std::string text;
    std::array<char, 65536> part;
    while (file != nullptr) {
        const std::size_t count = std::fread(part.data(), 1, part.size(), file.get());
        if (count == 0) break;
        text.append(part.data(), count);
    }
    if (file == nullptr || std::ferror(file.get()) != 0)
        throw cairn::Error(cairn::ErrorKind::file, "input",
                           "cannot read " + path + ": " + std::generic_category().message(errno));
    return text;
}

void for_each_line(const std::string& path, const std::function<std::string(const std::string&)>& take) {
    std::istringstream lines(read_text(path));
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        if (const std::string fault = take(line); !fault.empty())
            throw cairn::Error(cairn::ErrorKind::file, "input", path + ":" + std::to_string(number) + ": " + fault);
    }
}

}  // namespace support
