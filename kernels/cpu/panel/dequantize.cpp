#include "graph/types/half.hpp"
#include "kernels/cpu/panel/file_blocks.hpp"
#include "kernels/cpu/panel/layout.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

/// Registers `dequantize_*` of the blocks of a bound matrix: writes the matrix [N, K] that they hold in a layout of
/// codes, without loss. It is memory-bound, so it has no code per instruction set.
namespace cairn::kernels::cpu {
namespace {

// The codes, scales and offsets of a block in column `column` of a panel; `to`: the first of its groups.
void write_block(const BlockNumbers& block, const CodeFormat& format, int elements, std::int64_t column,
                 std::byte* to) noexcept {
    const std::uint32_t mask = (1U << format.bits) - 1;
    for (int first = 0; first < elements; first += format.group, to += format.group_bytes()) {
        const int scale = first / block.elements_of_scale;
        if (format.scales == DType::f16) {
            const std::uint16_t half = types::f32_to_f16(block.scales[scale]);
            std::memcpy(to + column * 2, &half, sizeof half);
        } else {
            std::memcpy(to + column * 4, &block.scales[scale], sizeof(float));
        }
        if (format.has_offsets)
            std::memcpy(to + format.scale_bytes() + column * 4, &block.offsets[scale], sizeof(float));
        const std::int8_t* code = block.codes + first;
        std::byte* word_at = to + format.head_bytes() + column * 4;
        for (int row = 0; row < format.group / format.in_word(); ++row, word_at += panel_width * 4) {
            std::uint32_t word = 0;
            for (int step = 0; step < format.in_word(); ++step)
                word |= (static_cast<std::uint32_t>(*code++) & mask) << format.first_bit(step);
            std::memcpy(word_at, &word, sizeof word);
        }
    }
}

void run(const Args& args, Team& team) {
    const BlockType& type = *static_cast<const BlockType*>(args.prepared);
    const CodeFormat& format = format_of(type.layout);
    const TensorArg& blocks = args.inputs[0];
    const std::int64_t rows = blocks.shape[0], in_row = blocks.shape[1], panels = panel_count(rows);
    const std::int64_t bytes_of_blocks = type.elements * format.row_bytes();  // of 32 columns
    for (std::int64_t panel = team.next_chunk(); panel < panels; panel = team.next_chunk()) {
        std::byte* const to = args.outputs[0].data + panel * in_row * bytes_of_blocks;
        const std::int64_t first = panel * panel_width, width = std::min(panel_width, rows - first);
        if (width < panel_width) std::memset(to, 0, static_cast<std::size_t>(in_row * bytes_of_blocks));
        for (std::int64_t column = 0; column < width; ++column)
            for (std::int64_t b = 0; b < in_row; ++b) {
                BlockNumbers block;
                type.read(
                    reinterpret_cast<const std::uint8_t*>(blocks.data) + ((first + column) * in_row + b) * type.bytes,
                    block);
                write_block(block, format, type.elements, column, to + b * bytes_of_blocks);
            }
    }
}

Refusal refuse(const Problem& problem, const BlockType& type) {
    if (problem.inputs.size() != 1 || problem.outputs.size() != 1) return "needs one input and one output";
    const TensorDesc &blocks = problem.inputs[0], &out = problem.outputs[0];
    if (blocks.dtype != DType::u8 || blocks.shape.size() != 3 || !(blocks.shape[2] == Dim(type.bytes)))
        return "needs blocks u8[N,B," + std::to_string(type.bytes) + "]";
    if (out.dtype != DType::f32 || out.shape.size() != 2 || !(out.shape[0] == blocks.shape[0]) ||
        !(out.shape[1] == blocks.shape[1] * type.elements))
        return "needs an output f32[N," + std::to_string(type.elements) + "*B]";
    if (!blocks.layout.empty() || !blocks.is_dense()) return "needs dense blocks";
    if (out.layout != type.layout) return "writes the layout " + std::string(type.layout);
    return {};
}

template <std::size_t i>
Kernel kernel() {
    constexpr const BlockType& type = block_types[i];
    Kernel made;
    made.id = "cpu.panel." + std::string(type.definition) + ".f32@1";
    made.definition = type.definition;
    made.accepts = [](const Problem& problem) { return refuse(problem, block_types[i]); };
    made.run = run;
    made.prepare = [](const Problem&, int) -> std::shared_ptr<const void> {
        return std::make_shared<BlockType>(block_types[i]);
    };
    made.output_layout = [](const Problem& problem, int) {
        return problem.outputs[0].shape.size() == 2 ? std::string(block_types[i].layout) : std::string();
    };
    const auto sample = [&](const std::string& rows, const std::string& count, const std::string& columns) {
        return made.definition + " | u8[" + rows + "," + count + "," + std::to_string(type.bytes) + "]! -> f32[" +
               rows + "," + columns + "]@" + std::string(type.layout);
    };
    const std::string elements = std::to_string(type.elements);
    made.samples = {sample("70", "3", std::to_string(3 * type.elements)), sample("32", "1", elements),
                    sample("N", "B", elements + "*B") + " where N in 0..40, B in 0..2"};
    return made;
}

template <std::size_t... i>
void add_all(std::vector<Kernel>& kernels, std::index_sequence<i...>) {
    (kernels.push_back(kernel<i>()), ...);
}

}  // namespace

void add_panel_dequantize(std::vector<Kernel>& kernels) {
    add_all(kernels, std::make_index_sequence<block_types.size()>());
}

}  // namespace cairn::kernels::cpu
