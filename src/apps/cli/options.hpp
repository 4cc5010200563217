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

/// Options as written on the command line; invalid values are refused during parsing.
struct Options {
    std::string graph;           ///< a file, or `-`
    std::optional<int> threads;  ///< none: all usable CPUs
    std::string device = "cpu";  ///< as devices_from_text() takes it
    std::string features;        ///< empty: all features of the CPU
    std::string database;        ///< empty: in the user's cache folder
    bool json = false;

    std::string tolerance = "exact", mode = "cached";
    std::string other_mode;            ///< of a second graph to compile; empty: there is none
    std::string budget;                ///< empty: the default of the mode
    std::string normal_budget = "5s";  ///< default of mode normal
    std::string lock;                  ///< a file; empty: none
    std::vector<std::string> splits, disable;
    std::int64_t memory_plan_steps = CompileOptions().memory_plan_steps;
    std::vector<std::string> pins, bans;  ///< patterns of kernel ids

    std::string weights;                ///< a file; empty: generated from the seed
    std::vector<std::string> sizes;     ///< `T=12`
    std::optional<std::uint64_t> seed;  ///< none: 0
};

/// `--db`, `--json`.
void add_database_options(CLI::App& app, Options& options);
/// The above, `--threads` and `--features`.
void add_machine_options(CLI::App& app, Options& options);
/// The modes that a command offers.
enum class Modes {
    all,       ///< including replay, with a lock
    measuring  ///< those that measure
};
/// The graph and its compile options: `--tolerance`, `--mode`, `--lock`, `--budget`, `--split`, `--pin`, `--ban`,
/// `--disable`, `--plan-steps`.
void add_compile_options(CLI::App& app, Options& options, Modes modes = Modes::all);
/// The inputs of a run: `--weights`, `--size`, `--seed`.
void add_run_options(CLI::App& app, Options& options);

/// Parses `10s`, `500ms`, `2m`, or a number of seconds; nothing for other texts.
std::optional<double> duration_of(const std::string& text);
/// Parses `exact` or a number above 0; nothing for other texts.
std::optional<Tolerance> tolerance_of(const std::string& text);
/// Parses one of mode_names().
Mode mode_of(const std::string& text);
/// `off`, `cached`, `quick`, `normal`, `exhaustive`, `replay`.
std::vector<std::string> mode_names();
/// Parses `T=1,12` or `T=auto`; nothing for other texts.
std::optional<Split> split_of(const std::string& text);
/// Parses `T=12`; nothing for other texts.
std::optional<std::pair<std::string, std::int64_t>> size_of_text(const std::string& text);

/// The values of the symbols in `--size`. Throws Error(argument) if a symbol is repeated.
std::map<std::string, std::int64_t> sizes_of(const Options& options);

/// Throws Error(argument) for contradictory options, and for a budget if nothing is measured.
void check_options(const Options& options);
/// Throws Error(argument) for `--weights`, `--size` and `--seed`, which only affect a run; `run_by` names the options
/// that run something.
void refuse_run_options(const Options& options, const std::string& run_by);

/// The options of compile().
CompileOptions compile_options(const Options& options);

}  // namespace cairn::cli
