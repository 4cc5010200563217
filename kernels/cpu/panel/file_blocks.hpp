#pragma once

#include "kernels/cpu/panel/code_format.hpp"

#include <array>
#include <cstdint>
#include <string_view>

/// The blocks of GGUF files, as numbers that layouts of codes hold (include/cairn/dequantize.hpp has their meaning).
namespace cairn::kernels::cpu {

/// Element i is scales[i / elements_of_scale] * codes[i] + offsets[i / elements_of_scale]. Offsets are set for layouts
/// that have them.
struct BlockNumbers {
    std::int8_t codes[256];
    float scales[16], offsets[16];
    int elements_of_scale;
};

/// A type of block, and the layout of codes that holds its elements without loss.
struct BlockType {
    std::string_view definition, layout;
    int bytes, elements;
    void (*read)(const std::uint8_t* block, BlockNumbers& numbers) noexcept;
};

void read_q8_0(const std::uint8_t* block, BlockNumbers& numbers) noexcept;
void read_q4_0(const std::uint8_t* block, BlockNumbers& numbers) noexcept;
void read_q4_1(const std::uint8_t* block, BlockNumbers& numbers) noexcept;
void read_q5_0(const std::uint8_t* block, BlockNumbers& numbers) noexcept;
void read_q5_1(const std::uint8_t* block, BlockNumbers& numbers) noexcept;
void read_q2_k(const std::uint8_t* block, BlockNumbers& numbers) noexcept;
void read_q3_k(const std::uint8_t* block, BlockNumbers& numbers) noexcept;
void read_q4_k(const std::uint8_t* block, BlockNumbers& numbers) noexcept;
void read_q5_k(const std::uint8_t* block, BlockNumbers& numbers) noexcept;
void read_q6_k(const std::uint8_t* block, BlockNumbers& numbers) noexcept;
void read_iq4_nl(const std::uint8_t* block, BlockNumbers& numbers) noexcept;
void read_mxfp4(const std::uint8_t* block, BlockNumbers& numbers) noexcept;

inline constexpr std::array<BlockType, 12> block_types{{{"dequantize_q8_0", "panel32k4_q8.t", 34, 32, read_q8_0},
                                                        {"dequantize_q4_0", "panel32k8_q4.t", 18, 32, read_q4_0},
                                                        {"dequantize_q4_1", "panel32k8_q4a.t", 20, 32, read_q4_1},
                                                        {"dequantize_q5_0", "panel32k4_q8.t", 22, 32, read_q5_0},
                                                        {"dequantize_q5_1", "panel32k4_q8a.t", 24, 32, read_q5_1},
                                                        {"dequantize_q2_k", "panel32k8_q4s.t", 84, 256, read_q2_k},
                                                        {"dequantize_q3_k", "panel32k4_q8s.t", 110, 256, read_q3_k},
                                                        {"dequantize_q4_k", "panel32k8_q4a.t", 144, 256, read_q4_k},
                                                        {"dequantize_q5_k", "panel32k4_q8a.t", 176, 256, read_q5_k},
                                                        {"dequantize_q6_k", "panel32k4_q8s.t", 210, 256, read_q6_k},
                                                        {"dequantize_iq4_nl", "panel32k4_q8.t", 18, 32, read_iq4_nl},
                                                        {"dequantize_mxfp4", "panel32k4_q8s.t", 17, 32, read_mxfp4}}};

}  // namespace cairn::kernels::cpu
