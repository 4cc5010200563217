#include "fusion/form_features.hpp"

#include "rewrite/normal_form/normal_forms.hpp"

#include <algorithm>
#include <string_view>

namespace cairn::fusion {
namespace {

constexpr unsigned power_bits = 60;
constexpr std::uint32_t max_depth = 3;
static_assert(static_cast<unsigned>(ir::Op::state_write) < power_bits);

std::uint64_t bit(unsigned index) { return std::uint64_t{1} << index; }

std::uint64_t feature_of_power(double exponent) {
    if (exponent == -1) return bit(power_bits);
    if (exponent == -0.5) return bit(power_bits + 1);
    if (exponent == 0.5) return bit(power_bits + 2);
    return 0;
}

// True for ops that are features. Whether movement occurs depends on sizes, whether an iota does on the expression.
bool is_feature(ir::Op op) {
    const ir::OpClass kind = ir::info(op).kind;
    return kind != ir::OpClass::leaf && kind != ir::OpClass::movement;
}

void add_positions(const Normalizer& normalizer, TermId core, std::uint32_t path, std::uint32_t depth,
                   std::vector<TermPosition>& positions) {
    const Term& term = normalizer.term(core);
    if (depth == max_depth || (term.kind != TermKind::sum && term.kind != TermKind::product)) return;
    path = path * 4 + (term.kind == TermKind::sum ? 1 : 2);
    for (const ScaledTerm& part : term.parts) {
        positions.push_back({part.core, path});
        add_positions(normalizer, part.core, path, depth + 1, positions);
    }
}

}  // namespace

std::uint64_t FormFeatures::compute(const Term& term) const {
    std::uint64_t features = 0;
    if (term.kind == TermKind::one || term.kind == TermKind::leaf) return features;
    if (term.kind == TermKind::op) {
        if (is_feature(term.op)) features |= bit(static_cast<unsigned>(term.op));
        if (normal_form::is_opaque(term.op) && ir::info(term.op).kind != ir::OpClass::movement) return features;
    }
    for (const ScaledTerm& part : term.parts) {
        if (term.kind == TermKind::product && normalizer_.term(part.core).kind != TermKind::leaf)
            features |= feature_of_power(part.factor);
        features |= features_[part.core];
    }
    return features;
}

std::uint64_t FormFeatures::of(TermId core) {
    while (features_.size() <= core)
        features_.push_back(compute(normalizer_.term(static_cast<TermId>(features_.size()))));
    return features_[core];
}

std::string feature_name(std::size_t bit) {
    constexpr std::string_view powers[] = {"x^-1", "x^-0.5", "x^0.5"};
    return std::string(powers[bit - power_bits]);
}

std::vector<TermPosition> term_positions(const Normalizer& normalizer, TermId core) {
    std::vector<TermPosition> positions;
    add_positions(normalizer, core, 0, 0, positions);
    return positions;
}

}  // namespace cairn::fusion
