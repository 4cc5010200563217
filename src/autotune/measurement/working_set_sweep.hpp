#pragma once

#include <functional>
#include <span>
#include <vector>

namespace cairn::autotune {

/// Bytes a second at which a stretch of so many bytes is read again and again.
struct WorkingSetBandwidth {
    double bytes, rate;
};

/// How many bytes caches hold, by rates at growing sizes: the largest stretch that is read markedly faster than the
/// longest one, which memory is read at. A virtual machine may be told of a cache that it has a small part of, so what
/// is told counts only where all rates are alike and no cache shows: half of the longest stretch then, if the cache is
/// said to be larger.
///
///     {1: 60, 2: 30, 4: 29, 8: 12, 16: 11}  ->  4
double effective_cache_bytes(std::span<const WorkingSetBandwidth> rates, double told_bytes);

/// Read rates of working sets that double from `first` bytes on until a rate is within a twentieth of both before it,
/// which is the plateau of memory, or the next would exceed `most` bytes. `rate_of` measures one, in bytes a second.
///
///     a cache of 64 MB at 220 GB/s before memory at 37, first = 64 MB: reads 64, 128, 256, 512 MB and 1 GB
std::vector<WorkingSetBandwidth> sweep_to_memory_plateau(double first, double most,
                                                         const std::function<double(double bytes)>& rate_of);

}  // namespace cairn::autotune
