#pragma once

#include "graph/ir/graph_data.hpp"

#include <compare>
#include <string>
#include <string_view>

/// The goals of the selection: values with the physical properties in which they are needed.
namespace cairn::selection {

/// Physical properties of a value: memory, layout and device.
struct PhysicalProperties {
    bool in_state = false;         ///< in the memory of the state that it is a version of; otherwise in its own
    std::string_view layout = {};  ///< packed or computed layout, as kernels name it; empty: row-major
    Device device = Device::cpu;   ///< device whose memory holds it
    friend auto operator<=>(const PhysicalProperties&, const PhysicalProperties&) = default;
};

/// A value in physical properties. The value is named by the first expression of its e-class
/// (rewrite/alternatives/e_classes.hpp). With `kept`, the goal is that the value's bytes stay in memory for all runs: a
/// separate goal beside computing it, without a kernel and with a price. With `transferred`, the goal is that the value
/// is available in its place, computed there or copied there from another device; needed for values that may be
/// transferred.
///
///     %3    %3 in its state    %3 as panel.f32    %3 as panel.f32, kept    %3 on cuda    %3 on cuda, transferred
struct Goal {
    ir::NodeId value = 0;
    PhysicalProperties place = {};
    bool kept = false;
    bool transferred = false;
    friend auto operator<=>(const Goal&, const Goal&) = default;
};

std::string to_string(const Goal& goal);

}  // namespace cairn::selection
