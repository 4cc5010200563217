#pragma once

#include "apps/cli/command.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <stop_token>

namespace cairn::cli {

/// If the command line names `command`, `chosen` becomes `run(options, output, stop)`. Contradictory options are
/// refused first.
template <typename Options, typename Run>
void set_action(CLI::App& command, const std::shared_ptr<Options>& options, Action& chosen, Run run) {
    command.callback([options, &chosen, run] {
        chosen = [options, run](Output& output, const std::stop_token& stop) {
            check_options(options->all);
            output.json = options->all.json;
            return run(*options, output, stop);
        };
    });
}

}  // namespace cairn::cli
