#include "selection/choose/memory_constrained_selection.hpp"

#include <optional>
#include <utility>

namespace cairn::selection {

ConstrainedSelection select_within_memory(std::span<const Bucket> buckets, const MemoryLimit& limit,
                                          const Options& options) {
    while (true)
        if (std::optional<ConstrainedSelection> traded =
                select_constrained(memo_of(buckets, options.search ? Breadth::cheapest : Breadth::first, options.stop,
                                           options.seconds_per_kept_byte),
                                   buckets, options, &limit))
            return *std::move(traded);
}

}  // namespace cairn::selection
