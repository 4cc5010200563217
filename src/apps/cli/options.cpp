#include "apps/cli/options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

namespace cairn::cli {
namespace {

constexpr double max_seconds = 1e8;

constexpr std::pair<std::string_view, Mode> modes[] = {
    {"off", Mode::off},       {"cached", Mode::cached},         {"quick", Mode::quick},
    {"normal", Mode::normal}, {"exhaustive", Mode::exhaustive}, {"replay", Mode::replay}};

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
    Number value{};
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// The texts before and after the `=`.
std::optional<std::pair<std::string, std::string>> halves_of(const std::string& text) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size()) return std::nullopt;
    return std::pair(text.substr(0, at), text.substr(at + 1));
}

/// A validator for CLI::Option::check that refuses texts for which `read` returns nothing.
template <typename Read>
CLI::Validator readable(const Read& read, const std::string& expected) {
    const auto check = [read, expected](const std::string& text) {
        return read(text) ? std::string() : "expected " + expected + ", got " + text;
    };
    return {check, "", ""};
}

std::optional<std::int64_t> positive_of(const std::string& text) {
    const std::optional<std::int64_t> value = number_of<std::int64_t>(text);
    return value && *value >= 1 ? value : std::nullopt;
}

}  // namespace

std::optional<double> duration_of(const std::string& text) {
    constexpr std::pair<std::string_view, double> units[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"", 1}};
    for (const auto& [unit, seconds] : units) {
        if (!text.ends_with(unit)) continue;
        const std::optional<double> count =
            number_of<double>(std::string_view(text).substr(0, text.size() - unit.size()));
        if (!count || !(*count >= 0 && *count * seconds <= max_seconds)) return std::nullopt;
        return *count * seconds;
    }
    return std::nullopt;
}

std::optional<Tolerance> tolerance_of(const std::string& text) {
    if (text == "exact") return Tolerance::exact();
    const std::optional<double> error = number_of<double>(text);
    if (!error || !(*error > 0) || !std::isfinite(*error)) return std::nullopt;
    return Tolerance::relative(*error);
}

Mode mode_of(const std::string& text) {
    for (const auto& [name, mode] : modes)
        if (text == name) return mode;
    throw Error(ErrorKind::argument, "command line", "there is no mode " + text);
}

std::vector<std::string> mode_names() {
    std::vector<std::string> names;
    for (const auto& [name, mode] : modes) names.emplace_back(name);
    return names;
}

void check_options(const Options& options) {
    const bool replays = options.mode == "replay";
    if (replays && options.lock.empty())
        throw Error(ErrorKind::argument, "command line", "--mode replay needs the lock that is replayed: --lock FILE");
    if (!replays && !options.lock.empty())
        throw Error(ErrorKind::argument, "command line",
                    "--lock is for --mode replay alone, the mode is " + options.mode);
    const auto measures = [](const std::string& mode) {
        return mode == "quick" || mode == "normal" || mode == "exhaustive";
    };
    if (!options.budget.empty() && !measures(options.mode) && !measures(options.other_mode))
        throw Error(ErrorKind::argument, "command line",
                    "--budget has no effect: nothing is measured in mode " + options.mode +
                        ", but in quick, normal and exhaustive");
}

void refuse_run_options(const Options& options, const std::string& run_by) {
    const char* const given = !options.weights.empty() ? "--weights"
                              : !options.sizes.empty() ? "--size"
                              : options.seed           ? "--seed"
                                                       : nullptr;
    if (given != nullptr)
        throw Error(ErrorKind::argument, "command line",
                    fmt::format("{} has no effect: nothing is run without {}", given, run_by));
}

std::map<std::string, std::int64_t> sizes_of(const Options& options) {
    std::map<std::string, std::int64_t> sizes;
    for (const std::string& text : options.sizes) {
        const auto [name, value] = size_of_text(text).value();
        if (const auto [known, is_new] = sizes.emplace(name, value); !is_new)
            throw Error(ErrorKind::argument, "size",
                        fmt::format("{} is given twice, as {} and {}", name, known->second, value));
    }
    return sizes;
}

std::optional<Split> split_of(const std::string& text) {
    const auto halves = halves_of(text);
    if (!halves) return std::nullopt;
    if (halves->second == "auto") return Split::automatic(halves->first);
    Split split{halves->first, {}};
    std::string_view rest = halves->second;
    while (true) {
        const std::size_t comma = rest.find(',');
        const std::optional<std::int64_t> bound = number_of<std::int64_t>(rest.substr(0, comma));
        if (!bound) return std::nullopt;
        split.upper_bounds.push_back(*bound);
        if (comma == std::string_view::npos) return split;
        rest.remove_prefix(comma + 1);
    }
}

std::optional<std::pair<std::string, std::int64_t>> size_of_text(const std::string& text) {
    const auto halves = halves_of(text);
    const std::optional<std::int64_t> value = halves ? number_of<std::int64_t>(halves->second) : std::nullopt;
    return value ? std::optional(std::pair(halves->first, *value)) : std::nullopt;
}

void add_database_options(CLI::App& app, Options& options) {
    app.option_defaults()->group("The machine");
    app.add_option("--db", options.database, "the timing database; one in your cache folder when not given")
        ->option_text("FILE");
    app.add_flag("--json", options.json, "one JSON object a line, counts and ranks as strings of digits");
    app.option_defaults()->group("Options");
}

