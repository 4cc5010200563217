#include "apps/compare/report.hpp"

#include "apps/compare/sha256.hpp"
#include "apps/console/timestamp.hpp"
#include "cairn/error.hpp"

#include <algorithm>
#include <numeric>

namespace cairn::compare {
namespace {

ReportedTimes reported(const BatchTimes& batch) {
    const auto sum = [](const std::vector<double>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0);
    };
    const std::vector<double>& seconds = batch.seconds();
    ReportedTimes times{batch.batch_size, statistics_of(seconds)};
    const auto count = static_cast<double>(seconds.size());
    times.requests_per_second = sum(seconds) > 0 ? count / sum(seconds) : 0;
    if (batch.has_own()) times.overhead = (sum(batch.round_trips) - sum(batch.own)) / count;
    return times;
}

ReportedImplementation reported(const ImplementationSettings& settings, const Dataset& data, const std::string& digest,
                                const Measured& measured) {
    ReportedImplementation result{settings, digest, measured.error, measured.loaded, measured.peak_bytes};
    result.accuracy = accuracy_of(data.rows, measured.answers);
    if (!measured.calibration.empty()) result.calibration = statistics_of(measured.calibration);
    for (const BatchTimes& batch : measured.batches)
        if (!batch.round_trips.empty()) result.times.push_back(reported(batch));
    return result;
}

}  // namespace

std::vector<std::string> model_digests(const Settings& settings) {
    std::vector<std::string> digests;
    for (const ImplementationSettings& each : settings.implementations) try {
            digests.push_back(each.model.empty() ? std::string() : sha256_of_path(each.model));
        } catch (const Error&) { digests.emplace_back(); }
    return digests;
}

Report make_report(const Settings& settings, const Dataset& data, const std::vector<std::string>& digests,
                   const Measurements& measurements, const Machine& machine) {
    Report report;
    report.title = settings.title;
    report.made = console::timestamp_text(console::now());
    report.is_complete = measurements.is_complete;
    report.settings = settings;
    report.data_sha256 = data.sha256;
    report.rows = static_cast<std::int64_t>(data.rows.size());
    report.machine = machine;
    std::vector<double> calibration;
    for (std::size_t i = 0; i < settings.implementations.size(); ++i) {
        const Measured& measured = measurements.implementations[i];
        report.implementations.push_back(reported(settings.implementations[i], data, digests[i], measured));
        calibration.insert(calibration.end(), measured.calibration.begin(), measured.calibration.end());
        for (std::size_t j = 0; j < i; ++j) {
            const Measured& other = measurements.implementations[j];
            if (measured.answers.empty() || other.answers.empty()) continue;
            Agreement agreement =
                agreement_of(other.answers, measured.answers, settings.task, settings.measure.tolerance);
            agreement.one = settings.implementations[j].name;
            agreement.other = settings.implementations[i].name;
            report.agreements.push_back(agreement);
        }
    }
    if (!calibration.empty()) report.calibration = statistics_of(calibration);
    return report;
}

}  // namespace cairn::compare
