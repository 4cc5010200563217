#pragma once

#include "runtime/bound_values.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <vector>

/// What a bucket may run: its program, and beside an inexact one the exact one, until the two have been compared.
namespace cairn::inline v0::runtime {

/// What came of comparing them.
enum class Verdict : std::uint8_t {
    open,    ///< nothing yet: what runs now is to be compared
    within,  ///< the program is exact, or was near enough; the other one is gone, if it is not kept
    beyond,  ///< the program was too far off: the exact one is run for good, and it is gone
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

    Verdict verdict() const noexcept { return verdict_.load(std::memory_order_acquire); }
    /// What is run by the present verdict; while it is open, the inexact one.
    std::shared_ptr<BoundProgram> chosen() const;
    /// The exact one beside it, while the verdict is open; else null, without a lock. Whoever has it before chosen()
    /// misses no verdict.
    std::shared_ptr<BoundProgram> beside() const;
    /// The exact one, where it is kept.
    std::shared_ptr<BoundProgram> exact() const;
    /// Whether all inexact values are within what is allowed, if they are so far from what the exact program makes.
    bool allows(std::span<const double> errors) const;
    /// Tells how far each inexact value was from what `exact` made. True where all are within what is allowed.
    bool settle(std::shared_ptr<BoundProgram> exact, std::span<const double> errors);
    /// Runs the exact program for good, where it is kept.
    void fall_back();
    /// The largest errors told so far, in the order of BucketProgram::inexact; empty: none were.
    std::vector<double> errors() const;

private:
    const std::vector<InexactValue>& values_;
    mutable std::mutex mutex_;
    std::shared_ptr<BoundProgram> chosen_, beside_;
    std::vector<double> errors_;
    bool keeps_exact_;
    std::atomic<Verdict> verdict_;
};

}  // namespace cairn::inline v0::runtime
