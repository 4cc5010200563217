#pragma once

#include "cairn/compile.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace cairn::cli {

/// What the command line says, as it was written; what cannot be read is refused while the line is parsed.
struct Options {
    std::string graph;           ///< a file, or `-`
    std::optional<int> threads;  ///< none: all usable CPUs
    std::string features;        ///< empty: all that the CPU has
    std::string database;        ///< empty: in the user's cache folder
    bool json = false;

    std::string tolerance = "exact", mode = "cached";
    std::string other_mode;            ///< of a second graph, which is compiled too; empty: there is none
    std::string budget;                ///< empty: what the mode takes by itself
    std::string normal_budget = "5s";  ///< that of mode normal
    std::string lock;                  ///< a file; empty: none
    std::vector<std::string> splits, disable;

    std::string weights;                ///< a file; empty: made from the seed
    std::vector<std::string> sizes;     ///< `T=12`
    std::optional<std::uint64_t> seed;  ///< none: 0
};

/// `--db`, `--json`.
void add_database_options(CLI::App& app, Options& options);
/// These, `--threads` and `--features`.
void add_machine_options(CLI::App& app, Options& options);
/// Which modes a command has.
enum class Modes {
    all,       ///< and a lock
    measuring  ///< those that measure
};
/// The graph, and how it is compiled: `--tolerance`, `--mode`, `--lock`, `--budget`, `--split`, `--disable`.
void add_compile_options(CLI::App& app, Options& options, Modes modes = Modes::all);
/// What it is run on: `--weights`, `--size`, `--seed`.
void add_run_options(CLI::App& app, Options& options);

/// Of `10s`, `500ms`, `2m`, or a number of seconds; nothing of other texts.
std::optional<double> duration_of(const std::string& text);
/// Of `exact` or a number above 0; nothing of other texts.
std::optional<Tolerance> tolerance_of(const std::string& text);
/// Of one of mode_names().
Mode mode_of(const std::string& text);
/// `off`, `cached`, `quick`, `normal`, `exhaustive`, `replay`.
std::vector<std::string> mode_names();
/// Of `T=1,12` or `T=auto`; nothing of other texts.
std::optional<Split> split_of(const std::string& text);
/// Of `T=12`; nothing of other texts.
std::optional<std::pair<std::string, std::int64_t>> size_of_text(const std::string& text);

/// The value of each symbol that `--size` names. Throws Error(argument) where one is named twice.
std::map<std::string, std::int64_t> sizes_of(const Options& options);

/// Throws Error(argument) for options that contradict one another, and for a budget where nothing is measured.
void check_options(const Options& options);
/// Throws Error(argument) for `--weights`, `--size` and `--seed`, which take effect in a run alone; `run_by` names the
/// options with which something is run.
void refuse_run_options(const Options& options, const std::string& run_by);

/// What the library is asked for.
CompileOptions compile_options(const Options& options);

}  // namespace cairn::cli
