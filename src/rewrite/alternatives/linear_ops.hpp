#pragma once

#include "rewrite/alternatives/expander.hpp"

#include <optional>
#include <vector>

namespace cairn::alternatives {

/// A product with a bound matrix, and the bound row that is added to it where nothing else reads it.
///
///     %4 = matmul %0, %1      value %5, matmul %4, x %0, w %1, bias %2
///     %5 = add %2, %4
struct LinearOp {
    ir::NodeId matmul, x, w;
    std::optional<ir::NodeId> bias;
    ir::NodeId value;  ///< of the program, that it is or of which it is a spelling
    Laws laws;         ///< what it rests on, being another spelling of the value
    bool is_original;  ///< the program's own
};

/// The product that a matmul computes; nothing where its right side is no bound matrix, or where it is a part of no
/// value's spelling. The shape of the value is that of the matmul.
std::optional<LinearOp> linear_op_of(const Expander& e, ir::NodeId matmul);

/// The products among the spellings of a value.
std::vector<LinearOp> linear_ops_at(const Expander& e, ir::NodeId value);

/// The bound row that an add adds to `product`; nothing where it adds anything else.
std::optional<ir::NodeId> bias_in(const Expander& e, ir::NodeId add, ir::NodeId product);

/// x w, or x w + bias, as a new spelling.
std::optional<ir::NodeId> make_linear_op(Expander& e, ir::NodeId x, ir::NodeId w, std::optional<ir::NodeId> bias,
                                         ir::NodeId like);

}  // namespace cairn::alternatives
