#pragma once

#include "cairn/kernel.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// A kernel with knobs is a kernel for each of its settings. The id says which, by the values that are not the first,
/// in the order of the knobs: a further knob changes no id that was there before.
///
///     cpu.panel_avx512.linear.f32@1, cpu.panel_avx512.linear.f32@1{depth=512}, ...
namespace cairn::inline v0 {

/// How many settings a kernel has; `max_settings + 1` where they are too many to count.
std::size_t count_settings(const Kernel& kernel) noexcept;

/// The kernel itself, its functions bound to the first value of each knob.
Kernel at_default_setting(Kernel kernel);

/// The kernel at its first values, and behind it one for each other setting, the last knob changing first. These have
/// one value left of each knob.
std::vector<Kernel> all_settings(Kernel kernel);

/// An id without its setting.
std::string_view without_setting(std::string_view id) noexcept;
/// True of an id that names other values than the first.
inline bool has_setting_suffix(std::string_view id) noexcept { return without_setting(id).size() != id.size(); }

/// Why no kernel of a set has this id: it is unknown, or has no such knob or value.
///
///     a.b@1{depth=7}   ->   a.b@1 has no setting {depth=7}: ids name, in this order, the values that are not the
///                           first, depth of 1024|512, ahead of 0|4096
std::string explain_unknown_id(std::string_view id, const KernelSet& kernels);

}  // namespace cairn::inline v0
