#include "kernels/cpu/table.hpp"

/// The table of the level `wide`: the SIMD sources compiled with CAIRN_LANES=16 and no instruction set flag. It tests
/// the code paths of AVX-512 where there is no such CPU.
namespace wide = cairn::kernels::cpu::wide;

extern const cairn::kernels::cpu::CpuTable cairn_table_wide;
constinit const cairn::kernels::cpu::CpuTable cairn_table_wide = [] {
    cairn::kernels::cpu::CpuTable table{};
    table.elementwise = wide::elementwise;
    table.softmax = wide::softmax;
    table.log_softmax = wide::log_softmax;
    table.layer_norm = wide::layer_norm;
    table.rms_norm = wide::rms_norm;
    table.add_layer_norm = wide::add_layer_norm;
    table.add_rms_norm = wide::add_rms_norm;
    table.sum_axis = wide::sum_axis;
    table.mean_axis = wide::mean_axis;
    table.max_axis = wide::max_axis;
    table.argmax_last = wide::argmax_last;
    table.attention = wide::attention;
    return table;
}();
