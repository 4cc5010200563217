#include "apps/compare/report.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace cairn::compare {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json nullable(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json json_of(const Statistics& statistics) {
    return {{"count", statistics.count},      {"mean", statistics.mean}, {"deviation", nullable(statistics.deviation)},
            {"least", statistics.least},      {"p50", statistics.p50},   {"p95", nullable(statistics.p95)},
            {"p99", nullable(statistics.p99)}};
}

Json nullable(const std::optional<Statistics>& statistics) { return statistics ? json_of(*statistics) : Json(nullptr); }

Json json_of(const ReportedTimes& times) {
    return {{"batch_size", times.batch_size},
            {"seconds", json_of(times.seconds)},
            {"requests_per_second", times.requests_per_second},
            {"rows_per_second", times.requests_per_second * static_cast<double>(times.batch_size)},
            {"overhead", nullable(times.overhead)}};
}

Json json_of(const ReportedImplementation& each) {
    Json times = Json::array();
    for (const ReportedTimes& batch : each.times) times.push_back(json_of(batch));
    const bool is_loaded = each.loaded.has_value();
    return {{"name", each.settings.name},
            {"kind", to_string(each.settings.kind)},
            {"mode", each.settings.is_in_process() ? Json(each.settings.mode) : Json(nullptr)},
            {"tolerance", each.settings.is_in_process() ? Json(each.settings.tolerance) : Json(nullptr)},
            {"command", each.settings.command},
            {"model_sha256", each.model_sha256.empty() ? Json(nullptr) : Json(each.model_sha256)},
            {"error", nullable(each.error)},
            {"load_seconds", is_loaded ? Json(each.loaded->load_seconds) : Json(nullptr)},
            {"compile_seconds", is_loaded ? nullable(each.loaded->compile_seconds) : Json(nullptr)},
            {"versions", is_loaded ? Json(each.loaded->versions) : Json::object()},
            {"peak_bytes", nullable(each.peak_bytes)},
            {"accuracy", nullable(each.accuracy)},
            {"calibration", nullable(each.calibration)},
            {"times", times}};
}

}  // namespace

Json settings_json(const Settings& settings, const std::string& data_sha256, std::int64_t rows) {
    const DataSettings& data = settings.data;
    const MeasureSettings& measure = settings.measure;
    const bool runs = settings.task == Task::run;
    return {
        {"task", to_string(settings.task)},
        {"data",
         {{"sha256", data_sha256}, {"rows", rows}, {"member", runs ? data.inputs : data.text}, {"label", data.label}}},
        {"measure",
         {{"warm_up", measure.warm_up},
          {"iterations", measure.iterations},
          {"turns", measure.turns},
          {"batch_sizes", measure.batch_sizes},
          {"threads", measure.threads},
          {"max_length", measure.max_length},
          {"tokens", measure.tokens},
          {"tolerance", measure.tolerance}}}};
}

Json json_of(const Report& report) {
    const Machine& machine = report.machine;
    Json implementations = Json::array(), agreements = Json::array();
    for (const ReportedImplementation& each : report.implementations) implementations.push_back(json_of(each));
    for (const Agreement& each : report.agreements)
        agreements.push_back({{"one", each.one},
                              {"other", each.other},
                              {"share", each.share},
                              {"difference", nullable(each.difference)}});
    return {{"format", "cairn-compare 1"},
            {"title", report.title},
            {"made", report.made},
            {"complete", report.is_complete},
            {"settings", settings_json(report.settings, report.data_sha256, report.rows)},
            {"machine",
             {{"id", machine.id},
              {"details", machine.details},
              {"os", machine.os},
              {"compiler", machine.compiler},
              {"cairn", machine.cairn},
              {"usable_cpus", machine.usable_cpus}}},
            {"calibration", nullable(report.calibration)},
            {"implementations", implementations},
            {"agreements", agreements}};
}

}  // namespace cairn::compare
