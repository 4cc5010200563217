#pragma once

#include "fusion/pattern.hpp"

#include <optional>
#include <span>
#include <vector>

namespace cairn::fusion {

/// Finds out whether operands can have the shapes a pattern writes: each symbol stands for one size everywhere, the
/// last axes agree, f32 stands for any float dtype but one for all, i32 for itself.
///
///     f32[B,G*R,T,D] f32[B,G,S,D]   f32[2,8,T,64] f32[2,4,P + T,64]   yes: B = 2, G = 4, R = 2, T, S = P + T, D = 64
class ShapeUnifier {
public:
    explicit ShapeUnifier(const Pattern& pattern);
    /// Binds what operand `index` tells; false where it contradicts what is known. The shape must outlive what is
    /// bound.
    bool bind(std::size_t index, DType dtype, const Shape& shape);
    /// How much is bound.
    std::size_t bound() const noexcept { return order_.size(); }
    /// Forgets what was bound since bound() was `before`, by a bind that failed too.
    void rollback(std::size_t before);
    /// True when sizes like G*R come out too, for operands of these shapes.
    bool complete(std::span<const TensorDesc> operands, const std::shared_ptr<Symbols>& symbols) const;

private:
    using Bound = std::vector<std::optional<Dim>>;

    bool solve(const Dim& written, const Dim& actual, Bound& bound, Symbols& symbols) const;
    void bind_symbol(std::size_t symbol, const Dim& actual);

    const Pattern& pattern_;
    std::vector<std::vector<std::optional<std::size_t>>> symbols_;  // of each operand's sizes, where it stands alone
    bool has_open_ = false;                                         // some size is neither a number nor a symbol
    std::vector<const Dim*> bound_;                                 // of each symbol
    std::optional<DType> float_dtype_;
    std::vector<std::size_t> order_;  // the symbols as they were bound; one more than the last: the float dtype
};

}  // namespace cairn::fusion
