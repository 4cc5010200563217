#pragma once

#include "cairn/kernel.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Expansion of a kernel with knobs into one kernel per setting. The id encodes the setting by the values that are not
/// the first, in the order of the knobs: adding a knob changes no existing id.
///
///     cpu.panel_avx512.linear.f32@1, cpu.panel_avx512.linear.f32@1{depth=512}, ...
namespace cairn::inline v0 {

/// Number of settings of a kernel; `max_settings + 1` if there are more than max_settings.
std::size_t count_settings(const Kernel& kernel) noexcept;

/// The kernel with its functions bound to the first value of each knob.
Kernel at_default_setting(Kernel kernel);

/// The kernel at its first values, followed by one kernel for each other setting, the last knob varying fastest. In
/// those, each knob has one value left.
std::vector<Kernel> all_settings(Kernel kernel);

/// An id without its setting.
std::string_view without_setting(std::string_view id) noexcept;
/// True for an id that names values other than the first.
inline bool has_setting_suffix(std::string_view id) noexcept { return without_setting(id).size() != id.size(); }

/// Explains why no kernel of a set has this id: it is unknown, or has no such knob or value.
///
///     a.b@1{depth=7}   ->   a.b@1 has no setting {depth=7}: ids name, in this order, the values that are not the
///                           first, depth of 1024|512, ahead of 0|4096
std::string explain_unknown_id(std::string_view id, const KernelSet& kernels);

}  // namespace cairn::inline v0
