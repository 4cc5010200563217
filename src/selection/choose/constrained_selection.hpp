#pragma once

#include "selection/choose/memo.hpp"
#include "selection/choose/select.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

/// Time against what there may only be so much of: errors, bytes.
namespace cairn::selection {

/// A limit on bytes: those of covers are told by `of`, which is asked for few of them; it may plan their memory.
struct MemoryLimit {
    std::int64_t limit = 0;
    const std::function<std::int64_t(const Selections&)>& of;
};

/// What came of a trade.
struct ConstrainedSelection {
    std::optional<Selections> selections;  ///< the cheapest that were found to fit; nothing where none were
    bool is_proved = false;                ///< no cheaper ones fit (bytes: unless they need fewer beside weights)
    std::int64_t least_bytes = std::numeric_limits<std::int64_t>::max();  ///< of the covers looked at
};

/// Picks the cheapest path of a memo whose errors keep within their bounds and whose covers keep within the bytes,
/// where there is a limit.
///
/// Every choice takes a known amount of each measure: of the error of an output, of bytes that forms of weights take.
/// So a measure is given a price. With a price p for it the cheapest path has cost t and takes b; whatever takes at
/// most B costs at least t + p (b - B). From the line between one path that does not fit and one that does comes the
/// next price (Everett, "Generalized Lagrange multiplier method", 1963), until no path lies below such a line; several
/// measures have their prices found in turn. Where many choices are worth the same price (layers that are alike), all
/// or none of them are taken: prices that rise a little from choice to choice then take as many as fit. At last paths
/// are pulled in the order of t + p b until that bound excludes the rest, or many have been looked at.
///
/// Nothing comes where a kernel that was chosen cannot prepare: it refuses from then on, and the memo is to be made
/// anew. Throws as select() does, naming a bound on errors that nothing keeps.
std::optional<ConstrainedSelection> select_constrained(Memo memo, std::span<const Bucket> buckets,
                                                       const Options& options, const MemoryLimit* bytes = nullptr);

/// What a path's choices add up to.
double total_error(std::span<const int> path, const Memo::ErrorTerms& errors);

}  // namespace cairn::selection
