#pragma once

#include "rewrite/alternatives/expander.hpp"

#include <optional>
#include <vector>

/// Bound rows and matrices, and what rows make of them.
namespace cairn::alternatives {

/// True for bound elements that are the same in every row: [N], [1,N], or a scalar where `width` is left out.
bool is_bound_row(const Expander& e, ir::NodeId id, const Dim& width);
/// True for a bound value of one element.
bool is_bound_scalar(const Expander& e, ir::NodeId id);

/// The dense matrix that this one is the transposed view of: linear layers store [out, in].
std::optional<ir::NodeId> stored_matrix(const Expander& e, ir::NodeId matrix);

/// The transposed view of a matrix; of a transposed view the matrix.
std::optional<ir::NodeId> transposed(Expander& e, ir::NodeId matrix);
/// a b of bound matrices. Of transposed views of stored ones: the transposed view of b^T a^T.
std::optional<ir::NodeId> matrix_product(Expander& e, ir::NodeId a, ir::NodeId b);
/// a + b or a - b of bound matrices of one shape; of transposed views of stored ones a transposed view.
std::optional<ir::NodeId> matrix_sum(Expander& e, ir::Op op, ir::NodeId a, ir::NodeId b);

/// The slice of a value that `cut` tells; of the transposed view of a bound stored matrix a transposed view.
std::optional<ir::NodeId> sliced(Expander& e, ir::NodeId x, const Attributes& cut, ir::NodeId like);

/// w with each column times (or over, `op` being div) its element of the row or the scalar `c`; with each row for
/// scaled_rows. A transposed view of a stored matrix stays one.
///
///     transpose(stored), c[N]   ->   transpose(stored * c[N,1])
std::optional<ir::NodeId> scaled_columns(Expander& e, ir::Op op, ir::NodeId w, ir::NodeId c);
std::optional<ir::NodeId> scaled_rows(Expander& e, ir::Op op, ir::NodeId w, ir::NodeId c);
/// Matrices side by side; all of them stored transposed: a transposed view of the stored ones below each other.
std::optional<ir::NodeId> concat_columns(Expander& e, const std::vector<ir::NodeId>& matrices);
/// A row [N] of elements [1,N] or [N].
std::optional<ir::NodeId> as_row(Expander& e, ir::NodeId row);
/// The row r w of a bound row r and a bound matrix w.
std::optional<ir::NodeId> row_times(Expander& e, ir::NodeId row, ir::NodeId w);

}  // namespace cairn::alternatives
