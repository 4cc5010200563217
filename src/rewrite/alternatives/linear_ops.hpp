#pragma once

#include "rewrite/alternatives/expander.hpp"

#include <optional>
#include <vector>

namespace cairn::alternatives {

/// A product with a bound matrix, with the bound row added to it (its bias) if nothing else reads the product.
///
///     %4 = matmul %0, %1      value %5, matmul %4, x %0, w %1, bias %2
///     %5 = add %2, %4
struct LinearOp {
    ir::NodeId matmul, x, w;
    std::optional<ir::NodeId> bias;
    ir::NodeId value;  ///< the program's value that it computes
    Laws laws;         ///< on which its equality with the value rests
    bool is_original;  ///< true for a product of the program itself
};

/// The linear op that a matmul computes; nothing if its right operand is not a bound matrix, or if it belongs to no
/// expression of a value. The value has the shape of the matmul.
std::optional<LinearOp> linear_op_of(const Expander& e, ir::NodeId matmul);

/// The linear ops among the expressions of a value.
std::vector<LinearOp> linear_ops_at(const Expander& e, ir::NodeId value);

/// The bound row that `add` adds to `product`; nothing if it adds anything else.
std::optional<ir::NodeId> bias_in(const Expander& e, ir::NodeId add, ir::NodeId product);

/// Makes x w, or x w + bias.
std::optional<ir::NodeId> make_linear_op(Expander& e, ir::NodeId x, ir::NodeId w, std::optional<ir::NodeId> bias,
                                         ir::NodeId like);

}  // namespace cairn::alternatives
