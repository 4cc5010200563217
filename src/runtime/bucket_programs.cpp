#include "runtime/bucket_programs.hpp"

#include <algorithm>
#include <utility>

namespace cairn::runtime {

BucketPrograms::BucketPrograms(const BucketProgram& bucket, const Context& context, CompiledCodes& codes,
                               const std::stop_token& stop)
    : values_(bucket.inexact),
      active_(std::make_shared<BoundProgram>(bucket.program, context, codes, stop)),
      retains_exact_(stores_narrow_states(bucket.program)),
      status_(bucket.exact ? VerificationStatus::pending : VerificationStatus::passed) {
    if (bucket.exact) reference_program_ = std::make_shared<BoundProgram>(*bucket.exact, context, codes, stop);
    errors_.reserve(values_.size());  // so that resolve() does not throw
}

void BucketPrograms::take_codes(const CompiledCodes& codes) {
    active_->linked.take_codes(codes);
    if (reference_program_ != nullptr) reference_program_->linked.take_codes(codes);
}

std::shared_ptr<BoundProgram> BucketPrograms::active() const {
    const std::lock_guard lock(mutex_);
    return active_;
}

std::shared_ptr<BoundProgram> BucketPrograms::reference_program() const {
    if (status() != VerificationStatus::pending) return nullptr;
    const std::lock_guard lock(mutex_);
    return reference_program_;
}

std::shared_ptr<BoundProgram> BucketPrograms::exact() const {
    const std::lock_guard lock(mutex_);
    return retains_exact_ ? reference_program_ : nullptr;
}

bool BucketPrograms::within_tolerance(std::span<const double> errors) const {
    bool passed = true;
    for (std::size_t v = 0; v < errors.size(); ++v) passed = passed && errors[v] <= values_[v].allowed;
    return passed;
}

bool BucketPrograms::resolve(std::shared_ptr<BoundProgram> exact, std::span<const double> errors) {
    const bool passed = within_tolerance(errors);
    std::shared_ptr<BoundProgram> reference_program, replaced;  // freed after the lock is released
    const std::lock_guard lock(mutex_);
    errors_.resize(values_.size(), 0);
    for (std::size_t v = 0; v < errors.size(); ++v) errors_[v] = std::max(errors_[v], errors[v]);
    if (!retains_exact_) reference_program = std::move(reference_program_);
    if (passed && status_ == VerificationStatus::pending)
        status_.store(VerificationStatus::passed, std::memory_order_release);
    if (!passed && status_ != VerificationStatus::failed) {
        replaced = std::exchange(active_, std::move(exact));
        status_.store(VerificationStatus::failed, std::memory_order_release);
    }
    return passed;
}

void BucketPrograms::fall_back() {
    std::shared_ptr<BoundProgram> replaced;
    const std::lock_guard lock(mutex_);
    if (status_ == VerificationStatus::failed) return;
    replaced = std::exchange(active_, reference_program_);
    status_.store(VerificationStatus::failed, std::memory_order_release);
}

std::vector<double> BucketPrograms::errors() const {
    const std::lock_guard lock(mutex_);
    return errors_;
}

}  // namespace cairn::runtime
