#pragma once

#include "cairn/models/unet.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// The parts of a U-Net in the order in which they are computed, with the names of their tensors in diffusers. The list
/// of weights and the graph are both made from it.
namespace cairn::inline v0::models {

/// A residual block, with attention after it if that has a name.
struct UnetBlock {
    std::string name;
    std::int64_t in = 0, out = 0;  ///< channels
    std::string attention{};
    bool has_shortcut() const { return in != out; }
};

/// A level on the way down or up, or the middle.
struct UnetLevel {
    std::vector<UnetBlock> blocks;
    std::string resampling{};   ///< the convolution that changes the size after the blocks; empty: none
    std::int64_t channels = 0;  ///< of its last block
};

struct UnetLayout {
    explicit UnetLayout(const UnetConfig& config);

    std::vector<UnetLevel> down;
    UnetLevel middle;
    std::vector<UnetLevel> up;
};

/// Describes why no U-Net can have this configuration; empty if one can.
std::string config_fault(const UnetConfig& config);
/// Throws Error(argument) with config_fault().
void check(const UnetConfig& config);
/// Width of the embedding of times, and groups of the norm of the middle attention; 0: it has no norm.
std::int64_t time_width_of(const UnetConfig& config);
std::int64_t middle_groups_of(const UnetConfig& config);

}  // namespace cairn::inline v0::models
