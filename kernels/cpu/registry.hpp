#pragma once

#include "cairn/kernel.hpp"

#include <vector>

/// The CPU's kernels in order of preference: for each level, highest first, the families that compute most at
/// once first; the reference kernels last. Nothing else registers a kernel.
namespace cairn::kernels::cpu {

struct CpuTable;

/// Appends the kernels of one level, with what its code needs, in order of preference.
void add_level(std::vector<Kernel>& kernels, FeatureSet needs, const CpuTable& table);

std::vector<Kernel> kernel_list();
std::vector<Layout> layout_list();

}  // namespace cairn::kernels::cpu
