#include "apps/cli/options.hpp"
#include "apps/cli/subcommand.hpp"
#include "cairn/compiled_graph.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace cairn::cli {
namespace {

struct VerifyCommand {
    Options all;
    std::vector<std::string> files;
};

int verify(const VerifyCommand& options, Output& output, const std::stop_token&) {
    bool is_well = true;
    for (const std::string& file : options.files) {
        const std::vector<std::string> faults = verify_checksums(file);
        for (const std::string& fault : faults)
            output.line({{"kind", "fault"}, {"file", file}, {"reason", fault}}, file + ": " + fault);
        output.line({{"kind", "verify"}, {"file", file}, {"faults", std::to_string(faults.size())}},
                    faults.empty() ? file + ": every byte is as it was written"
                                   : fmt::format("{}: {} faults", file, faults.size()));
        is_well = is_well && faults.empty();
    }
    return is_well ? 0 : 1;
}

}  // namespace

void add_verify(CLI::App& app, Action& chosen) {
    auto options = std::make_shared<VerifyCommand>();
    CLI::App& command = *app.add_subcommand(
        "verify", "read packed weights, compiled graphs and locks whole, and compare them with their checksums");
    command.add_option("file", options->files, "files that were kept for later")->required()->option_text("FILE...");
    command.add_flag("--json", options->all.json, "one JSON object a line");
    command.footer("The exit code is 1 where something is wrong. Databases are checked by cairn db check.");
    set_action(command, options, chosen, verify);
}

}  // namespace cairn::cli
