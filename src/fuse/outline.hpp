#pragma once

#include "canon/forms.hpp"
#include "canon/stems.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// What can be seen of a form without descending into the ops that stay whole: enough to tell most nodes that no
/// pattern can match, and most values that are no operand.
///
///     gamma * (x - m) * (v + eps)^-0.5 + beta    features: sum (of m and v) and ^-0.5; places: gamma in a product in a
///     sum, beta in a sum
namespace cairn::inline v0::fuse {

using canon::Canon, canon::CanonId, canon::Forms, canon::Scaled, canon::Stems, canon::Term, canon::TermKind;

/// A bit for each op that computes and for each power -1, -0.5 and 0.5 of something computed. What is put in place of a
/// leaf takes none away. Made once for each core, parts first: they are older than what is made of them.
class Features {
public:
    explicit Features(const Canon& canon) : canon_(canon) {}
    std::uint64_t of(CanonId core);

private:
    std::uint64_t made_of(const Term& term) const;

    const Canon& canon_;
    std::vector<std::uint64_t> features_;
};

/// What a bit behind those of the ops stands for: `x^-0.5`.
std::string feature_name(std::size_t bit);

/// Where a core stands: the sums and products that hold it, outermost first.
struct Place {
    CanonId core;
    std::uint32_t path;
    friend bool operator==(const Place&, const Place&) = default;
};
std::vector<Place> places_in(const Canon& canon, CanonId core);

}  // namespace cairn::inline v0::fuse
