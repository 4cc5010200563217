#include "rewrite/normal_form/identities.hpp"
#include "rewrite/normal_form/normalizer.hpp"

#include <cmath>
#include <utility>

// Ops that carry a coefficient or a sign of their operands to the front.
namespace cairn::normal_form {
namespace {

// The op on c x, as `front` times the op on inside x.
ScaledTerm of_multiple(Normalizer& n, const Operation& of, double front, double inside) {
    const TermId x = of.operands[0].core;
    return {front, n.op_term(of.op, of.dtype, n.term(x).shape, {{inside, x}})};
}

}  // namespace

std::optional<ScaledTerm> absolute_multiple(Normalizer& n, const Operation& abs) {
    return of_multiple(n, abs, std::fabs(abs.operands[0].factor), 1);
}

std::optional<ScaledTerm> odd_function(Normalizer& n, const Operation& of) {
    return of_multiple(n, of, std::copysign(1, of.operands[0].factor), std::fabs(of.operands[0].factor));
}

std::optional<ScaledTerm> even_function(Normalizer& n, const Operation& of) {
    return of_multiple(n, of, 1, std::fabs(of.operands[0].factor));
}

std::optional<ScaledTerm> linear_function(Normalizer& n, const Operation& of) {
    std::vector<ScaledTerm> parts(of.operands.begin(), of.operands.end());
    const double factor = std::exchange(parts[0].factor, 1);
    return ScaledTerm{factor, n.op_term(of.op, of.dtype, of.shape, parts, of.attributes)};
}

std::optional<ScaledTerm> concat_of_multiples(Normalizer& n, const Operation& concat) {
    const double factor = concat.operands[0].factor;
    if (!std::isnormal(factor)) return std::nullopt;
    std::vector<ScaledTerm> parts(concat.operands.begin(), concat.operands.end());
    for (ScaledTerm& part : parts) part.factor /= factor;
    return ScaledTerm{factor, n.op_term(concat.op, concat.dtype, concat.shape, parts, concat.attributes)};
}

std::optional<ScaledTerm> largest_multiple(Normalizer& n, const Operation& max_reduce) {
    const ScaledTerm& x = max_reduce.operands[0];
    const ScaledTerm part{x.factor == 0 ? 0 : std::copysign(1, x.factor), x.core};
    const TermId largest = n.op_term(max_reduce.op, max_reduce.dtype, max_reduce.shape, {part}, max_reduce.attributes);
    return ScaledTerm{x.factor == 0 ? 1 : std::fabs(x.factor), largest};
}

}  // namespace cairn::normal_form
