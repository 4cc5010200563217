#include "graph/ir/op_table.hpp"

namespace cairn::ir {
namespace {

constexpr bool in_order() {
    for (std::size_t i = 0; i < op_rows.size(); ++i)
        if (static_cast<std::size_t>(op_rows[i].op) != i) return false;
    return true;
}
constexpr bool has_element_cost() {
    for (const OpInfo& row : op_rows)
        if ((row.kind == OpClass::elementwise) != (row.work != ElementCost::unspecified)) return false;
    return true;
}
static_assert(has_element_cost(), "an elementwise op says what an element costs, and no other does");
static_assert(in_order(), "rows stand in the order of Op");

}  // namespace

std::optional<Op> find_op(std::string_view name) noexcept {
    for (const OpInfo& row : op_rows)
        if (row.name == name) return row.op;
    return std::nullopt;
}

}  // namespace cairn::ir
