#pragma once

#include "cairn/problem.hpp"
#include "fuse/bodies.hpp"

#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

/// Problems in few words: a graph asks about many long ones, and few of them are chosen.
namespace cairn::inline v0::select {

/// Descriptions of tensors, equal ones once: many problems speak of few.
class Descs {
public:
    /// The one that is equal; it stays where it is.
    const TensorDesc* of(const TensorDesc& desc) { return &*known_.insert(desc).first; }

private:
    struct Hash {
        std::size_t operator()(const TensorDesc& desc) const;
    };
    std::unordered_set<TensorDesc, Hash> known_;
};

/// A Problem whose parts lie elsewhere, its descriptions in one Descs.
struct ShortProblem {
    std::string_view definition;
    const Attributes* attributes = nullptr;
    const fuse::Body* body = nullptr;
    std::span<const int> results;
    std::span<const TensorDesc*const> inputs, outputs;

    std::size_t hash() const;
    /// To the bit: zeros of different signs are different numbers, and NaN is itself.
    friend bool operator==(const ShortProblem& a, const ShortProblem& b);
};

/// A problem that is kept, with all its parts but the descriptions. Its lists lie in a pool: letting go of many
/// problems is quick.
class KeptProblem {
public:
    KeptProblem(const ShortProblem& problem, std::pmr::memory_resource& pool);
    KeptProblem(const KeptProblem&) = delete;
    KeptProblem& operator=(const KeptProblem&) = delete;

    const ShortProblem& words() const noexcept { return words_; }
    /// Put together for who looks.
    const std::shared_ptr<const Problem>& whole() const;
    bool is_whole() const noexcept { return whole_ != nullptr; }
    /// Keeps it in few words until someone looks again.
    void put_away() const { whole_.reset(); }

private:
    Attributes attributes_;
    fuse::Body body_;
    ShortProblem words_;
    mutable std::shared_ptr<const Problem> whole_;
};

/// A problem that kernels are asked about, kept by who asks.
class AskedProblem {
public:
    AskedProblem() = default;
    explicit AskedProblem(const KeptProblem& kept) : kept_(&kept) {}

    const Problem& operator*() const { return *kept_->whole(); }
    const Problem* operator->() const { return kept_->whole().get(); }
    const std::shared_ptr<const Problem>& shared() const { return kept_->whole(); }
    const KeptProblem& kept() const noexcept { return *kept_; }

private:
    const KeptProblem* kept_ = nullptr;
};

}  // namespace cairn::inline v0::select
