#pragma once

#include "rewrite/normal_form/normalizer.hpp"

#include <cstddef>
#include <vector>

namespace cairn::normal_form {

/// What is left of a form when it is read without reshapes and transposes, wherever the normal form has put them:
/// equal for a value and its moved forms, though movement goes inward through sums and products and leaves no form of
/// the whole value under it. Numbers and shapes do not count.
///
///     transpose(a * c) + transpose(b)   and   a * c + b   have one stem
class LayoutInsensitiveHash {
public:
    /// `normalizer` must outlive the Stems.
    explicit LayoutInsensitiveHash(const Normalizer& normalizer) : normalizer_(normalizer) {}
    std::size_t of(TermId core);

private:
    std::size_t made_of(TermId core) const;

    const Normalizer& normalizer_;
    std::vector<std::size_t> known_;  // parts are older than what is made of them
};

}  // namespace cairn::normal_form
