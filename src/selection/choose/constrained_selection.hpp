#pragma once

#include "selection/choose/memo.hpp"
#include "selection/choose/select.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

/// Constrained selection: the fastest covers within limits on errors and bytes.
namespace cairn::selection {

/// A limit on bytes. `of` returns the bytes of covers; it is called for few of them, since it may plan their memory.
struct MemoryLimit {
    std::int64_t limit = 0;
    const std::function<std::int64_t(const Selections&)>& of;
    /// The devices whose memory is limited, and by how much a byte there counts.
    std::map<Device, double> weights{{Device::cpu, 1}};
};

/// The result of a constrained selection.
struct ConstrainedSelection {
    std::optional<Selections> selections;  ///< the cheapest covers found to fit; empty if none did
    bool is_proved = false;                ///< no cheaper covers fit (bytes: if none need fewer beside weights)
    std::int64_t least_bytes = std::numeric_limits<std::int64_t>::max();  ///< of the covers evaluated
};

/// Picks the cheapest path of a memo whose errors keep within their budgets and, if there is a byte limit, whose covers
/// keep within it.
///
/// Lagrangian relaxation. Every choice consumes a known amount of each resource: the square of its error for each
/// output it influences, bytes of prepacked weights. Each resource gets a multiplier. If at multiplier p the cheapest
/// path has cost t and consumes b, then every path that consumes at most B costs at least t + p (b - B). The next
/// multiplier is the slope of the line between an infeasible and a feasible path (Everett, "Generalized Lagrange
/// multiplier method", 1963), until no path lies below such a line; several multipliers are searched in turn. Choices
/// with equal gain per unit (equal layers) are taken all or none: multipliers that rise slightly from choice to choice
/// break these ties and take as many as fit. Finally, paths are enumerated in ascending t + p b until the bound
/// excludes the rest or a limit on paths is reached.
///
/// Empty if a chosen kernel cannot prepare: it refuses from then on, and the memo must be built again. Throws as
/// select() does, naming an error budget that no path keeps.
std::optional<ConstrainedSelection> select_constrained(Memo memo, std::span<const Bucket> buckets,
                                                       const Options& options, const MemoryLimit* bytes = nullptr);

/// The combined error of a path's choices.
double total_error(std::span<const int> path, const Memo::ErrorTerms& errors);

}  // namespace cairn::selection
