#pragma once

#include "select/select.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace cairn::inline v0::select {

/// Covers within a limit of bytes.
struct Within {
    std::optional<Selections> selections;  ///< the cheapest that were found to fit; nothing where none were
    std::int64_t least = 0;                ///< bytes of the smallest covers that were looked at
    bool is_proved = false;  ///< no cheaper ones fit, unless they need fewer bytes beside weights than any looked at
};

/// Picks the cheapest covers that need at most `limit` bytes by `bytes_of`, which is asked for few covers only: it may
/// plan their memory.
///
/// What the forms of weights take is known of each path beforehand, so they are given a price. With a price p for a
/// byte the cheapest path has cost t and bytes b; whatever keeps at most B bytes costs at least t + p (b - B). From the
/// line between one path that does not fit and one that does comes the next price (Everett, "Generalized Lagrange
/// multiplier method", 1963), until no path lies below such a line; then paths are pulled in the order of t + p b until
/// that bound excludes the rest, or many have been looked at. Throws as select() does.
Within select_within(std::span<const Bucket> buckets, std::int64_t limit,
                     const std::function<std::int64_t(const Selections&)>& bytes_of, const Options& options = {});

}  // namespace cairn::inline v0::select
