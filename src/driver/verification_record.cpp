#include "driver/verification_record.hpp"

#include "device/context_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cairn::driver {
namespace {

Problem problem_of(const std::string& digest) {
    Problem problem;
    problem.definition = "program_" + digest;
    return problem;
}

/// The candidate of a bucket: `T in 1..12`.
std::string candidate_of(const std::vector<runtime::Range>& ranges) {
    return ranges.empty() ? "all sizes" : runtime::to_string(ranges);
}

/// Largest errors of a program's results, in units of their tolerances.
ErrorMeasurement largest_errors(const runtime::BucketProgram& bucket, std::span<const double> errors) {
    ErrorMeasurement largest;
    largest.inputs = "run";
    for (std::size_t v = 0; v < errors.size(); ++v) {
        const runtime::InexactValue& value = bucket.inexact[v];
        largest.relative = std::max(largest.relative, errors[v] / value.allowed);
        largest.promised = std::max(largest.promised, value.expected / value.allowed);
    }
    return largest;
}

double scale_after(const ErrorMeasurement& worst) {
    const double scale =
        worst.promised * std::min(1 / (VerificationRecord::margin * worst.relative), VerificationRecord::max_growth);
    const bool keeps_tolerance = worst.relative <= 1;
    return std::clamp(scale, keeps_tolerance ? 1.0 : 0.0, VerificationRecord::max_scale);
}

}  // namespace

VerificationRecord::VerificationRecord(Context context, TimingEnvironment environment, const std::string& digest)
    : context_(std::move(context)), environment_(std::move(environment)), problem_(problem_of(digest)) {}

std::optional<ErrorMeasurement> VerificationRecord::find(const std::vector<runtime::Range>& ranges) const {
    return context_.impl()->timings->find_error(problem_, candidate_of(ranges), environment_);
}

double VerificationRecord::budget_scale(const std::vector<runtime::Range>& ranges) const {
    const std::optional<ErrorMeasurement> worst = find(ranges);
    return worst ? scale_after(*worst) : 1;
}

std::vector<std::string> VerificationRecord::notes(std::span<const std::vector<runtime::Range>> buckets) const {
    std::vector<std::string> lines;
    for (const std::vector<runtime::Range>& ranges : buckets) {
        const std::optional<ErrorMeasurement> worst = find(ranges);
        const double scale = worst ? scale_after(*worst) : 1;
        if (scale == 1) continue;
        lines.push_back(
            fmt::format("verified runs ({}) erred {:.3g} of the tolerance where {:.3g} was stated: stated "
                        "errors up to {:.3g} times the tolerance are admitted",
                        candidate_of(ranges), worst->relative, worst->promised, scale));
    }
    return lines;
}

void VerificationRecord::record(const runtime::BucketProgram& bucket, std::span<const double> errors) const {
    const ErrorMeasurement largest = largest_errors(bucket, errors);
    if (largest.relative < min_share * largest.promised) return;
    const std::optional<ErrorMeasurement> worst = find(bucket.ranges);
    if (worst && worst->relative >= largest.relative) return;
    context_.impl()->timings->record_error(problem_, candidate_of(bucket.ranges), environment_, largest);
}

}  // namespace cairn::driver
