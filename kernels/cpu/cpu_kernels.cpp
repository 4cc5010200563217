#include "cairn/kernels.hpp"

#include "kernels/cpu/build_info.hpp"
#include "kernels/cpu/registry.hpp"
#include "kernels/definitions.hpp"

namespace cairn::inline v0 {

KernelSet cpu_kernels() {
    return {kernels::definitions(),
            kernels::cpu::layout_list(),
            kernels::cpu::kernel_list(),
            {},
            kernels::cpu::build_info()};
}

}  // namespace cairn::inline v0
