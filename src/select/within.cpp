#include "select/within.hpp"

#include <optional>
#include <utility>

namespace cairn::inline v0::select {

Traded select_within(std::span<const Bucket> buckets, std::int64_t limit,
                     const std::function<std::int64_t(const Selections&)>& bytes_of, const Options& options) {
    const ByteLimit bytes{limit, bytes_of};
    while (true)
        if (std::optional<Traded> traded = trade(memo_of(buckets, options.search ? Breadth::cheapest : Breadth::first,
                                                         options.stop, options.seconds_per_kept_byte),
                                                 buckets, options, &bytes))
            return *std::move(traded);
}

}  // namespace cairn::inline v0::select
