#pragma once

#include "cairn/timing_db.hpp"
#include "device/context_impl.hpp"

namespace cairn::autotune {

/// Hardware fingerprint: the environment of a time measured now with this context. `hard` holds everything that changes
/// times by more than noise: CPU vendor, family, model, stepping, caches, the features in use, threads, how the CPUs
/// that these may run on share caches and the CPU quota of the control group, library version, build flags of the
/// kernels. Unknown parts are written as unknown. `soft` is recorded for information.
TimingEnvironment environment_of(const Context::Impl& context);

/// The same for a kernel of another device: that device beside this CPU.
TimingEnvironment environment_of(const Context::Impl& context, Device device);

}  // namespace cairn::autotune
