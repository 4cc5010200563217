#include "autotune/measurement/benchmark.hpp"
#include "cairn/tuning.hpp"
#include "device/context_impl.hpp"
#include "graph/types/knobs.hpp"

namespace cairn::inline v0 {

Timing measure(const Problem& problem, std::string_view kernel_id, const Context& context,
               const MeasureOptions& options) {
    Context::Impl& impl = *context.impl();
    const Kernel* kernel = impl.find(kernel_id);
    if (kernel == nullptr) throw Error(ErrorKind::argument, "measure", explain_unknown_id(kernel_id, impl.kernels));
    return autotune::measure_candidate({&problem, kernel}, impl, options);
}

}  // namespace cairn::inline v0
