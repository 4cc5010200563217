#pragma once

#include "apps/cli/output.hpp"

#include <functional>
#include <stop_token>

namespace CLI {
class App;
}

/// The command `cairn`: what a program around the library would do with a graph, from the outside. It sees the face of
/// the library alone.
namespace cairn::cli {

/// What a command does, once the line is parsed; gives the exit code.
using Action = std::function<int(Output& output, const std::stop_token& stop)>;

// Each adds a subcommand; where that is named on the command line, `chosen` becomes its work.
void add_tune(CLI::App& app, Action& chosen);
void add_paths(CLI::App& app, Action& chosen);
void add_explain(CLI::App& app, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);
void add_check(CLI::App& app, Action& chosen);
void add_verify(CLI::App& app, Action& chosen);
void add_db(CLI::App& app, Action& chosen);
void add_doctor(CLI::App& app, Action& chosen);
void add_diff(CLI::App& app, Action& chosen);

/// Everything but `main`: parses the line, does the work, and tells faults as one sentence on standard error. The exit
/// code: 0; 1 where `diff` found a difference, `check`, `verify` or `db check` a fault, or a lock does not fit; 2 for
/// what is wrong with the line or the input; 130 after Ctrl-C.
int run_command(int argc, char** argv);

}  // namespace cairn::cli
