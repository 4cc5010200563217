#include "kernels/cpu/gemm/im2col_conv.hpp"
#include "kernels/cpu/gemm/macro_kernel.hpp"
#include "kernels/cpu/gemm/table.hpp"

/// Products and convolutions of integers, which wrap. Modulo 2^8 the higher bits do not matter, so i8 and u8 are
/// computed in 16-bit lanes.
namespace CAIRN_LEVEL {

void gemm_bytes(const Args& args, Team& team) { multiply_matrices<std::uint16_t>(args, team); }
void gemm_i32(const Args& args, Team& team) { multiply_matrices<std::uint32_t>(args, team); }
void gemm_i64(const Args& args, Team& team) { multiply_matrices<std::uint64_t>(args, team); }
void windows_bytes(const Args& args, Team& team) { im2col_convolution<std::uint16_t>(args, team); }
void windows_i32(const Args& args, Team& team) { im2col_convolution<std::uint32_t>(args, team); }
void windows_i64(const Args& args, Team& team) { im2col_convolution<std::uint64_t>(args, team); }

}  // namespace CAIRN_LEVEL
