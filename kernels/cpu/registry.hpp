#pragma once

#include "cairn/kernel.hpp"

#include <vector>

/// The CPU kernels in order of preference: levels from highest to lowest; within a level, the families that fuse most
/// first; the reference kernels last. No other file registers CPU kernels.
namespace cairn::kernels::cpu {

struct CpuTable;

/// Appends the kernels of one level in order of preference. `needs`: the CPU features of its code.
void add_level(std::vector<Kernel>& kernels, FeatureSet needs, const CpuTable& table);

std::vector<Kernel> kernel_list();
std::vector<Layout> layout_list();

}  // namespace cairn::kernels::cpu
