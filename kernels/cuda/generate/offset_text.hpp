#pragma once

#include "cairn/problem.hpp"

#include <string>
#include <vector>

namespace cairn::kernels::cuda {

/// One axis of a tensor or of a part of its axes.
struct Axis {
    Dim size, stride;
};

/// Axes, outermost first, in which neighbours that one stride passes through are merged and those of size 1 are left
/// out. The linear index over them is that over the axes they come from.
class AxisList {
public:
    AxisList() = default;
    explicit AxisList(const TensorDesc& tensor);
    /// The axes [begin, end) of a tensor.
    AxisList(const TensorDesc& tensor, std::size_t begin, std::size_t end);

    /// Adds an innermost axis.
    void add(const Dim& size, const Dim& stride);

    const std::vector<Axis>& axes() const { return axes_; }
    Dim count() const;
    /// The offset, in elements, of the linear index that `index` names, as an expression of type `type`; the index is
    /// below count().
    std::string offset(const std::string& index, const std::string& type = "i64") const;
    /// Largest possible offset.
    std::int64_t largest_offset() const;

    /// How offsets go on from a linear index that is a multiple of 4, up to the next.
    enum class Run {
        contiguous,  ///< one by one, from an offset that is a multiple of 4
        repeated,    ///< the same
        other
    };
    Run run_of_four() const;

private:
    std::vector<Axis> axes_;
};

}  // namespace cairn::kernels::cuda
