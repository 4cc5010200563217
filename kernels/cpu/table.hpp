#pragma once

#include "cairn/kernel.hpp"

#include <vector>

/// What the code compiled for one instruction set offers. A function compiled per level is reached through the level's
/// table and by no other name, so code of a higher level can never be called, or linked, by accident.
///
/// A new function of a level takes three lines: a row here, `void name(const Args&, Team&)` in namespace
/// cairn::kernels::cpu::<level> (written `namespace CAIRN_LEVEL`) in a file of isa_sources (CMakeLists.txt), and its
/// use, as `table.name`, in the baseline-compiled file that makes the Kernel. Rules for the code behind it: it gets all
/// it needs to know about the Problem from Args (a prepared struct is plain data, defined in a small header); it never
/// throws and never allocates.
// clang-format off
#define CAIRN_CPU_TABLE(ROW) \
    ROW(eigen_matmul)        \
    ROW(panel_linear)        \
    ROW(elementwise)         \
    ROW(softmax)             \
    ROW(log_softmax)         \
    ROW(layer_norm)          \
    ROW(rms_norm)            \
    ROW(add_layer_norm)      \
    ROW(add_rms_norm)        \
    ROW(sum_axis)            \
    ROW(mean_axis)           \
    ROW(max_axis)            \
    ROW(argmax_last)         \
    ROW(attention)
// clang-format on

namespace cairn::inline v0::kernels::cpu {

using Run = void (*)(const Args& args, Team& team);

struct CpuTable {
#define CAIRN_FIELD(name) Run name;
    CAIRN_CPU_TABLE(CAIRN_FIELD)
#undef CAIRN_FIELD
};

/// The families: each appends its Kernels for one level, in order of preference.
void add_eigen_matmul(std::vector<Kernel>& kernels, Isa isa, const CpuTable& table);
void add_panel_linear(std::vector<Kernel>& kernels, Isa isa, const CpuTable& table);
void add_elementwise(std::vector<Kernel>& kernels, Isa isa, const CpuTable& table);
void add_row_kernels(std::vector<Kernel>& kernels, Isa isa, const CpuTable& table);
void add_attention(std::vector<Kernel>& kernels, Isa isa, const CpuTable& table);
/// Movement and gathering, whose code is the same at all levels.
void add_copies(std::vector<Kernel>& kernels);

}  // namespace cairn::inline v0::kernels::cpu

extern const cairn::kernels::cpu::CpuTable cairn_table_baseline;
extern const cairn::kernels::cpu::CpuTable cairn_table_avx2;
extern const cairn::kernels::cpu::CpuTable cairn_table_avx512;

/// In files compiled per level: the level's namespace. CAIRN_ISA is the level as a bare word.
#if defined(CAIRN_ISA)
#define CAIRN_LEVEL cairn::inline v0::kernels::cpu::CAIRN_ISA
namespace CAIRN_LEVEL {
#define CAIRN_DECLARE(name) void name(const Args& args, Team& team);
CAIRN_CPU_TABLE(CAIRN_DECLARE)
#undef CAIRN_DECLARE
}  // namespace CAIRN_LEVEL
#endif
