#include "kernels/cpu/panel/layout.hpp"

#include <algorithm>
#include <cstring>

/// Registers `dequantize_q8_0` of the blocks of a bound matrix: writes the layout panel32_q8.t of the matrix [N, K]
/// that they hold. Codes and scales are those of the blocks, so nothing is lost. It is memory-bound, so it has no code
/// per instruction set.
namespace cairn::kernels::cpu {
namespace {

// A block is the scale of 32 elements of a row, then their codes.
constexpr std::int64_t block_bytes = 34, block_scale_bytes = 2;

// Blocks of one panel: rows of the file's matrix become columns.
void write_panel(const std::byte* blocks, std::int64_t groups, std::int64_t width, std::byte* to) noexcept {
    for (std::int64_t group = 0; group < groups; ++group, to += q8_group * q8_row_bytes) {
        std::byte* const codes = to + q8_scale_bytes;
        if (width < panel_width) std::memset(to, 0, q8_group * q8_row_bytes);
        for (std::int64_t n = 0; n < width; ++n) {
            const std::byte* const block = blocks + (n * groups + group) * block_bytes;
            std::memcpy(to + n * block_scale_bytes, block, block_scale_bytes);
            for (std::int64_t k = 0; k < q8_group; ++k) codes[k * panel_width + n] = block[block_scale_bytes + k];
        }
    }
}

void run(const Args& args, Team& team) {
    const TensorArg& blocks = args.inputs[0];
    const std::int64_t rows = blocks.shape[0], groups = blocks.shape[1], panels = panel_count(rows);
    for (std::int64_t panel = team.next_chunk(); panel < panels; panel = team.next_chunk()) {
        const std::int64_t first = panel * panel_width;
        write_panel(blocks.data + first * groups * block_bytes, groups, std::min(panel_width, rows - first),
                    args.outputs[0].data + panel * groups * q8_group * q8_row_bytes);
    }
}

Refusal accepts(const Problem& problem) {
    if (problem.inputs.size() != 1 || problem.outputs.size() != 1) return "needs one input and one output";
    const TensorDesc &blocks = problem.inputs[0], &out = problem.outputs[0];
    if (blocks.dtype != DType::u8 || blocks.shape.size() != 3 || !(blocks.shape[2] == Dim(block_bytes)))
        return "needs blocks u8[N,B,34]";
    if (out.dtype != DType::f32 || out.shape.size() != 2 || !(out.shape[0] == blocks.shape[0]) ||
        !(out.shape[1] == blocks.shape[1] * q8_group))
        return "needs an output f32[N,32*B]";
    if (!blocks.layout.empty() || !blocks.is_dense()) return "needs dense blocks";
    if (out.layout != q8_layout_transposed) return "writes the layout panel32_q8.t";
    return {};
}

}  // namespace

void add_panel_dequantize(std::vector<Kernel>& kernels) {
    Kernel made;
    made.id = "cpu.panel.dequantize_q8_0.f32@1";
    made.definition = "dequantize_q8_0";
    made.accepts = accepts;
    made.run = run;
    made.output_layout = [](const Problem& problem, int) {
        return problem.outputs[0].shape.size() == 2 ? std::string(q8_layout_transposed) : std::string();
    };
    made.samples = {"dequantize_q8_0 | u8[70,3,34]! -> f32[70,96]@panel32_q8.t",
                    "dequantize_q8_0 | u8[32,1,34]! -> f32[32,32]@panel32_q8.t",
                    "dequantize_q8_0 | u8[1,5,34]! -> f32[1,160]@panel32_q8.t",
                    "dequantize_q8_0 | u8[N,B,34]! -> f32[N,32*B]@panel32_q8.t where N in 0..40, B in 0..3"};
    kernels.push_back(std::move(made));
}

}  // namespace cairn::kernels::cpu
