#pragma once

#include "fusion/match.hpp"

#include <array>
#include <span>
#include <string_view>
#include <vector>

/// Matches that read an image in place of windows of it.
namespace cairn::fusion {

/// The last attributes of a definition on images: its windows, and the value outside the image.
inline constexpr std::array<std::string_view, 5> image_attributes{"kernel", "padding", "stride", "dilation", "value"};

/// For each match whose first operand is windows [B,C,P,K] or [B,C,P,Q,J,K] of an image, padded or not: another match,
/// if there is a definition that computes from the image what the match, or the first step of its body, computes from
/// windows (Definition::windowed_definition).
///
///     %1 = pad %0   %2 = window %1   %3 = window %2   %4 = max_reduce %3
///     max_reduce (%3) -> (%4)     and     image_max kernel=(3,3) padding=(1,0,1,0) .. (%0) -> (%4) over %1, %2, %3
std::vector<Match> with_image_matches(const ir::GraphData& graph, const alternatives::EClasses& classes,
                                      std::span<const Definition* const> windowed_definitions,
                                      const std::vector<Match>& matches);

}  // namespace cairn::fusion
