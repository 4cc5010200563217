#pragma once

#include "cairn/problem.hpp"
#include "ir/op_table.hpp"

#include <algorithm>
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
    Body(std::vector<Step> steps) : steps_(std::make_shared<const std::vector<Step>>(std::move(steps))) {}
    operator std::vector<Step>() const { return {begin(), end()}; }

    const Step* begin() const { return steps_ == nullptr ? nullptr : steps_->data(); }
    const Step* end() const { return begin() + size(); }
    std::size_t size() const { return steps_ == nullptr ? 0 : steps_->size(); }
    bool empty() const { return size() == 0; }
    const Step& operator[](std::size_t i) const { return (*steps_)[i]; }
    const Step& back() const { return steps_->back(); }
    friend bool operator==(const Body& a, const Body& b) {
        return a.steps_ == b.steps_ || std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    std::shared_ptr<const std::vector<Step>> steps_;
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
