#include "cairn/check.hpp"
#include "apps/cli/glob_pattern.hpp"
#include "apps/cli/host.hpp"
#include "apps/cli/subcommand.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace cairn::cli {
namespace {

struct CheckCommand {
    Options all;
    std::string pattern = "*";
    std::size_t every = 1;
};

struct Counts {
    int passed = 0, failed = 0, not_checked = 0;
};

KernelReport checked(const Kernel& kernel, const Context& context, const CheckOptions& check_with) {
    if (const FeatureSet missing = kernel.needs - context.features(); !missing.empty())
        return {
            .faults = {},
            .kernel = kernel.id,
            .not_checked = fmt::format("it needs {}, in use is {}", to_string(missing), to_string(context.features()))};
    try {
        return check_kernel(context, kernel.id, check_with);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) throw;
        return {.faults = {}, .kernel = kernel.id, .not_checked = error.what()};
    }
}

void put(const KernelReport& report, Output& output, Counts& counts) {
    OutputRow row{{"kind", "kernel"}, {"kernel", report.kernel}};
    if (!report.not_checked.empty()) {
        ++counts.not_checked;
        row["reason"] = report.not_checked;
        return output.line(row, fmt::format("not checked  {}  {}", report.kernel, report.not_checked));
    }
    ++(report.faults.empty() ? counts.passed : counts.failed);
    row["runs"] = std::to_string(report.runs);
    row["problems"] = std::to_string(report.variations);
    row["faults"] = report.faults;
    std::string text = fmt::format("{:<11}  {}  {} runs on {} problems", report.faults.empty() ? "passed" : "failed",
                                   report.kernel, report.runs, report.variations);
    for (const std::string& fault : report.faults) text += "\n  " + fault;
    output.line(row, text);
}

int check(const CheckCommand& command, Output& output, const std::stop_token& stop) {
    const Context context = make_context(command.all, {});
    Counts counts;
    for (const Kernel& kernel : context.kernels().kernels)
        if (glob_matches(command.pattern, kernel.id))
            put(checked(kernel, context, {.size_stride = command.every, .stop = stop}), output, counts);
    if (counts.passed + counts.failed + counts.not_checked == 0)
        throw Error(ErrorKind::argument, "check", fmt::format("no kernel has an id like {}", command.pattern));
    output.line({{"kind", "summary"},
                 {"passed", std::to_string(counts.passed)},
                 {"failed", std::to_string(counts.failed)},
                 {"not_checked", std::to_string(counts.not_checked)}},
                fmt::format("{} passed, {} failed, {} not checked", counts.passed, counts.failed, counts.not_checked));
    return counts.failed == 0 ? 0 : 1;
}

}  // namespace

void add_check(CLI::App& app, Action& chosen) {
    auto options = std::make_shared<CheckCommand>();
    CLI::App& command = *app.add_subcommand("check", "compare the library's kernels with their definitions");
    command.footer(
        "Each kernel runs on its samples and on variations of them: other sizes, strides, dtypes, numbers of threads,\n"
        "results in place of operands, with guards around all memory. All kernels take minutes. Kernels of a\n"
        "GPU run on it if --device names it. The exit code is 1 where one fails. Kernels of a program are not in this\n"
        "command: the program calls check_kernels(), and compiles with CompileOptions::verify.");
    add_glob_option(command, "kernels", options->pattern, "ids of kernels: 'cpu.baseline.softmax*'; all, if not given");
    command.add_option("--every", options->every, "only each N-th of the sizes of a problem")
        ->check(CLI::PositiveNumber)
        ->option_text("N")
        ->capture_default_str();
    add_machine_options(command, options->all);
    set_action(command, options, chosen, check);
}

}  // namespace cairn::cli
