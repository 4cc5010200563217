#include "rewrite/normal_form/layout_insensitive_hash.hpp"

#include "graph/types/hash.hpp"

namespace cairn::normal_form {

using types::hash_combined;

std::size_t LayoutInsensitiveHash::compute(TermId core) const {
    const Term& term = normalizer_.term(core);
    const bool is_op = term.kind == TermKind::op;
    if (is_op && (term.op == ir::Op::reshape || term.op == ir::Op::transpose)) return hashes_[term.parts[0].core];
    const bool is_open = term.kind == TermKind::sum || term.kind == TermKind::product ||
                         (is_op && ir::info(term.op).kind == ir::OpClass::elementwise);
    if (!is_open) return hash_combined(1, core);
    // The order of parts is ignored: moved parts are newer, so they may be sorted differently.
    std::size_t parts = 0;
    for (const ScaledTerm& part : term.parts) parts += hash_combined(term.parts.size(), hashes_[part.core]);
    return hash_combined(
        hash_combined(static_cast<std::size_t>(term.kind) * 64 + static_cast<std::size_t>(term.op), parts), 2);
}

std::size_t LayoutInsensitiveHash::of(TermId core) {
    while (hashes_.size() <= core) hashes_.push_back(compute(static_cast<TermId>(hashes_.size())));
    return hashes_[core];
}

}  // namespace cairn::normal_form
