#pragma once

#include "cairn/problem.hpp"
#include "fusion/body.hpp"

#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

/// Problems in few words: a graph asks about many long ones, and few of them are chosen.
namespace cairn::selection {

/// Descriptions of tensors, equal ones once: many problems speak of few.
class TensorDescInterner {
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
struct ProblemRef {
    std::string_view definition;
    const Attributes* attributes = nullptr;
    const fusion::Body* body = nullptr;
    std::span<const int> results;
    std::span<const TensorDesc*const> inputs, outputs;

    std::size_t hash() const;
    /// To the bit: zeros of different signs are different numbers, and NaN is itself.
    friend bool operator==(const ProblemRef& a, const ProblemRef& b);
};

/// A problem that is kept, with all its parts but the descriptions. Its lists lie in a pool: letting go of many
/// problems is quick.
class InternedProblem {
public:
    InternedProblem(const ProblemRef& problem, std::pmr::memory_resource& pool);
    InternedProblem(const InternedProblem&) = delete;
    InternedProblem& operator=(const InternedProblem&) = delete;

    const ProblemRef& ref() const noexcept { return ref_; }
    /// Put together for who looks.
    const std::shared_ptr<const Problem>& whole() const;
    bool is_whole() const noexcept { return whole_ != nullptr; }
    /// Keeps it in few words until someone looks again.
    void release_memory() const { whole_.reset(); }

private:
    Attributes attributes_;
    fusion::Body body_;
    ProblemRef ref_;
    mutable std::shared_ptr<const Problem> whole_;
};

/// A problem that kernels are asked about, kept by who asks.
class ProblemHandle {
public:
    ProblemHandle() = default;
    explicit ProblemHandle(const InternedProblem& kept) : kept_(&kept) {}

    const Problem& operator*() const { return *kept_->whole(); }
    const Problem* operator->() const { return kept_->whole().get(); }
    const std::shared_ptr<const Problem>& shared() const { return kept_->whole(); }
    const InternedProblem& kept() const noexcept { return *kept_; }

private:
    const InternedProblem* kept_ = nullptr;
};

}  // namespace cairn::selection
