#pragma once

#include "rewrite/normal_form/normalizer.hpp"

#include <cstddef>
#include <vector>

namespace cairn::normal_form {

/// Hash of a normal form that ignores reshapes and transposes wherever they are in the form. A value and its moved
/// forms have equal hashes, although movement is pushed down through sums and products, so that a moved form does not
/// contain the form of the value. Coefficients and shapes are ignored.
///
///     transpose(a * c) + transpose(b)   and   a * c + b   have equal hashes
class LayoutInsensitiveHash {
public:
    /// `normalizer` must outlive this object.
    explicit LayoutInsensitiveHash(const Normalizer& normalizer) : normalizer_(normalizer) {}
    std::size_t of(TermId core);

private:
    std::size_t compute(TermId core) const;

    const Normalizer& normalizer_;
    std::vector<std::size_t> hashes_;  // by term; parts precede the terms that contain them
};

}  // namespace cairn::normal_form
