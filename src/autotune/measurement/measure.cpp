#include "autotune/measurement/benchmark.hpp"
#include "cairn/tuning.hpp"
#include "device/context_parts.hpp"
#include "graph/types/knobs.hpp"

namespace cairn::inline v0 {

Timing measure(const Problem& problem, std::string_view kernel_id, const Context& context,
               const MeasureOptions& options) {
    Context::Parts& parts = *context.parts();
    const Kernel* kernel = parts.find(kernel_id);
    if (kernel == nullptr) throw Error(ErrorKind::argument, "measure", explain_unknown_id(kernel_id, parts.kernels));
    return autotune::measure_candidate({&problem, kernel}, parts, options);
}

}  // namespace cairn::inline v0
