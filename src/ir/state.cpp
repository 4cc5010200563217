#include "cairn/ops.hpp"
#include "ir/call.hpp"
#include "ir/graph_data.hpp"

namespace cairn::inline v0 {

Tensor State::read(std::source_location) const { return Tensor(graph_, graph_->states()[index_].read); }

Tensor State::latest() const { return Tensor(graph_, graph_->states()[index_].latest); }

Tensor State::append(const Operand& rows) {
    const Operand version(latest(), rows.where());
    const Tensor next = ir::call(ir::Op::state_append, {version, rows});
    graph_->states()[index_].latest = next.id();
    return next;
}

Tensor State::write(const Operand& rows, const Dim& start) {
    const Operand version(latest(), rows.where());
    const Tensor next = ir::call(ir::Op::state_write, {version, rows}, {{"start", std::vector<Dim>{start}}});
    graph_->states()[index_].latest = next.id();
    return next;
}

}  // namespace cairn::inline v0
