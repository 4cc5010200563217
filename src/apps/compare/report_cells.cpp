#include "apps/compare/report_cells.hpp"

#include "apps/console/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cairn::compare {
namespace {

using console::bytes_text;
using console::time_text;

std::string time_or_dash(const std::optional<double>& seconds) { return seconds ? time_text(*seconds) : "-"; }
std::string share_text(double share) { return fmt::format("{:.4g} %", 100 * share); }

/// `ONNX Runtime: onnxruntime 1.32.0, numpy 2.4.1`; empty without versions.
std::string versions_text(const ReportedImplementation& each) {
    std::vector<std::string> parts;
    if (each.loaded)
        for (const auto& [library, version] : each.loaded->versions) parts.push_back(library + " " + version);
    return parts.empty() ? std::string() : fmt::format("{}: {}", each.settings.name, fmt::join(parts, ", "));
}

}  // namespace

Cells times_cells(const Report& report) {
    Cells cells{
        {"implementation", "batch", "p50", "mean", "deviation", "p95", "p99", "requests/s", "rows/s", "overhead"}, {}};
    for (const ReportedImplementation& each : report.implementations)
        for (const ReportedTimes& times : each.times) {
            const Statistics& s = times.seconds;
            cells.rows.push_back(
                {each.settings.name, fmt::format("{}", times.batch_size), time_text(s.p50), time_text(s.mean),
                 time_or_dash(s.deviation), time_or_dash(s.p95), time_or_dash(s.p99),
                 fmt::format("{:.4g}", times.requests_per_second),
                 fmt::format("{:.4g}", times.requests_per_second * static_cast<double>(times.batch_size)),
                 time_or_dash(times.overhead)});
        }
    return cells;
}

Cells implementation_cells(const Report& report) {
    Cells cells{{"implementation", "accuracy", "load", "compile", "peak memory", "calibration"}, {}};
    for (const ReportedImplementation& each : report.implementations)
        if (each.loaded)
            cells.rows.push_back({each.settings.name, each.accuracy ? share_text(*each.accuracy) : "-",
                                  time_text(each.loaded->load_seconds), time_or_dash(each.loaded->compile_seconds),
                                  each.peak_bytes ? bytes_text(*each.peak_bytes) : "-",
                                  each.calibration ? time_text(each.calibration->p50) : "-"});
    return cells;
}

Cells agreement_cells(const Report& report) {
    Cells cells{{"one", "other", "agree", "largest difference"}, {}, 2};
    for (const Agreement& each : report.agreements)
        cells.rows.push_back({each.one, each.other, share_text(each.share),
                              each.difference ? fmt::format("{:.2g}", *each.difference) : "-"});
    return cells;
}

std::vector<std::string> settings_sentences(const Report& report) {
    const MeasureSettings& measure = report.settings.measure;
    std::vector<std::string> all{fmt::format(
        "{}: {} rows, {} turns of {} requests of each batch size, {} threads, made {}.",
        to_string(report.settings.task), report.rows, measure.turns, measure.iterations, measure.threads, report.made)};
    if (!report.is_complete) all.emplace_back("The comparison was stopped: what follows is a part of it.");
    std::vector<std::string> versions;
    for (const ReportedImplementation& each : report.implementations)
        if (std::string text = versions_text(each); !text.empty()) versions.push_back(std::move(text));
    if (!versions.empty()) all.push_back(fmt::format("Versions: {}.", fmt::join(versions, "; ")));
    return all;
}

std::vector<std::string> machine_sentences(const Report& report) {
    constexpr double much = 0.05;
    std::vector<std::string> all{
        fmt::format("Machine: {}; {}; {}.", report.machine.id, report.machine.os, report.machine.compiler)};
    if (!report.calibration || !report.calibration->deviation) return all;
    const double spread = *report.calibration->deviation / report.calibration->mean;
    all.push_back(fmt::format("Calibration beside the turns: {}, deviation {}{}.", time_text(report.calibration->p50),
                              share_text(spread), spread > much ? ": the machine was busy or its clock changed" : ""));
    return all;
}

std::vector<std::string> failure_sentences(const Report& report) {
    std::vector<std::string> all;
    for (const ReportedImplementation& each : report.implementations)
        if (each.error) all.push_back(fmt::format("{} failed: {}", each.settings.name, *each.error));
    return all;
}

}  // namespace cairn::compare
