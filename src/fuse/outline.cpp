#include "fuse/outline.hpp"

#include "canon/forms.hpp"

#include <algorithm>
#include <string_view>

namespace cairn::inline v0::fuse {
namespace {

constexpr unsigned power_bits = 60;
constexpr std::uint32_t deepest = 3;
static_assert(static_cast<unsigned>(ir::Op::state_write) < power_bits);

std::uint64_t bit(unsigned index) { return std::uint64_t{1} << index; }

std::uint64_t feature_of_power(double exponent) {
    if (exponent == -1) return bit(power_bits);
    if (exponent == -0.5) return bit(power_bits + 1);
    if (exponent == 0.5) return bit(power_bits + 2);
    return 0;
}

// Movement comes and goes with sizes, counting with spellings.
bool shows(ir::Op op) {
    const ir::OpClass kind = ir::info(op).kind;
    return kind != ir::OpClass::leaf && kind != ir::OpClass::movement;
}

void add_places(const Canon& canon, CanonId core, std::uint32_t path, std::uint32_t depth, std::vector<Place>& places) {
    const Term& term = canon.term(core);
    if (depth == deepest || (term.kind != TermKind::sum && term.kind != TermKind::product)) return;
    path = path * 4 + (term.kind == TermKind::sum ? 1 : 2);
    for (const Scaled& part : term.parts) {
        places.push_back({part.core, path});
        add_places(canon, part.core, path, depth + 1, places);
    }
}

}  // namespace

std::uint64_t Features::made_of(const Term& term) const {
    std::uint64_t features = 0;
    if (term.kind == TermKind::one || term.kind == TermKind::leaf) return features;
    if (term.kind == TermKind::op) {
        if (shows(term.op)) features |= bit(static_cast<unsigned>(term.op));
        if (canon::stays_whole(term.op) && ir::info(term.op).kind != ir::OpClass::movement) return features;
    }
    for (const Scaled& part : term.parts) {
        if (term.kind == TermKind::product && canon_.term(part.core).kind != TermKind::leaf)
            features |= feature_of_power(part.factor);
        features |= features_[part.core];
    }
    return features;
}

std::uint64_t Features::of(CanonId core) {
    while (features_.size() <= core) features_.push_back(made_of(canon_.term(static_cast<CanonId>(features_.size()))));
    return features_[core];
}

std::string feature_name(std::size_t bit) {
    constexpr std::string_view powers[] = {"x^-1", "x^-0.5", "x^0.5"};
    return std::string(powers[bit - power_bits]);
}

std::vector<Place> places_in(const Canon& canon, CanonId core) {
    std::vector<Place> places;
    add_places(canon, core, 0, 0, places);
    return places;
}

}  // namespace cairn::inline v0::fuse
