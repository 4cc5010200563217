#include "apps/compare/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cairn::compare {
namespace {

/// A field of RFC 4180: in quotes if it needs them.
std::string field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : std::string(); }

std::string line_of(const ReportedImplementation& each, const ReportedTimes* times) {
    const auto& loaded = each.loaded;
    std::vector<std::string> fields{field(each.settings.name), std::string(to_string(each.settings.kind))};
    if (times != nullptr) {
        const Statistics& s = times->seconds;
        fields.insert(fields.end(), {fmt::format("{}", times->batch_size), fmt::format("{}", s.count), number(s.mean),
                                     number(s.deviation), number(s.least), number(s.p50), number(s.p95), number(s.p99),
                                     number(times->requests_per_second), number(times->overhead)});
    } else {
        fields.insert(fields.end(), 10, std::string());
    }
    fields.insert(fields.end(),
                  {number(each.accuracy), number(loaded ? std::optional(loaded->load_seconds) : std::nullopt),
                   number(loaded ? loaded->compile_seconds : std::nullopt), number(each.peak_bytes),
                   number(each.calibration ? std::optional(each.calibration->p50) : std::nullopt),
                   field(each.error.value_or(""))});
    return fmt::format("{}\r\n", fmt::join(fields, ","));
}

}  // namespace

std::string csv_of(const Report& report) {
    std::string text =
        "name,kind,batch_size,count,mean,deviation,least,p50,p95,p99,requests_per_second,overhead,accuracy,"
        "load_seconds,compile_seconds,peak_bytes,calibration,error\r\n";
    for (const ReportedImplementation& each : report.implementations) {
        for (const ReportedTimes& times : each.times) text += line_of(each, &times);
        if (each.times.empty()) text += line_of(each, nullptr);
    }
    return text;
}

}  // namespace cairn::compare
