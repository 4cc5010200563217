#pragma once

#include "cairn/problem.hpp"
#include "fuse/bodies.hpp"

#include <memory>
#include <string>
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

/// A Problem whose parts are shared with others.
struct ShortProblem {
    std::string definition;
    Attributes attributes;
    fuse::Body body;
    std::vector<int> results;
    std::vector<const TensorDesc*> inputs, outputs;  ///< of one Descs

    std::size_t hash() const;
    /// To the bit: zeros of different signs are different numbers, and NaN is itself.
    friend bool operator==(const ShortProblem& a, const ShortProblem& b);
};

ShortProblem shortened(const Problem& problem, Descs& descs);

/// A problem that kernels are asked about, put together for who looks.
class AskedProblem {
public:
    AskedProblem() = default;
    AskedProblem(ShortProblem problem, std::shared_ptr<const Descs> descs)
        : stored_(std::make_shared<Stored>(Stored{std::move(problem), std::move(descs), nullptr})) {}

    const Problem& operator*() const;
    const Problem* operator->() const { return &**this; }
    const ShortProblem& words() const { return stored_->problem; }
    bool is_whole() const { return stored_->whole != nullptr; }
    /// Keeps it in few words until someone looks again.
    void put_away() const { stored_->whole.reset(); }

private:
    struct Stored {
        ShortProblem problem;
        std::shared_ptr<const Descs> descs;
        std::unique_ptr<Problem> whole;
    };
    std::shared_ptr<Stored> stored_;
};

}  // namespace cairn::inline v0::select
