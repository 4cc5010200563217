#include "canon/stems.hpp"

#include "types/hash.hpp"

namespace cairn::inline v0::canon {

using types::mixed;

std::size_t Stems::made_of(CanonId core) const {
    const Term& term = canon_.term(core);
    const bool is_op = term.kind == TermKind::op;
    if (is_op && (term.op == ir::Op::reshape || term.op == ir::Op::transpose)) return known_[term.parts[0].core];
    const bool is_open = term.kind == TermKind::sum || term.kind == TermKind::product ||
                         (is_op && ir::info(term.op).kind == ir::OpClass::elementwise);
    if (!is_open) return mixed(1, core);
    // Moved parts are younger and may stand in another order.
    std::size_t parts = 0;
    for (const Scaled& part : term.parts) parts += mixed(term.parts.size(), known_[part.core]);
    return mixed(mixed(static_cast<std::size_t>(term.kind) * 64 + static_cast<std::size_t>(term.op), parts), 2);
}

std::size_t Stems::of(CanonId core) {
    while (known_.size() <= core) known_.push_back(made_of(static_cast<CanonId>(known_.size())));
    return known_[core];
}

}  // namespace cairn::inline v0::canon
