#pragma once

#include "runtime/bound_values.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <vector>

/// Declares the programs of a bucket: the selected one and, if it is inexact, the exact one until both have been
/// compared.
namespace cairn::runtime {

/// Result of verifying an inexact program against the exact one.
enum class VerificationStatus : std::uint8_t {
    pending,  ///< none yet: the next run is to be verified
    passed,   ///< the program is exact or within tolerance; the exact one is freed unless it is kept
    failed,   ///< the program was out of tolerance: it is freed, and the exact one is run for good
};

/// The programs of one bucket, shared by all instances. Thread-safe.
///
/// The status goes from pending to passed by the first comparison, and from pending or passed to failed by any:
/// instances that began while it was pending each compare on their own inputs, and none waits for another.
///
/// If states are stored narrower, all buckets fail together because they share the states: each keeps its exact program
/// for good.
class BucketPrograms {
public:
    /// `bucket` must outlive it; `codes` as for LinkedProgram, which also says what is thrown.
    BucketPrograms(const BucketProgram& bucket, const Context& context, CompiledCodes& codes,
                   const std::stop_token& stop);
    /// As LinkedProgram::take_codes(), for all its programs, before anything else is called.
    void take_codes(const CompiledCodes& codes);

    VerificationStatus status() const noexcept { return status_.load(std::memory_order_acquire); }
    /// The program to run in the present status; while pending, the inexact one.
    std::shared_ptr<BoundProgram> active() const;
    /// The exact program while the status is pending; else null, without a lock. A caller that gets it before active()
    /// misses no change of status.
    std::shared_ptr<BoundProgram> reference_program() const;
    /// The exact program if it is kept, else null.
    std::shared_ptr<BoundProgram> exact() const;
    /// True if these errors of all inexact values against the exact program are within tolerance.
    bool within_tolerance(std::span<const double> errors) const;
    /// Records the error of each inexact value against `exact` and updates the status. True if all are within
    /// tolerance.
    bool resolve(std::shared_ptr<BoundProgram> exact, std::span<const double> errors);
    /// Switches to the exact program for good, if it is kept.
    void fall_back();
    /// The largest errors recorded so far, in the order of BucketProgram::inexact; empty if none were.
    std::vector<double> errors() const;

private:
    const std::vector<InexactValue>& values_;
    mutable std::mutex mutex_;
    std::shared_ptr<BoundProgram> active_, reference_program_;
    std::vector<double> errors_;
    bool retains_exact_;
    std::atomic<VerificationStatus> status_;
};

}  // namespace cairn::runtime
