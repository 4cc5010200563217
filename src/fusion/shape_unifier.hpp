#pragma once

#include "fusion/pattern.hpp"

#include <optional>
#include <span>
#include <vector>

namespace cairn::fusion {

/// Unifies the shapes of operands with those written in a pattern: each symbol has one size throughout, the last axes
/// agree, f32 matches any float dtype (the same for all operands), i32 matches i32.
///
///     f32[B,G*R,T,D] f32[B,G,S,D]   f32[2,8,T,64] f32[2,4,P + T,64]   yes: B = 2, G = 4, R = 2, T, S = P + T, D = 64
class ShapeUnifier {
public:
    explicit ShapeUnifier(const Pattern& pattern);
    /// Binds the symbols and dtype of operand `index`; false if they contradict what is bound. The shape must outlive
    /// the binding.
    bool bind(std::size_t index, DType dtype, const Shape& shape);
    /// The number of bindings.
    std::size_t bound() const noexcept { return order_.size(); }
    /// Removes the bindings made since bound() was `before`, also those of a bind that failed.
    void rollback(std::size_t before);
    /// True if composite sizes like G*R can be solved for as well, for operands of these shapes.
    bool complete(std::span<const TensorDesc> operands, const std::shared_ptr<Symbols>& symbols) const;

private:
    using Bound = std::vector<std::optional<Dim>>;

    bool solve(const Dim& written, const Dim& actual, Bound& bound, Symbols& symbols) const;
    void bind_symbol(std::size_t symbol, const Dim& actual);

    const Pattern& pattern_;
    std::vector<std::vector<std::optional<std::size_t>>> symbols_;  // by operand and axis, of single symbols
    bool has_open_ = false;                                         // some size is neither a number nor a single symbol
    std::vector<const Dim*> bound_;                                 // by symbol
    std::optional<DType> float_dtype_;
    std::vector<std::size_t> order_;  // symbols in binding order; bound_.size() for the float dtype
};

}  // namespace cairn::fusion
