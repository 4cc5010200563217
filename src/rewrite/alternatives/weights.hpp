#pragma once

#include "rewrite/alternatives/expander.hpp"

#include <optional>
#include <vector>

/// Bound rows and matrices, and functions that build new weights from them.
namespace cairn::alternatives {

/// True for bound elements that are the same in every row: [N] or [1,N], with N = `width`.
bool is_bound_row(const Expander& e, ir::NodeId id, const Dim& width);
/// True for a bound value of one element.
bool is_bound_scalar(const Expander& e, ir::NodeId id);

/// The dense matrix of which `matrix` is the transposed view, if it is one: linear layers store [out, in].
std::optional<ir::NodeId> stored_matrix(const Expander& e, ir::NodeId matrix);

/// The transposed view of a matrix; for a transposed view, the matrix itself.
std::optional<ir::NodeId> transposed(Expander& e, ir::NodeId matrix);
/// a b of bound matrices. For two transposed views of stored matrices: the transposed view of b^T a^T.
std::optional<ir::NodeId> matrix_product(Expander& e, ir::NodeId a, ir::NodeId b);
/// a + b or a - b of bound matrices of one shape; for two transposed views of stored matrices a transposed view.
std::optional<ir::NodeId> matrix_sum(Expander& e, ir::Op op, ir::NodeId a, ir::NodeId b);

/// The slice of `x` with the attributes `cut`; for the transposed view of a bound stored matrix a transposed view.
std::optional<ir::NodeId> sliced(Expander& e, ir::NodeId x, const Attributes& cut, ir::NodeId like);

/// Multiplies (divides, if `op` is div) each column of w by its element of the row `c`, or by the scalar `c`;
/// scaled_rows does so for each row. A transposed view of a stored matrix stays one.
///
///     transpose(stored), c[N]   ->   transpose(stored * c[N,1])
std::optional<ir::NodeId> scaled_columns(Expander& e, ir::Op op, ir::NodeId w, ir::NodeId c);
std::optional<ir::NodeId> scaled_rows(Expander& e, ir::Op op, ir::NodeId w, ir::NodeId c);
/// Concatenates matrices along their columns. For transposed views only: a transposed view of the stored matrices
/// concatenated along their rows.
std::optional<ir::NodeId> concat_columns(Expander& e, const std::vector<ir::NodeId>& matrices);
/// Elements [1,N] or [N] as a row [N].
std::optional<ir::NodeId> as_row(Expander& e, ir::NodeId row);
/// The row r w of a bound row r and a bound matrix w.
std::optional<ir::NodeId> row_times(Expander& e, ir::NodeId row, ir::NodeId w);

}  // namespace cairn::alternatives
