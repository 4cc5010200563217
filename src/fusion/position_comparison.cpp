#include "fusion/position_comparison.hpp"

namespace cairn::fusion {

using normal_form::ScaledTerm, normal_form::Term, normal_form::TermKind;

std::optional<double> PositionComparison::distance_to(const PositionComparison& other) const {
    if (positions != other.positions) return std::nullopt;
    const Dim distance = other.offset - offset;
    return distance.is_constant() ? std::optional(static_cast<double>(distance.constant())) : std::nullopt;
}

std::optional<PositionComparison> comparison_of(const normal_form::Normalizer& normalizer, normal_form::TermId core) {
    const Term& term = normalizer.term(core);
    if (term.kind != TermKind::op || term.op != ir::Op::le || term.parts.size() != 2) return std::nullopt;
    const ScaledTerm &low = term.parts[0], &high = term.parts[1];
    const Term &zero = normalizer.term(low.core), &sum = normalizer.term(high.core);
    if (zero.kind != TermKind::one || low.factor != 0 || sum.dtype != DType::i64) return std::nullopt;
    if (sum.kind != TermKind::sum) return PositionComparison{{high}, 0};
    if (high.factor != 1) return std::nullopt;
    return PositionComparison{{sum.parts.begin(), sum.parts.end()}, sum.attributes->dims("offset")[0]};
}

}  // namespace cairn::fusion
