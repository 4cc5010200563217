#pragma once

#include "graph/ir/graph_data.hpp"

#include <compare>
#include <string>
#include <string_view>

/// What the search is asked for.
namespace cairn::selection {

/// Where a value lies, and how.
struct PhysicalProperties {
    bool in_state = false;         ///< in the memory of the state that it is a version of; else in memory of its own
    std::string_view layout = {};  ///< packed, as kernels name it; empty: row after row
    Device device = Device::cpu;   ///< in the memory of
    friend auto operator<=>(const PhysicalProperties&, const PhysicalProperties&) = default;
};

/// A value, known by its first spelling (rewrite/alternatives/e_classes.hpp), in a place. Where `kept`, not that it is
/// made but that its bytes stay in memory for all runs: a goal beside that of making it, without a kernel, with a
/// price. Where `transferred`, that it is in its place: made there, or copied there from another device; needed of the
/// values that may be copied so.
///
///     %3    %3 in its state    %3 as panel.f32    %3 as panel.f32, kept    %3 on cuda    %3 on cuda, brought
struct Goal {
    ir::NodeId value = 0;
    PhysicalProperties place = {};
    bool kept = false;
    bool transferred = false;
    friend auto operator<=>(const Goal&, const Goal&) = default;
};

std::string to_string(const Goal& goal);

}  // namespace cairn::selection
