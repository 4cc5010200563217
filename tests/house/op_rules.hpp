#pragma once

#include "tests/house/tree.hpp"

namespace cairn::house {

/// No `switch` over ops in src/ and kernels/ has a `default:`: a new op would get a meaning that nobody gave it. A
/// switch is one over ops when a case of it names an enumerator of Op, OpClass, ElementCode or BlockCode
/// (`case ir::Op::neg:`), or when what it switches over is called op or code (`switch (node.op)`, `switch (e.op())`).
Faults defaults_over_ops(const Tree& tree);

/// docs/add_an_op.md is true: in include/, src/ and kernels/ exactly the files of its first table name an elementwise
/// op of src/graph/ir/op_list.hpp, each of them every one, besides the folders of laws and composites that the page
/// lists; and so does the test of that table. A file names an op with `Op::floor`, `"floor"`, a row `OP(floor, ..)` or
/// `ROW(floor, ..)`, or its declaration `Tensor floor(`.
Faults wrong_op_page(const Tree& tree);

}  // namespace cairn::house
