#pragma once

#include "cairn/timing_db.hpp"
#include "device/context_parts.hpp"

namespace cairn::inline v0::timing {

/// What a time measured now with this context belongs to. `hard` names all that changes times by more than noise: CPU
/// vendor, family, model, stepping, caches, the level in use, threads and CPUs they may run on, library version;
/// unknown parts are written as unknown. `soft` is kept for the record.
TimingEnvironment environment_of(const Context::Parts& context);

}  // namespace cairn::inline v0::timing
