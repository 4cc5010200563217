#include "ir/op_table.hpp"

namespace cairn::inline v0::ir {
namespace {

constexpr bool in_order() {
    for (std::size_t i = 0; i < op_rows.size(); ++i)
        if (static_cast<std::size_t>(op_rows[i].op) != i) return false;
    return true;
}
constexpr bool work_is_said() {
    for (const OpInfo& row : op_rows)
        if ((row.kind == OpClass::elementwise) != (row.work != Work::unsaid)) return false;
    return true;
}
static_assert(work_is_said(), "an elementwise op says what an element costs, and no other does");
static_assert(in_order(), "rows stand in the order of Op");

}  // namespace

std::optional<Op> find_op(std::string_view name) noexcept {
    for (const OpInfo& row : op_rows)
        if (row.name == name) return row.op;
    return std::nullopt;
}

}  // namespace cairn::inline v0::ir
