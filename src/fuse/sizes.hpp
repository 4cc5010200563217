#pragma once

#include "fuse/pattern.hpp"

#include <optional>
#include <span>
#include <vector>

namespace cairn::inline v0::fuse {

/// Finds out whether operands can have the shapes a pattern writes: each symbol stands for one size everywhere, the
/// last axes agree, f32 stands for any float dtype but one for all, i32 for itself.
///
///     f32[B,G*R,T,D] f32[B,G,S,D]   f32[2,8,T,64] f32[2,4,P + T,64]   yes: B = 2, G = 4, R = 2, T, S = P + T, D = 64
class Sizes {
public:
    explicit Sizes(const Pattern& pattern) : pattern_(pattern), bound_(pattern.symbols->list().size()) {}
    /// Binds what operand `index` tells; false where it contradicts what is known.
    bool bind(std::size_t index, DType dtype, const Shape& shape);
    /// True when sizes like G*R come out too, for operands of these shapes.
    bool complete(std::span<const TensorDesc> operands, const std::shared_ptr<Symbols>& symbols) const;

private:
    bool solve(const Dim& written, const Dim& actual, std::vector<std::optional<Dim>>& bound, Symbols& symbols) const;

    const Pattern& pattern_;
    std::vector<std::optional<Dim>> bound_;  // of each symbol
    std::optional<DType> float_dtype_;
};

}  // namespace cairn::inline v0::fuse
