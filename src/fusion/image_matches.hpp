#pragma once

#include "fusion/match.hpp"

#include <array>
#include <span>
#include <string_view>
#include <vector>

/// Tiles that read an image where others read windows of it.
namespace cairn::fusion {

/// What attributes of a definition of images end in: which windows, and what lies outside.
inline constexpr std::array<std::string_view, 5> image_attributes{"kernel", "padding", "stride", "dilation", "value"};

/// For each tile whose first operand is windows [B,C,P,K] or [B,C,P,Q,J,K] of an image, padded or not, and for each
/// definition that computes of the image what the tile's, or what its body begins with, computes of windows
/// (Definition::of_windows), one more.
///
///     %1 = pad %0   %2 = window %1   %3 = window %2   %4 = max_reduce %3
///     max_reduce (%3) -> (%4)     and     image_max kernel=(3,3) padding=(1,0,1,0) .. (%0) -> (%4) over %1, %2, %3
std::vector<Match> with_image_matches(const ir::GraphData& graph, const alternatives::EClasses& classes,
                                      std::span<const Definition* const> of_windows, const std::vector<Match>& matches);

}  // namespace cairn::fusion
