#include "runtime/bucket_programs.hpp"

#include <algorithm>
#include <utility>

namespace cairn::inline v0::runtime {

BucketPrograms::BucketPrograms(const BucketProgram& bucket, const Context& context, const std::stop_token& stop)
    : values_(bucket.inexact),
      chosen_(std::make_shared<BoundProgram>(bucket.program, context, stop)),
      keeps_exact_(stores_states_narrower(bucket.program)),
      verdict_(bucket.exact ? Verdict::open : Verdict::within) {
    if (bucket.exact) beside_ = std::make_shared<BoundProgram>(*bucket.exact, context, stop);
    errors_.reserve(values_.size());  // so that settle() does not fail
}

std::shared_ptr<BoundProgram> BucketPrograms::chosen() const {
    const std::lock_guard lock(mutex_);
    return chosen_;
}

std::shared_ptr<BoundProgram> BucketPrograms::beside() const {
    if (verdict() != Verdict::open) return nullptr;
    const std::lock_guard lock(mutex_);
    return beside_;
}

std::shared_ptr<BoundProgram> BucketPrograms::exact() const {
    const std::lock_guard lock(mutex_);
    return keeps_exact_ ? beside_ : nullptr;
}

bool BucketPrograms::allows(std::span<const double> errors) const {
    bool within = true;
    for (std::size_t v = 0; v < errors.size(); ++v) within = within && errors[v] <= values_[v].allowed;
    return within;
}

bool BucketPrograms::settle(std::shared_ptr<BoundProgram> exact, std::span<const double> errors) {
    const bool within = allows(errors);
    std::shared_ptr<BoundProgram> beside, beaten;  // given back behind the lock
    const std::lock_guard lock(mutex_);
    errors_.resize(values_.size(), 0);
    for (std::size_t v = 0; v < errors.size(); ++v) errors_[v] = std::max(errors_[v], errors[v]);
    if (!keeps_exact_) beside = std::move(beside_);
    if (within && verdict_ == Verdict::open) verdict_.store(Verdict::within, std::memory_order_release);
    if (!within && verdict_ != Verdict::beyond) {
        beaten = std::exchange(chosen_, std::move(exact));
        verdict_.store(Verdict::beyond, std::memory_order_release);
    }
    return within;
}

void BucketPrograms::fall_back() {
    std::shared_ptr<BoundProgram> beaten;
    const std::lock_guard lock(mutex_);
    if (verdict_ == Verdict::beyond) return;
    beaten = std::exchange(chosen_, beside_);
    verdict_.store(Verdict::beyond, std::memory_order_release);
}

std::vector<double> BucketPrograms::errors() const {
    const std::lock_guard lock(mutex_);
    return errors_;
}

}  // namespace cairn::inline v0::runtime
