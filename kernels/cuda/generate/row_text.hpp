#pragma once

#include "cairn/kernel.hpp"
#include "kernels/cuda/generate/offset_text.hpp"

#include <string>
#include <vector>

namespace cairn::kernels::cuda {

/// How a block computes a row: its threads, and the elements that a thread keeps in registers; 0: too many to be kept.
struct RowPlan {
    int threads = 32, values = 0;
    /// As template arguments: `128, 6`.
    std::string arguments() const;
};
RowPlan row_plan(const Dim& size);

/// The axes of a problem that are reduced, in ascending order: those of the attribute `axes` or `axis`, or the last.
std::vector<std::size_t> row_axes(const Problem& problem);

/// A tensor as rows: the axes that number the rows, and those along a row.
struct RowView {
    AxisList rows, along;
};
/// The view of a tensor of the shape of input 0.
RowView row_view(const TensorDesc& tensor, const std::vector<std::size_t>& axes);

/// Begins a kernel in which block i computes row i, with `const i64 row`.
std::string row_begin(const Problem& problem, const std::string& entry, const RowPlan& plan, const Dim& rows);
/// Declares a pointer `name` to the row in a parameter.
std::string row_pointer(const std::string& name, const std::string& parameter, const AxisList& rows,
                        const std::string& type = "float");

/// Why there are too many rows, or elements in a row, for places of 32 bits; empty if not.
Refusal row_refusal(const Problem& problem, const std::vector<std::size_t>& axes);

}  // namespace cairn::kernels::cuda
