#pragma once

#include <span>

namespace cairn::inline v0::timing {

/// Bytes a second at which a stretch of so many bytes is read again and again.
struct ReadRate {
    double bytes, rate;
};

/// How many bytes caches hold, by rates at growing sizes: the largest stretch that is read markedly faster than the
/// longest one, which memory is read at. A virtual machine may be told of a cache that it has a small part of, so what
/// is told counts only where all rates are alike and no cache shows: half of the longest stretch then, if the cache is
/// said to be larger.
///
///     {1: 60, 2: 30, 4: 29, 8: 12, 16: 11}  ->  4
double cached_bytes(std::span<const ReadRate> rates, double told_bytes);

}  // namespace cairn::inline v0::timing
