#pragma once

#include "canon/canon.hpp"

#include <cstddef>
#include <vector>

namespace cairn::inline v0::canon {

/// What is left of a form when it is read without reshapes and transposes, wherever the normal form has put them:
/// equal for a value and its moved forms, though movement goes inward through sums and products and leaves no form of
/// the whole value under it. Numbers and shapes do not count.
///
///     transpose(a * c) + transpose(b)   and   a * c + b   have one stem
class Stems {
public:
    /// `canon` must outlive the Stems.
    explicit Stems(const Canon& canon) : canon_(canon) {}
    std::size_t of(CanonId core);

private:
    std::size_t made_of(CanonId core) const;

    const Canon& canon_;
    std::vector<std::size_t> known_;  // parts are older than what is made of them
};

}  // namespace cairn::inline v0::canon
