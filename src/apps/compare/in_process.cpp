#include "apps/compare/in_process.hpp"

#include "apps/compare/peak_memory.hpp"
#include "apps/compare/stopwatch.hpp"
#include "apps/console/standard_streams.hpp"

#include <algorithm>

namespace cairn::compare {
namespace {

Mode mode_of(const std::string& text) {
    if (text == "cached") return Mode::cached;
    if (text == "quick") return Mode::quick;
    return text == "normal" ? Mode::normal : Mode::off;
}

Context make_context(const ImplementationSettings& implementation, std::int64_t threads) {
    ContextOptions options;
    if (implementation.mode != "off") options = ContextOptions::command_line_defaults();
    options.threads = static_cast<int>(threads);
    options.log = [](LogLevel, std::string_view line) { console::print_to_stderr(line); };
    return Context(options);
}

}  // namespace

InProcess::InProcess(const ImplementationSettings& implementation, const Settings& settings)
    : implementation_(implementation), settings_(settings) {}

std::int64_t InProcess::max_batch() const { return std::ranges::max(settings_.measure.batch_sizes); }

Loaded InProcess::load(const std::stop_token& stop) {
    resident_before_ = resident_bytes();
    reset_peak();
    const Stopwatch watch;
    std::optional<double> begin, end;
    CompileOptions options;
    options.mode = mode_of(implementation_.mode);
    if (implementation_.tolerance > 0) options.tolerance = Tolerance::relative(implementation_.tolerance);
    options.stop = stop;
    options.progress = [&](const Progress& progress) {
        std::optional<double>& edge = progress.phase == "bind" ? end : begin;
        if (!edge) edge = watch.seconds();
    };
    load_model(make_context(implementation_, settings_.measure.threads), options);
    Loaded loaded{watch.seconds(), {}, {{"cairn", std::string(version())}}};
    if (begin) loaded.compile_seconds = end.value_or(loaded.load_seconds) - *begin;
    return loaded;
}

Reply InProcess::answer(std::span<const DataRow> rows, const std::stop_token& stop) {
    return {answers(rows, stop), {}};
}

std::optional<double> InProcess::peak_bytes() {
    if (!peak_bytes_ && resident_before_)
        if (const auto peak = peak_resident_bytes()) peak_bytes_ = std::max(0.0, *peak - *resident_before_);
    return peak_bytes_;
}

}  // namespace cairn::compare
