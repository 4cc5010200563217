#pragma once

#include "cairn/timing_db.hpp"
#include "device/context_impl.hpp"

namespace cairn::autotune {

/// What a time measured now with this context belongs to. `hard` names all that changes times by more than noise: CPU
/// vendor, family, model, stepping, caches, the features in use, threads, how the CPUs that they may run on share
/// caches and what a control group leaves of them, library version, what the kernels were built with; unknown parts are
/// written as unknown. `soft` is kept for the record.
TimingEnvironment environment_of(const Context::Impl& context);

/// The same of a time of another device's kernel: that device beside this CPU.
TimingEnvironment environment_of(const Context::Impl& context, Device device);

}  // namespace cairn::autotune
