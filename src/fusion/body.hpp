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

/// The steps of a tile with a body, read-only. They are kept in few words, which copies share: a graph has many long
/// tiles, and unrolled loops have the same ones over and over. All that one Bodies has made lies in one pool, which is
/// there as long as one of them is.
class Body {
public:
    Body() = default;
    Body(const std::vector<Step>& steps);
    operator std::vector<Step>() const { return steps(); }

    std::vector<Step> steps() const;
    std::size_t size() const noexcept { return stored_ == nullptr ? 0 : stored_->size; }
    bool empty() const noexcept { return size() == 0; }
    Step back() const { return steps().back(); }
    /// Whether its first step is this op.
    bool begins_with(ir::Op op) const noexcept;
    std::size_t hash() const noexcept { return stored_ == nullptr ? 0 : stored_->hash; }
    /// To the bit: zeros of different signs are different numbers, and NaN is itself.
    friend bool operator==(const Body& a, const Body& b) noexcept {
        return a.stored_ == b.stored_ || (a.hash() == b.hash() && a.size() == b.size() && same_words(a, b));
    }

private:
    friend class BodyBuilder;
    struct Stored {
        std::span<const std::uint32_t> words;  // of each step its op, dtype and number of words behind, and these
        std::size_t size, hash;
    };
    static bool same_words(const Body& a, const Body& b) noexcept {
        return a.empty() || std::ranges::equal(a.stored_->words, b.stored_->words);
    }
    std::shared_ptr<const Stored> stored_;
};

/// Makes bodies step by step, equal ones once.
///
///     constant(f32, 0.5), add(Op::mul, f32, {0, 1})   ->   1=const(0.5):f32 2=mul(0,1):f32
class BodyBuilder {
public:
    void constant(DType dtype, double number);
    void add(ir::Op op, DType dtype, std::span<const int> operands);
    /// A step that is a definition.
    void add(std::string_view definition, DType dtype, std::span<const int> operands);
    /// The body of the steps since the last call.
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
