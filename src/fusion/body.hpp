#pragma once

#include "cairn/problem.hpp"
#include "graph/ir/graph_data.hpp"
#include "graph/types/hash_index.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>
#include <vector>

namespace cairn::fusion {

/// The steps of a match's body, immutable. They are encoded in few words, which copies share: a graph has many long
/// matches, and unrolled loops repeat the same bodies. All bodies of one BodyBuilder are in one pool, which lives as
/// long as any of them.
class Body {
public:
    Body() = default;
    Body(const std::vector<Step>& steps);
    operator std::vector<Step>() const { return steps(); }

    std::vector<Step> steps() const;
    std::size_t size() const noexcept { return stored_ == nullptr ? 0 : stored_->size; }
    bool empty() const noexcept { return size() == 0; }
    Step back() const { return steps().back(); }
    /// True if the first step is this op.
    bool begins_with(ir::Op op) const noexcept;
    std::size_t hash() const noexcept { return stored_ == nullptr ? 0 : stored_->hash; }
    /// Bitwise comparison: zeros of different signs are different numbers, and a NaN equals itself.
    friend bool operator==(const Body& a, const Body& b) noexcept {
        return a.stored_ == b.stored_ || (a.hash() == b.hash() && a.size() == b.size() && same_words(a, b));
    }

private:
    friend class BodyBuilder;
    struct Stored {
        std::span<const std::uint32_t> words;  // of each step: op, dtype and number of further words, then these
        std::size_t size, hash;
    };
    static bool same_words(const Body& a, const Body& b) noexcept {
        return a.empty() || std::ranges::equal(a.stored_->words, b.stored_->words);
    }
    std::shared_ptr<const Stored> stored_;
};

/// Builds bodies step by step; equal bodies are stored once.
///
///     constant(f32, 0.5), add(Op::mul, f32, {0, 1})   ->   1=const(0.5):f32 2=mul(0,1):f32
class BodyBuilder {
public:
    void constant(DType dtype, double number);
    void add(ir::Op op, DType dtype, std::span<const int> operands);
    /// Adds a step that is a definition.
    void add(std::string_view definition, DType dtype, std::span<const int> operands);
    /// The body of the steps added since the last call.
    Body finish();

private:
    const Body::Stored* store(std::size_t hash);

    std::vector<std::uint32_t> words_;
    std::size_t size_ = 0;
    std::shared_ptr<std::pmr::monotonic_buffer_resource> pool_ =
        std::make_shared<std::pmr::monotonic_buffer_resource>();
    std::vector<const Body::Stored*> known_;
    types::HashIndex index_;  // of `known_`, by hash
};

}  // namespace cairn::fusion
