#pragma once

#include <span>
#include <string>

namespace cairn::device {

/// Describes how CPUs share cores and caches, independent of their numbers. Brackets enclose CPUs that share a
/// last-level cache, parentheses those of them that share a second-level cache; in these is one number for each core:
/// how many of its threads are in the list. Slower kinds of cores are marked. Equal neighbours are counted.
///
///     8 cores of two threads, all of them          ->   [8x(2)]
///     one thread of two cores of different dies    ->   2x[(1)]
///
/// CPUs that the system does not describe share nothing. `root` is prepended to every path that is read.
std::string topology_of(std::span<const int> cpus, const std::string& root = {});

}  // namespace cairn::device
