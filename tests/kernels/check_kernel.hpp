#pragma once

#include "cairn/kernel.hpp"

#include <cstddef>
#include <string>
#include <vector>

/// Tries a kernel against its definition, knowing nothing else about it.
namespace cairn::test {

struct Report {
    std::vector<std::string> faults;  ///< the first few, each with the Problem's text
    int runs = 0;                     ///< runs compared with the oracle
    int variations = 0;
    int in_place = 0;  ///< of which with an output in an input's memory
};

/// Each sample and its variations, at several sizes, with 1, 2 and 3 threads, each twice with other poison around and
/// in the memory:
/// * results within tolerance (tolerance.hpp), the same bits each time at one number of threads, and at every number
/// with `same_for_any_team`;
/// * nothing written outside the outputs and the workspace, nothing read that shows;
/// * with an output in an input's memory, where the kernel says so: the same bits again;
/// * no heap call in run(), a cost that is a finite number, a workspace that is enough.
/// Of the sizes of a variation each `every`-th is tried.
Report check_kernel(const Kernel& kernel, const std::vector<Definition>& definitions, bool same_for_any_team,
                    std::size_t every = 1);

}  // namespace cairn::test
