#pragma once

#include "cairn/problem.hpp"
#include "fusion/body.hpp"

#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

/// Interned problems in compact form: a graph makes many long problems, and few of them are chosen.
namespace cairn::selection {

/// Interns tensor descriptions: many problems share few of them.
class TensorDescInterner {
public:
    /// The equal interned description; its address is stable.
    const TensorDesc* of(const TensorDesc& desc) { return &*known_.insert(desc).first; }

private:
    struct Hash {
        std::size_t operator()(const TensorDesc& desc) const;
    };
    std::unordered_set<TensorDesc, Hash> known_;
};

/// A Problem by reference: its parts are owned elsewhere, its descriptions by one TensorDescInterner.
struct ProblemRef {
    std::string_view definition;
    const Attributes* attributes = nullptr;
    const fusion::Body* body = nullptr;
    std::span<const int> results;
    std::span<const TensorDesc*const> inputs, outputs;

    std::size_t hash() const;
    /// Compares bits: zeros of different signs differ, and NaN equals itself.
    friend bool operator==(const ProblemRef& a, const ProblemRef& b);
};

/// A stored problem that owns all its parts but the descriptions. Its lists lie in a pool, so that many problems are
/// freed quickly.
class InternedProblem {
public:
    InternedProblem(const ProblemRef& problem, std::pmr::memory_resource& pool);
    InternedProblem(const InternedProblem&) = delete;
    InternedProblem& operator=(const InternedProblem&) = delete;

    const ProblemRef& ref() const noexcept { return ref_; }
    /// The full Problem, built on the first call.
    const std::shared_ptr<const Problem>& materialize() const;
    bool is_materialized() const noexcept { return materialized_ != nullptr; }
    /// Frees the full Problem until the next whole().
    void release_memory() const { materialized_.reset(); }

private:
    Attributes attributes_;
    fusion::Body body_;
    ProblemRef ref_;
    mutable std::shared_ptr<const Problem> materialized_;
};

/// Handle of a stored problem for the functions of kernels; the problem's owner must outlive it.
class ProblemHandle {
public:
    ProblemHandle() = default;
    explicit ProblemHandle(const InternedProblem& kept) : interned_(&kept) {}

    const Problem& operator*() const { return *interned_->materialize(); }
    const Problem* operator->() const { return interned_->materialize().get(); }
    const std::shared_ptr<const Problem>& shared() const { return interned_->materialize(); }
    const InternedProblem& kept() const noexcept { return *interned_; }

private:
    const InternedProblem* interned_ = nullptr;
};

}  // namespace cairn::selection
