#pragma once

#include <functional>
#include <span>
#include <vector>

namespace cairn::autotune {

/// Read bandwidth, in bytes a second, of a working set of `bytes` that is read repeatedly.
struct WorkingSetBandwidth {
    double bytes, rate;
};

/// Effective cache size from the rates of growing working sets: the largest one that is read markedly faster than the
/// longest, which is read at memory bandwidth. A virtual machine may report a cache of which it has only a small part,
/// so the reported size counts only if the rates show no shared cache; it is then limited to half of the longest
/// working set.
///
///     {1: 60, 2: 30, 4: 29, 8: 12, 16: 11}  ->  4
double effective_cache_bytes(std::span<const WorkingSetBandwidth> rates, double reported_bytes);

/// Read rates of working sets that double from `first` bytes until the rate is within a twentieth of the two before it,
/// which is the memory plateau, or the next would exceed `most` bytes, or `has_time` is false. `rate_of` measures one,
/// in bytes a second.
///
///     a cache of 64 MB at 220 GB/s before memory at 37, first = 64 MB: reads 64, 128, 256, 512 MB and 1 GB
std::vector<WorkingSetBandwidth> sweep_to_memory_plateau(double first, double most,
                                                         const std::function<double(double bytes)>& rate_of,
                                                         const std::function<bool()>& has_time = nullptr);

}  // namespace cairn::autotune
