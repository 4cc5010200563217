#pragma once

#include "runtime/bound_values.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <vector>

/// What a bucket may run: its program, and beside an inexact one the exact one, until the two have been compared.
namespace cairn::runtime {

/// What came of comparing them.
enum class VerificationStatus : std::uint8_t {
    pending,  ///< nothing yet: what runs now is to be compared
    passed,   ///< the program is exact, or was near enough; the other one is gone, if it is not kept
    failed,   ///< the program was too far off: the exact one is run for good, and it is gone
};

/// Of one bucket, for all instances. Threads may ask and settle at once.
///
/// open -> within by the first comparison, and open or within -> beyond by any: instances that began while it was open
/// each compare on their own inputs, and none waits for another.
///
/// Where states are stored narrower the buckets stand and fall together, for they share the states: each keeps its
/// exact program for good.
class BucketPrograms {
public:
    /// `bucket` must outlive it. Throws as LinkedProgram does.
    BucketPrograms(const BucketProgram& bucket, const Context& context, const std::stop_token& stop);

    VerificationStatus status() const noexcept { return status_.load(std::memory_order_acquire); }
    /// What is run by the present verdict; while it is open, the inexact one.
    std::shared_ptr<BoundProgram> active() const;
    /// The exact one beside it, while the verdict is open; else null, without a lock. Whoever has it before chosen()
    /// misses no verdict.
    std::shared_ptr<BoundProgram> reference_program() const;
    /// The exact one, where it is kept.
    std::shared_ptr<BoundProgram> exact() const;
    /// Whether all inexact values are within what is allowed, if they are so far from what the exact program makes.
    bool within_tolerance(std::span<const double> errors) const;
    /// Tells how far each inexact value was from what `exact` made. True where all are within what is allowed.
    bool resolve(std::shared_ptr<BoundProgram> exact, std::span<const double> errors);
    /// Runs the exact program for good, where it is kept.
    void fall_back();
    /// The largest errors told so far, in the order of BucketProgram::inexact; empty: none were.
    std::vector<double> errors() const;

private:
    const std::vector<InexactValue>& values_;
    mutable std::mutex mutex_;
    std::shared_ptr<BoundProgram> active_, reference_program_;
    std::vector<double> errors_;
    bool keeps_exact_;
    std::atomic<VerificationStatus> status_;
};

}  // namespace cairn::runtime
