#pragma once

#include "kernels/cpu/level.hpp"
#include "kernels/cpu/panel/bf16_table.hpp"
#include "kernels/cpu/panel/integer_table.hpp"

#include <vector>

/// The functions of the panel family that are compiled once per level.
// clang-format off
#define CAIRN_PANEL_TABLE(ROW) \
    ROW(panel_linear)           \
    ROW(panel_integer_linear)   \
    ROW(conv2d)
// clang-format on

namespace cairn::kernels::cpu {

struct PanelTable {
    CAIRN_PANEL_TABLE(CAIRN_FIELD)
};

/// Append the kernels of a level in order of preference.
void add_panel_linear(std::vector<Kernel>& kernels, FeatureSet needs, const PanelTable& table);
/// The same with rows of x quantized to 16 bits, for panels of codes; they state an error.
void add_panel_integer_linear(std::vector<Kernel>& kernels, FeatureSet needs, const PanelTable& table);
/// The same for a level of VNNI, with rows of x quantized to 8 bits or to 16.
void add_panel_byte_linear(std::vector<Kernel>& kernels, FeatureSet needs, const IntegerTable& table);
/// The same for a level of AMX, for panels of floats and of codes, with x in bf16 parts: three are exact, fewer state
/// an error.
void add_panel_bf16_linear(std::vector<Kernel>& kernels, FeatureSet needs, const Bf16Table& table);
void add_convolutions(std::vector<Kernel>& kernels, FeatureSet needs, const PanelTable& table);

}  // namespace cairn::kernels::cpu

#if defined(CAIRN_ISA)
namespace CAIRN_LEVEL {
CAIRN_PANEL_TABLE(CAIRN_DECLARE)
}  // namespace CAIRN_LEVEL
#endif
