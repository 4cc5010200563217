#pragma once

#include "tests/house/tree.hpp"

namespace cairn::house {

/// No `switch` over ops in src/ and kernels/ may have a `default:`, which would silently handle a new op. A switch is
/// over ops if a case names an enumerator of Op, OpClass, ElementCode or BlockCode (`case ir::Op::neg:`), or if its
/// condition is called op or code (`switch (node.op)`, `switch (e.op())`).
Faults defaults_over_ops(const Tree& tree);

/// Checks the first table of docs/add_an_op.md: in include/, src/ and kernels/, exactly the files that it lists name
/// elementwise ops of src/graph/ir/op_list.hpp, and each of them names all; so does the test in the table. The files
/// and folders that need nothing according to the page are exempt. A file names an op by `Op::floor`, `"floor"`, a row
/// `OP(floor, ..)` or `ROW(floor, ..)`, or the declaration `Tensor floor(`.
Faults op_page_faults(const Tree& tree);

}  // namespace cairn::house
