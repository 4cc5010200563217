#pragma once

#include "cairn/timing_db.hpp"
#include "device/context_impl.hpp"

namespace cairn::autotune {

/// Hardware fingerprint: the environment of a time measured now with this context. `hard` holds everything that changes
/// times by more than noise: CPU vendor, family, model, stepping, caches, the features in use, threads, how the CPUs
/// that these may run on share caches and the CPU quota of the control group, library version, build flags of the
/// kernels. Unknown parts are written as unknown. `soft` is recorded for information.
TimingEnvironment environment_of(const Context::Impl& context);

/// The same for a kernel of another device: library version, kind and name of the device (DeviceRates::name) and the
/// build of the program's own kernels. It names neither the CPU nor the index of the device, so that times stay valid
/// with other threads, on another host, and for each of several equal devices. A device that is simulated on the CPU
/// has the CPU's environment beside its name.
TimingEnvironment environment_of(const Context::Impl& context, Device device);

/// The same for a copy between a device and the host: it depends on the host's CPU and memory and on where the device
/// is, but not on threads, features and builds.
TimingEnvironment link_environment_of(const Context::Impl& context, Device device);

/// The environment of the times of whole programs, which may call kernels of all devices.
TimingEnvironment program_environment_of(const Context::Impl& context);

/// The policy of times measured now on a device: with the threads that its kernels run on.
TimingPolicy policy_of(const Context::Impl& context, Device device);

}  // namespace cairn::autotune
