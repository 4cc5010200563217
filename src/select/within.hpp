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
/// plan their memory. Errors keep within their bounds beside that (trade.hpp). Throws as select() does.
Within select_within(std::span<const Bucket> buckets, std::int64_t limit,
                     const std::function<std::int64_t(const Selections&)>& bytes_of, const Options& options = {});

}  // namespace cairn::inline v0::select
