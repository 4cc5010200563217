#pragma once

#include "cairn/compile.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

/// What a program around Cairn has to decide: threads, where timings are kept, how progress is shown. Shared by the
/// model examples.
namespace support {

/// Command line options that the model examples have in common.
struct Options {
    std::optional<int> threads;  ///< none: all usable CPUs
    std::string mode = "normal";
    double tune_seconds = 5;
    std::string timing_db;  ///< empty: in the user's cache folder
    std::vector<std::string> disable;
    std::string dump_stages, why_not, save_graph;
    std::string cache_folder;  ///< folder in which the model is kept ready for the next start; empty: it is not
    bool explain = false;
    bool no_progress = false;
};

/// `--version`, and `--help` that tells defaults. Call it before options are added.
void add_version_and_defaults(CLI::App& app);

void add_options(CLI::App& app, Options& options);

/// A context with one log line a problem on standard error.
cairn::Context make_context(const Options& options);

/// How long each phase of a compile took, in the order they came.
struct Phases {
    struct Phase {
        std::string name;
        double seconds = 0;
    };
    std::vector<Phase> list;
    double total = 0;
    /// The sum over all buckets of the phase of that name.
    double of(const std::string& name) const;
};

/// Shows progress while it lives: a bar on a terminal, a line a phase otherwise; nothing when quiet.
class ProgressDisplay {
public:
    explicit ProgressDisplay(bool quiet);
    ~ProgressDisplay();
    cairn::ProgressSink sink();
    /// Ends the display; the phases seen.
    Phases finish();

private:
    void show(const cairn::Progress& progress);
    void clear();

    bool quiet_, terminal_;
    Phases phases_;
    std::chrono::steady_clock::time_point started_, phase_started_;
};

cairn::CompileOptions compile_options(const Options& options, ProgressDisplay& display);

/// Whether to tell what was chosen, or what came of a kernel, and nothing else.
bool asks_for_choice(const Options& options);
/// Where the model is kept: nowhere while a choice is to be told, which a graph that was loaded cannot.
std::string cache_folder(const Options& options);
/// Tells it, of a graph and what it was compiled to.
void print_choice(const Options& options, const cairn::CompiledGraph& compiled, const cairn::Graph& graph);

/// Writes a graph in text form, as the command `cairn` reads it. Throws cairn::Error(file).
void save_graph(const std::string& path, const cairn::Graph& graph);

/// For CLI::Option::check: a whole number of at least `least`, and a number of seconds.
CLI::Validator at_least(std::int64_t least);
CLI::Validator seconds();

/// `off`, `cached`, `quick`, `normal` or `exhaustive`.
cairn::Mode mode_of(const std::string& name);

/// The most memory this process has held so far, `VmHWM`; 0 where the system does not tell.
std::int64_t peak_resident_bytes();

/// Throws cairn::Error(argument), `OPTION has no effect: REASON`, for the first of the options that was given.
void refuse_given(const CLI::App& app, std::initializer_list<const char*> options, const std::string& reason);
/// The same for the options of add_options() that have none in the mode given, or of which another one makes nothing.
void refuse_without_effect(const CLI::App& app, const Options& options);

/// Runs `work`; a cairn::Error or a wrong command line becomes one sentence on standard error and exit code 2.
int guarded(CLI::App& app, int argc, char** argv, const std::function<void()>& work);

/// The whole of a file, or of standard input for `-`. Throws cairn::Error(file).
std::string read_text(const std::string& path);

/// Calls `take` with each line of it that is not blank. What `take` finds wrong becomes cairn::Error(file)
/// `path:number: fault`.
void for_each_line(const std::string& path, const std::function<std::string(const std::string&)>& take);

}  // namespace support
