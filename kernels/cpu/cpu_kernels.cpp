#include "cairn/kernels.hpp"

#include "kernels/cpu/build.hpp"
#include "kernels/cpu/list.hpp"
#include "kernels/definitions.hpp"

namespace cairn::inline v0 {

KernelSet cpu_kernels() {
    return {kernels::definitions(),
            kernels::cpu::layout_list(),
            kernels::cpu::kernel_list(),
            {},
            kernels::cpu::build_text()};
}

}  // namespace cairn::inline v0
