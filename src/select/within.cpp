#include "select/within.hpp"

#include "select/trade.hpp"

#include <utility>

namespace cairn::inline v0::select {

Within select_within(std::span<const Bucket> buckets, std::int64_t limit,
                     const std::function<std::int64_t(const Selections&)>& bytes_of, const Options& options) {
    const ByteLimit bytes{limit, bytes_of};
    while (true)
        if (std::optional<Traded> traded =
                trade(memo_of(buckets, options.search ? Breadth::cheapest : Breadth::first, options.stop), buckets,
                      options, &bytes))
            return {std::move(traded->selections), traded->least_bytes, traded->is_proved};
}

}  // namespace cairn::inline v0::select
