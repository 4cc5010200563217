#pragma once

#include "cairn/context.hpp"
#include "runtime/program_set.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cairn::driver {

/// Errors that verifications of earlier programs of a graph have measured, and the scale of error budgets that follows
/// from them. They are kept in the timing database as errors of the candidate `T in 1..12` (the bucket) on the problem
/// `program_DIGEST |`, in units of the tolerance. The digest is that of the graph and its tolerances.
class VerificationRecord {
public:
    /// Budgets are scaled so that the expected error is the tolerance divided by this.
    static constexpr double margin = 2;
    /// The largest ratio of an admitted stated error to the verified one: the measured share of the stated error holds
    /// for the kernels that were run, and may be larger for others.
    static constexpr double max_growth = 4;
    /// The largest scale.
    static constexpr double max_scale = 8;
    /// A measured error below this share of the stated one shows that the inputs exercised nothing (zeros in a warm-up,
    /// for example), so it is not recorded.
    static constexpr double min_share = 1.0 / 64;

    VerificationRecord(Context context, TimingEnvironment environment, const std::string& digest);

    /// The factor of a bucket's error budgets: above 1 if verified programs erred less than stated, so that programs of
    /// larger stated errors keep the tolerance; below 1 if one exceeded it; 1 if none was verified.
    double budget_scale(const std::vector<runtime::Range>& ranges) const;
    /// One line for each scale other than 1.
    std::vector<std::string> notes(std::span<const std::vector<runtime::Range>> buckets) const;
    /// Records the errors of the inexact values of a bucket's program, as measured by a verification.
    void record(const runtime::BucketProgram& bucket, std::span<const double> errors) const;

private:
    std::optional<ErrorMeasurement> find(const std::vector<runtime::Range>& ranges) const;

    Context context_;
    TimingEnvironment environment_;
    Problem problem_;
};

}  // namespace cairn::driver