void add_machine_options(CLI::App& app, Options& options) {
    app.option_defaults()->group("The machine");
    app.add_option("--threads", options.threads, "threads that run kernels; all usable CPUs when not given")
        ->check(readable(positive_of, "a whole number of at least 1"))
        ->option_text("K");
    app.add_option("--device", options.device, "cpu, cuda, cuda:1 and so on, or auto: a GPU if there is one")
        ->option_text("DEVICE");
    app.add_option(
           "--features", options.features,
           "instructions that kernels may need, as avx2+avx512, or baseline; all that the CPU has when not given")
        ->check(readable(parse_features, "names joined by +, as avx2+avx512, or baseline"))
        ->option_text("SET");
    add_database_options(app, options);
}

void add_compile_options(CLI::App& app, Options& options, Modes modes_of_it) {
    app.option_defaults()->group("How it is compiled");
    app.add_option("graph", options.graph, "a graph in text form (.cairn), - for standard input")
        ->required()
        ->option_text("GRAPH");
    app.add_option("--tolerance", options.tolerance,
                   "how far outputs may be off: not at all but for rounding, or by a relative error as 1e-2")
        ->check(readable(tolerance_of, "exact or a number above 0"))
        ->option_text("exact|E")
        ->capture_default_str();
    const bool has_all = modes_of_it == Modes::all;
    const std::string measuring = "quick, normal or exhaustive (what is missing is measured: little, or all there is)";
    app.add_option(
           "--mode", options.mode,
           has_all ? "where times come from: off (estimates), cached (the database), " + measuring + ", replay (a lock)"
                   : "how much is measured: " + measuring)
        ->check(CLI::IsMember(has_all ? mode_names() : std::vector<std::string>{"quick", "normal", "exhaustive"}))
        ->option_text("MODE")
        ->capture_default_str();
    if (has_all)
        app.add_option("--lock", options.lock, "for --mode replay: what cairn db lock wrote")->option_text("FILE");
    app.add_option(
           "--budget", options.budget,
           fmt::format("for measuring: 500ms, 10s, 2m; when not given 1s of quick, {} of normal, and as long as "
                       "it takes of exhaustive",
                       options.normal_budget))
        ->check(readable(duration_of, "a time of at least 0, as 10s"))
        ->option_text("TIME");
    app.add_option("--split", options.splits,
                   "programs for ranges of a size: T=1,12 is T = 1, 2..12 and above; T=auto finds where to cut")
        ->check(readable(split_of, "a split, as T=1,12 or T=auto"))
        ->option_text("T=1,12")
        ->allow_extra_args(false);
    app.add_option("--pin", options.pins,
                   "only kernels whose id matches, wherever one of them applies: cpu.eigen_*, * for any text")
        ->option_text("KERNEL")
        ->allow_extra_args(false);
    app.add_option("--ban", options.bans, "no kernel whose id matches")->option_text("KERNEL")->allow_extra_args(false);
    app.add_option("--disable", options.disable, "a stage of the compiler to leave out")
        ->option_text("STAGE")
        ->allow_extra_args(false);
    app.add_option("--plan-steps", options.memory_plan_steps,
                   "steps of the search for a memory plan of less bytes, about 2 ns each")
        ->check(CLI::NonNegativeNumber)
        ->option_text("N")
        ->capture_default_str();
    app.option_defaults()->group("Options");
}

void add_run_options(CLI::App& app, Options& options) {
    app.option_defaults()->group("What it is run on");
    app.add_option("--weights", options.weights, "a safetensors file; made from the seed when not given")
        ->option_text("FILE");
    app.add_option("--size", options.sizes,
                   "a size at which it is run; lengths of states are their least when not given, others the middle of "
                   "their range")
        ->check(readable(size_of_text, "a size, as T=12"))
        ->option_text("T=12")
        ->allow_extra_args(false);
    app.add_option("--seed", options.seed, "equal seeds give equal weights, inputs and samples")
        ->check(readable([](const std::string& text) { return number_of<std::uint64_t>(text); },
                         "a whole number from 0 on"))
        ->option_text("S [0]");
    app.option_defaults()->group("Options");
}

CompileOptions compile_options(const Options& options) {
    CompileOptions compile;
    compile.mode = mode_of(options.mode);
    const std::string& budget =
        options.budget.empty() && options.mode == "normal" ? options.normal_budget : options.budget;
    if (!budget.empty()) compile.tune_seconds = duration_of(budget).value();
    compile.tolerance = tolerance_of(options.tolerance).value();
    for (const std::string& split : options.splits) compile.splits.push_back(split_of(split).value());
    for (const std::string& pattern : options.pins)
        compile.rules.push_back({pattern, "*", RuleAction::pin, "--pin " + pattern});
    for (const std::string& pattern : options.bans)
        compile.rules.push_back({pattern, "*", RuleAction::ban, "--ban " + pattern});
    compile.disable = options.disable;
    compile.memory_plan_steps = options.memory_plan_steps;
    compile.lock = options.lock;
    return compile;
}

}  // namespace cairn::cli
