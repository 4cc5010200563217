#include "fuse/positions.hpp"

namespace cairn::inline v0::fuse {

using canon::Scaled, canon::Term, canon::TermKind;

std::optional<double> Comparison::distance_to(const Comparison& other) const {
    if (positions != other.positions) return std::nullopt;
    const Dim distance = other.offset - offset;
    return distance.is_constant() ? std::optional(static_cast<double>(distance.constant())) : std::nullopt;
}

std::optional<Comparison> comparison_of(const canon::Canon& canon, canon::CanonId core) {
    const Term& term = canon.term(core);
    if (term.kind != TermKind::op || term.op != ir::Op::le || term.parts.size() != 2) return std::nullopt;
    const Scaled &low = term.parts[0], &high = term.parts[1];
    const Term &zero = canon.term(low.core), &sum = canon.term(high.core);
    if (zero.kind != TermKind::one || low.factor != 0 || sum.dtype != DType::i64) return std::nullopt;
    if (sum.kind != TermKind::sum) return Comparison{{high}, 0};
    if (high.factor != 1) return std::nullopt;
    return Comparison{{sum.parts.begin(), sum.parts.end()}, sum.attributes->dims("offset")[0]};
}

}  // namespace cairn::inline v0::fuse
