#include "driver/compilation_cache.hpp"

#include "autotune/measurement/fingerprint.hpp"
#include "cairn/tuning.hpp"
#include "device/context_impl.hpp"
#include "driver/load.hpp"
#include "driver/port_devices.hpp"
#include "runtime/compiled_graph.hpp"
#include "runtime/file_io.hpp"

#include <fmt/format.h>

#include <system_error>

namespace cairn::driver {
namespace {

std::string text_of(const CompileOptions& options) {
    std::string text =
        fmt::format("mode {} {} {} {} {}\n", static_cast<int>(options.mode), options.tune_seconds.value_or(-1),
                    options.run_program_trials, options.seconds_per_kept_byte, options.memory_plan_steps);
    if (!options.lock.empty())
        text += to_string(digest(runtime::read_file(options.lock, "compile", "the lock"))) + '\n';
    for (const Split& split : options.splits) {
        text += fmt::format("split {} {}", split.symbol, split.is_automatic);
        for (const std::int64_t bound : split.upper_bounds) text += fmt::format(" {}", bound);
        for (const double weight : split.weights) text += fmt::format(" x {}", weight);
        text += '\n';
    }
    text += "tolerance " + to_string(options.tolerance) + '\n';
    for (const OutputTolerance& output : options.output_tolerances)
        text += fmt::format("tolerance {} {}\n", output.output, to_string(output.tolerance));
    for (const KernelRule& rule : options.rules)
        text += fmt::format("{} {} on {}: {}\n", to_string(rule.action), rule.kernel, rule.problem, rule.reason);
    for (const std::string& stage : options.disable) text += "without " + stage + '\n';
    if (options.memory_limit) text += fmt::format("within {}\n", *options.memory_limit);
    for (const auto& [device, limit] : options.device_memory_limits)
        text += fmt::format("within {} on {}\n", limit, to_string(device));
    text += port_devices_text(options);
    return text;
}

}  // namespace

std::string cache_key_for(const Graph& graph, const Context& context, const CompileOptions& options) {
    const TimingEnvironment environment = timing_environment(context);
    // The environment names the library's version and build, the features in use and the number of threads.
    const std::string& machine = environment.hard;
    const std::string text =
        fmt::format("{}\n{}\n{}\n{}", machine, context.impl()->options.reference_only ? "reference" : "all",
                    text_of(options), to_string(graph));
    std::string devices;
    for (const DeviceRates& rates : context.kernels().devices)
        devices += '\n' + autotune::environment_of(*context.impl(), rates.device).hard;
    return to_string(digest(text + devices));
}

std::optional<CompiledGraph> load_cached(const std::filesystem::path& path, const std::string& what,
                                         const Context& context) {
    std::error_code unknown;
    if (!std::filesystem::exists(path, unknown)) return std::nullopt;
    const Context::Impl& impl = *context.impl();
    try {
        const std::string text = read_saved(path);
        if (runtime::cache_key_of(text) == what) {
            CompiledGraph loaded = load_text(text, path, context);
            if (!runtime::binaries_of(loaded).matches_file()) store_cached(loaded, path, what, context);
            return loaded;
        }
        impl.log(LogLevel::info, fmt::format("compiled again: {} was made for something else", path.string()));
    } catch (const Error& error) { impl.log(LogLevel::info, fmt::format("compiled again: {}", error.what())); }
    return std::nullopt;
}

void store_cached(const CompiledGraph& compiled, const std::filesystem::path& path, const std::string& what,
                  const Context& context) {
    try {
        runtime::save(compiled, what, path);
    } catch (const Error& error) {
        context.impl()->log(LogLevel::warning, fmt::format("the compiled graph is not kept: {}", error.what()));
    }
}

}  // namespace cairn::driver
