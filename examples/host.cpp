#include "examples/host.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

namespace host {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::filesystem::path default_timing_db() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    if (cache != nullptr && *cache != '\0') return std::filesystem::path(cache) / "cairn" / "timings.db";
    if (home != nullptr && *home != '\0') return std::filesystem::path(home) / ".cache" / "cairn" / "timings.db";
    return {};
}

}  // namespace

void add_options(CLI::App& app, Options& options) {
    app.add_option("--threads", options.threads, "threads; all usable CPUs when not given")->check([](const std::string& text) {
        char* end = nullptr;
        return std::strtol(text.c_str(), &end, 10) >= 1 && *end == '\0' ? std::string() : "must be at least 1, got " + text;
    });
    app.add_option("--mode", options.mode, "off: estimates only; cached: stored timings; normal: measure what is missing")
        ->check(CLI::IsMember({"off", "cached", "normal"}));
    app.add_option("--tune-seconds", options.tune_seconds, "wall clock for measuring in mode normal")->check(CLI::NonNegativeNumber);
    app.add_option("--timing-db", options.timing_db, "file of the timing database; the user's cache folder when not given");
    app.add_option("--disable", options.disable, "stages of the compiler to leave out, by name");
    app.add_option("--dump-stages", options.dump_stages, "folder for the text form after each stage");
    app.add_flag("--no-progress", options.no_progress, "show no progress");
}

cairn::Context make_context(const Options& options) {
    cairn::ContextOptions context;
    context.threads = options.threads == 0 ? cairn::usable_cpus() : options.threads;
    if (options.mode != "off") context.timing_db = options.timing_db.empty() ? default_timing_db() : std::filesystem::path(options.timing_db);
    context.log = [](cairn::LogLevel, std::string_view line) { std::cerr << line << '\n'; };
    return cairn::Context(context);
}

cairn::CompileOptions compile_options(const Options& options, ProgressDisplay& display) {
    cairn::CompileOptions compile;
    compile.mode = options.mode == "off" ? cairn::Mode::off : options.mode == "cached" ? cairn::Mode::cached : cairn::Mode::normal;
    compile.tune_seconds = options.tune_seconds;
    compile.disable = options.disable;
    compile.dump_stages = options.dump_stages;
    compile.progress = display.sink();
    return compile;
}

double Phases::of(const std::string& name) const {
    double seconds = 0;
    for (const Phase& phase : list)
        if (phase.name == name) seconds += phase.seconds;
    return seconds;
}

ProgressDisplay::ProgressDisplay(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), started_(Clock::now()), phase_started_(started_) {}

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
    std::fprintf(stderr, "\r\033[K%-9.*s [%.*s%*s] %.*s", static_cast<int>(progress.phase.size()), progress.phase.data(), filled,
                 "########################", width - filled, "", static_cast<int>(progress.detail.size()), progress.detail.data());
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

int guarded(CLI::App& app, int argc, char** argv, const std::function<void()>& work) {
    try {
        app.parse(argc, argv);
        work();
        if (!std::cout.flush()) throw cairn::Error(cairn::ErrorKind::file, "output", "the output cannot be written");
        return 0;
    } catch (const CLI::Success& help) {
        return app.exit(help);
    } catch (const std::exception& error) {
        std::cout.flush();
        std::cerr << error.what() << '\n';
        return 2;
    }
}

std::string read_text(const std::string& path) {
    std::ifstream file;
    if (path != "-") file.open(path, std::ios::binary);
    std::istream& input = path == "-" ? std::cin : file;
    std::string text{std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
    if ((path != "-" && !file.is_open()) || input.bad()) throw cairn::Error(cairn::ErrorKind::file, "input", "cannot read " + path);
    return text;
}

}  // namespace host
