#include "cairn/kernels.hpp"

#include "kernels/cpu/list.hpp"
#include "kernels/definitions.hpp"

namespace cairn::inline v0 {

KernelSet cpu_kernels() { return {kernels::definitions(), kernels::cpu::layout_list(), kernels::cpu::kernel_list()}; }

}  // namespace cairn::inline v0
