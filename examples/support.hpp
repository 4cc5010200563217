#pragma once

#include "cairn/compile.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

/// Command line, Context and progress display of a program that uses Cairn: threads, the timing database, the cache
/// folder. Shared by the model examples.
namespace support {

/// Command line options that all model examples have.
struct Options {
    std::optional<int> threads;                      ///< nullopt: all usable CPUs
    std::string device = "cpu";                      ///< as devices_from_text() takes it
    bool dependent_launches = true;                  ///< ContextOptions::cuda_dependent_launches
    std::optional<cairn::FeatureSet> features = {};  ///< ContextOptions::features
    std::string mode = "normal";
    double tune_seconds = 5;
    std::string timing_db;  ///< path of the timing database; empty: the default in the user's cache folder
    std::vector<std::string> disable;
    std::string dump_stages, why_not, save_graph;
    std::string cache_folder;  ///< folder for the compiled, packed model, which the next start loads; empty: none
    bool explain = false;
    bool no_progress = false;
};

/// Adds `--version` and makes `--help` print defaults. Call it before options are added.
void add_version_and_defaults(CLI::App& app);

void add_options(CLI::App& app, Options& options);

/// A Context for these options. It writes each log message as one line to standard error.
cairn::Context make_context(const Options& options);

/// Duration of each phase of a compile, in the order in which the phases ran.
struct Phases {
    struct Phase {
        std::string name;
        double seconds = 0;
    };
    std::vector<Phase> list;
    double total = 0;
    /// Seconds of the phase of that name, summed over all buckets.
    double of(const std::string& name) const;
};

/// Shows compile progress on standard error: a bar on a terminal, else a line for each of the phases tune and bind;
/// nothing if quiet. The destructor clears the bar.
class ProgressDisplay {
public:
    explicit ProgressDisplay(bool quiet);
    ~ProgressDisplay();
    cairn::ProgressSink sink();
    /// Ends the display and returns the phases.
    Phases finish();

private:
    void show(const cairn::Progress& progress);
    void clear();

    bool quiet_, terminal_;
    Phases phases_;
    std::chrono::steady_clock::time_point started_, phase_started_;
};

cairn::CompileOptions compile_options(const Options& options, ProgressDisplay& display);

/// True if the program only explains the selection (--explain, --why-not).
bool explains_selection(const Options& options);
/// Options::cache_folder, or empty if the selection is to be explained: a loaded graph has no explanation.
std::string cache_folder(const Options& options);
/// Prints the explanation of the selection (--explain), and what became of the kernel or definition of --why-not.
void print_explanation(const Options& options, const cairn::CompiledGraph& compiled, const cairn::Graph& graph);

/// Writes a graph in text form, as the command `cairn` reads it. Throws cairn::Error(file).
void save_graph(const std::string& path, const cairn::Graph& graph);

/// Validators for CLI::Option::check: a whole number of at least `least`; a number of seconds.
CLI::Validator at_least(std::int64_t least);
CLI::Validator seconds();

/// The mode of that name: `off`, `cached`, `quick`, `normal` or `exhaustive`.
cairn::Mode mode_of(const std::string& name);

/// Peak resident memory of this process (`VmHWM` of /proc/self/status); 0 if it is not available.
std::int64_t peak_resident_bytes();

/// Throws cairn::Error(argument), `OPTION has no effect: REASON`, if one of the options was given.
void refuse_given(const CLI::App& app, std::initializer_list<const char*> options, const std::string& reason);
/// The same for options of add_options() that have no effect in the given mode or beside another option.
void refuse_without_effect(const CLI::App& app, const Options& options);

/// Parses the command line and runs `work`. Returns the exit code: 2 after an exception or a wrong command line, with
/// one line on standard error.
int guarded(CLI::App& app, int argc, char** argv, const std::function<void()>& work);

/// The contents of a file, or of standard input for `-`. Throws cairn::Error(file).
std::string read_text(const std::string& path);

/// Calls `take` for each line of read_text(path) that is not blank. If `take` returns a fault, throws
/// cairn::Error(file) `path:number: fault`.
void for_each_line(const std::string& path, const std::function<std::string(const std::string&)>& take);

}  // namespace support
