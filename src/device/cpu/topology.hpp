#pragma once

#include <span>
#include <string>

namespace cairn::device {

/// How CPUs lie to each other, whatever their numbers are: in brackets those that share a last-level cache, in
/// parentheses those of them that share a second-level cache, one number for each core: how many of its threads are
/// among them. Slower kinds of cores are marked. Equal neighbours are counted.
///
///     8 cores of two threads, all of them          ->   [8x(2)]
///     one thread of two cores of different dies    ->   2x[(1)]
///
/// CPUs that the system says nothing of share nothing. `root` stands before every path that is read.
std::string topology_of(std::span<const int> cpus, const std::string& root = {});

}  // namespace cairn::device
