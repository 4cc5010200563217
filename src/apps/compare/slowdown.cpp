#include "apps/compare/slowdown.hpp"

#include "apps/console/text_file.hpp"
#include "apps/console/units.hpp"
#include "cairn/error.hpp"
#include "io/json_reader/dom_parser.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace cairn::compare {
namespace {

using nlohmann::json;

constexpr const char* format = "cairn-compare 1";

[[noreturn]] void refuse_comparison(const std::string& what) { throw Error(ErrorKind::argument, "compare", what); }

/// Refuses settings that differ, with the name of the first one: `measure.turns`.
void check_equal(const json& old_settings, const json& new_settings, const std::string& path) {
    if (!new_settings.is_object()) {
        if (old_settings != new_settings)
            refuse_comparison(fmt::format("{} was {} and is {}: the reports cannot be compared", path,
                                          old_settings.dump(), new_settings.dump()));
        return;
    }
    for (const auto& [key, value] : new_settings.items())
        check_equal(old_settings.is_object() ? old_settings.value(key, json()) : json(), value,
                    path.empty() ? key : path + "." + key);
}

/// The implementations of a report by name.
std::map<std::string, const json*> by_name(const json& report) {
    std::map<std::string, const json*> all;
    for (const json& each : report.at("implementations")) all[each.at("name").get<std::string>()] = &each;
    return all;
}

double calibration_of(const json& implementation) { return implementation.at("calibration").at("p50").get<double>(); }

const json* times_of(const json& implementation, const json& batch_size) {
    for (const json& each : implementation.at("times"))
        if (each.at("batch_size") == batch_size) return &each;
    return nullptr;
}

void compare_implementation(const std::string& name, const json& before, const json& now, ReportChange& change) {
    if (before.at("error").is_string()) return change.notes.push_back(name + " failed in the old report");
    if (now.at("error").is_string())
        return change.failures.push_back(name + " failed: " + now.at("error").get<std::string>());
    if (before.at("model_sha256") != now.at("model_sha256")) change.notes.push_back(name + " has another model");
    for (const json& times : before.at("times")) {
        const json& batch = times.at("batch_size");
        const json* other = times_of(now, batch);
        if (other == nullptr) continue;  // the settings are equal, so both have all
        change.rows.push_back({name, batch.get<std::int64_t>(), times.at("seconds").at("p50").get<double>(),
                               other->at("seconds").at("p50").get<double>(),
                               calibration_of(now) / calibration_of(before)});
    }
}

bool is_slower(const RowChange& row, double allowed) { return !(row.factor() <= 1 + allowed); }

}  // namespace

json read_report(const std::filesystem::path& path) {
    const auto refuse_file = [&](const std::string& what) {
        throw Error(ErrorKind::file, "compare", path.string() + " " + what);
    };
    json report = json_reader::parse_json(console::read_text(path.string()), refuse_file);
    if (!report.is_object() || report.value("format", json()) != json(format))
        refuse_file(fmt::format("is no report of the format {}", format));
    return report;
}

void check_comparable(const json& old_report, const json& settings) {
    if (old_report.value("complete", json()) != json(true))
        refuse_comparison("the old report was stopped: it cannot be compared");
    check_equal(old_report.value("settings", json()), settings, "");
}

ReportChange change_of(const json& old_report, const json& new_report) {
    ReportChange change;
    try {
        check_comparable(old_report, new_report.at("settings"));
        if (old_report.at("machine").at("id") != new_report.at("machine").at("id"))
            change.notes.emplace_back(
                "the machines differ: the calibration scales their speed at one piece of work only");
        const auto before = by_name(old_report), now = by_name(new_report);
        for (const auto& [name, implementation] : before)
            if (const auto found = now.find(name); found != now.end())
                compare_implementation(name, *implementation, *found->second, change);
            else
                change.notes.push_back(name + " is not in the new report");
        for (const auto& [name, implementation] : now)
            if (!before.contains(name)) change.notes.push_back(name + " is not in the old report");
    } catch (const json::exception& error) {
        throw Error(ErrorKind::file, "compare", fmt::format("a report is incomplete: {}", error.what()));
    }
    return change;
}

std::string text_of(const ReportChange& change, double allowed) {
    std::string text;
    for (const RowChange& row : change.rows)
        text += fmt::format("{}, batch {}: {} before, {} now, machine {:.3f}, time {:.3f}{}\n", row.name,
                            row.batch_size, console::time_text(row.old_seconds), console::time_text(row.new_seconds),
                            row.machine, row.factor(), is_slower(row, allowed) ? "  SLOWER" : "");
    for (const std::string& failure : change.failures) text += failure + '\n';
    for (const std::string& note : change.notes) text += "note: " + note + '\n';
    return text;
}

bool is_acceptable(const ReportChange& change, double allowed) {
    return change.failures.empty() &&
           std::ranges::none_of(change.rows, [&](const RowChange& row) { return is_slower(row, allowed); });
}

}  // namespace cairn::compare
