#pragma once

#include "cairn/problem.hpp"
#include "ir/op_table.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cairn::inline v0::fuse {

/// The steps of an elementwise tile, read-only. Copies share them: unrolled loops and layers have the same few bodies
/// over and over.
class Body {
public:
    Body() = default;
    Body(std::vector<Step> steps);
    operator std::vector<Step>() const { return {begin(), end()}; }

    const Step* begin() const { return stored_ == nullptr ? nullptr : stored_->steps.data(); }
    const Step* end() const { return begin() + size(); }
    std::size_t size() const { return stored_ == nullptr ? 0 : stored_->steps.size(); }
    bool empty() const { return size() == 0; }
    const Step& operator[](std::size_t i) const { return begin()[i]; }
    const Step& back() const { return begin()[size() - 1]; }
    std::size_t hash() const { return stored_ == nullptr ? 0 : stored_->hash; }
    /// To the bit: zeros of different signs are different numbers, and NaN is itself.
    friend bool operator==(const Body& a, const Body& b);

private:
    struct Stored {
        std::vector<Step> steps;
        std::size_t hash;
    };
    std::shared_ptr<const Stored> stored_;
};

/// Makes bodies step by step, equal ones once.
///
///     constant(f32, 0.5), add(Op::mul, f32, {0, 1})   ->   1=const(0.5):f32 2=mul(0,1):f32
class Bodies {
public:
    void constant(DType dtype, double number);
    void add(ir::Op op, DType dtype, std::span<const int> operands);
    /// The body of the steps since the last call.
    Body finish();

private:
    /// Steps in few words, which tell them apart to the bit.
    using Code = std::vector<std::uint32_t>;
    struct Known {
        Code code;
        Body body;
    };
    std::vector<Step> decoded() const;

    Code code_;
    std::unordered_multimap<std::size_t, Known> known_;
};

}  // namespace cairn::inline v0::fuse
