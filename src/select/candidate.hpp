#pragma once

#include "fuse/tiles.hpp"
#include "select/asked.hpp"
#include "select/cost.hpp"
#include "types/short_list.hpp"

#include <cstdint>
#include <string_view>

/// A kernel that computes a tile, and from what.
namespace cairn::inline v0::select {

/// How an operand of a candidate is wanted.
enum class Form : std::uint8_t {
    seen,    ///< where it lies, through its view
    dense,   ///< copied to memory of its own
    packed,  ///< in a packed layout
};

/// One operand: what has to be there, and how the kernel sees it.
struct Source {
    ir::NodeId node = 0;  ///< a spelling of the tile's input
    Form form = Form::seen;
    std::string_view layout = {};  ///< of a packed operand, as the kernel names it
    Device device = Device::cpu;   ///< in the memory of
    bool brought = false;          ///< it may have been copied there
    friend bool operator==(const Source&, const Source&) = default;
};

/// Those of a candidate: mostly few.
using Sources = types::ShortList<Source, 3>;

/// A kernel for a tile.
struct Candidate {
    int tile = -1;  ///< index among the tiles; -1 for a copy or a packing
    const Kernel* kernel = nullptr;
    AskedProblem problem;  ///< valid as long as the Candidates it is of
    Sources sources;       ///< of each problem input
    fuse::Nodes outputs;   ///< values that it makes, dense, each by its first spelling
    Estimate estimate;
    Device device = Device::cpu;  ///< in the memory of which its outputs lie
    double rounding = 0;          ///< the part of the error that is none of the kernel's
};

}  // namespace cairn::inline v0::select
