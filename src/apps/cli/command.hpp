#pragma once

#include "apps/cli/output.hpp"

#include <functional>
#include <stop_token>

namespace CLI {
class App;
}

/// The command `cairn`. It uses only the public interface of the library.
namespace cairn::cli {

/// The work of a command, run after the command line is parsed. Returns the exit code.
using Action = std::function<int(Output& output, const std::stop_token& stop)>;

// Each adds a subcommand; if the command line names it, `chosen` becomes its action.
void add_tune(CLI::App& app, Action& chosen);
void add_paths(CLI::App& app, Action& chosen);
void add_explain(CLI::App& app, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);
void add_check(CLI::App& app, Action& chosen);
void add_verify(CLI::App& app, Action& chosen);
void add_db(CLI::App& app, Action& chosen);
void add_doctor(CLI::App& app, Action& chosen);
void add_diff(CLI::App& app, Action& chosen);
void add_import(CLI::App& app, Action& chosen);
void add_run(CLI::App& app, Action& chosen);

/// The body of main(): parses the command line, runs the command, and prints errors as one sentence on standard error.
/// Exit codes: 0; 1 if `diff` found a difference, `check`, `verify` or `db check` a fault, `import`
/// what it cannot import, or a lock does not fit; 2
/// for an invalid command line or input; 130 after Ctrl-C.
int run_command(int argc, char** argv);

}  // namespace cairn::cli
