#include "kernels/cpu/panel/packing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

/// Registers `pack` of a matrix of floats to codes with scales in bf16: in each column 32 consecutive steps of k have a
/// scale, the largest magnitude divided by the largest code and rounded up. What it writes differs from the matrix, so
/// these kernels state an error. It is memory-bound, so it has no code per instruction set.
namespace cairn::kernels::cpu {
namespace {

/// A layout, and the largest error of the 32 numbers of a group by their norm: half a step of each, of which all but
/// one may be far smaller than the largest.
struct QuantizedLayout {
    std::string_view name;
    double error;
};
constexpr QuantizedLayout quantized_layouts[] = {{"panel32k2_q16b", 0x1p-14}, {"panel32k4_q8b", 0x1p-6}};

/// 32 steps of k of 32 columns.
struct Square {
    float rows[32][panel_width];
};

struct QuantizePlan {
    bool is_transposed;  ///< the source is the transposed matrix
};

/// Codes of 32 columns with their scales. A column with elements that are not finite becomes NaN.
template <int bits>
struct GroupCodes {
    std::uint16_t scales[panel_width];
    std::int32_t codes[32][panel_width];

    explicit GroupCodes(const Square& square) noexcept {
        constexpr float most = (1 << (bits - 1)) - 1, smallest_scale = 0x1p-126F;
        // Added to a number, rounds it to an integer in the low bits.
        constexpr float rounding = 0x1.8p23F;
        float largest[panel_width] = {}, special[panel_width] = {}, reciprocals[panel_width];
        for (const auto& row : square.rows)
            for (int n = 0; n < panel_width; ++n) {
                const float magnitude = std::fabs(row[n]);
                largest[n] = magnitude < largest[n] ? largest[n] : magnitude;
                special[n] += row[n] - row[n];  // NaN if the element is not finite
            }
        for (int n = 0; n < panel_width; ++n) {
            const bool is_finite = special[n] == 0;
            const float least = largest[n] == 0 ? 0 : std::max(largest[n] / most, smallest_scale);
            const std::uint32_t up = (std::bit_cast<std::uint32_t>(least) + 0xffffU) & 0xffff0000U;
            scales[n] = is_finite ? static_cast<std::uint16_t>(up >> 16) : 0x7fc0;
            reciprocals[n] = !is_finite || up == 0 ? 0 : 1 / std::bit_cast<float>(up);
        }
        for (int k = 0; k < 32; ++k)
            for (int n = 0; n < panel_width; ++n) {
                const float scaled = reciprocals[n] == 0 ? 0 : square.rows[k][n] * reciprocals[n];
                codes[k][n] = std::bit_cast<std::int32_t>(scaled + rounding) - std::bit_cast<std::int32_t>(rounding);
            }
        for (int n = 0; n < panel_width; ++n)
            if (largest[n] >= 0x1p127F && reciprocals[n] != 0) keep_finite(n);
    }

private:
    /// A code rounded up times a scale rounded up may be larger than the largest float.
    void keep_finite(int n) noexcept {
        const float scale = std::bit_cast<float>(static_cast<std::uint32_t>(scales[n]) << 16);
        const auto most = static_cast<std::int32_t>(std::numeric_limits<float>::max() / scale);
        for (auto& row : codes) row[n] = std::clamp(row[n], -most, most);
    }
};

template <std::size_t layout>
void write_group(const Square& square, std::byte* to) noexcept {
    constexpr CodeFormat format = code_layouts[layout].format;
    constexpr std::uint32_t mask = (1U << format.bits) - 1;
    const GroupCodes<format.bits> group(square);
    std::memcpy(to, group.scales, sizeof group.scales);
    to += format.head_bytes();
    for (int k = 0; k < 32; k += format.in_word(), to += panel_width * 4) {
        std::uint32_t words[panel_width] = {};
        for (int step = 0; step < format.in_word(); ++step)
            for (int n = 0; n < panel_width; ++n)
                words[n] |= (static_cast<std::uint32_t>(group.codes[k + step][n]) & mask) << format.first_bit(step);
        std::memcpy(to, words, sizeof words);
    }
}

template <std::size_t layout>
void quantize(const Args& args, Team& team) {
    constexpr CodeFormat format = code_layouts[layout].format;
    static_assert(format.group == 32 && format.is_signed && !format.has_offsets && format.scales == DType::bf16);
    const auto from =
        pack_source<float>(args.inputs[0], static_cast<const QuantizePlan*>(args.prepared)->is_transposed);
    const std::int64_t panels = panel_count(from.columns);
    for (std::int64_t panel = team.next_chunk(); panel < panels; panel = team.next_chunk()) {
        const std::int64_t first = panel * panel_width, width = std::min(panel_width, from.columns - first);
        std::byte* to = args.outputs[0].data + panel * from.depth * format.row_bytes();
        for (std::int64_t k = 0; k < from.depth; k += format.group, to += format.group_bytes()) {
            const float* const begin = from.data + k * from.depth_stride + first * from.column_stride;
            Square square;
            if (width < panel_width) square = {};
            if (from.column_stride == 1) {
                for (std::int64_t i = 0; i < 32; ++i) std::copy_n(begin + i * from.depth_stride, width, square.rows[i]);
            } else {
                for (std::int64_t n = 0; n < width; ++n)
                    for (std::int64_t i = 0; i < 32; ++i)
                        square.rows[i][n] = begin[i * from.depth_stride + n * from.column_stride];
            }
            write_group<layout>(square, to);
        }
    }
}

Refusal refuse(const Problem& problem, const CodeLayout& layout) {
    if (Refusal no = refuse_packing(problem, layout.name, layout.transposed); !no.empty()) return no;
    const TensorDesc &in = problem.inputs[0], &out = problem.outputs[0];
    if (in.dtype != DType::f32) return "needs f32";
    if (!may_be_codes(in.dtype, in.shape[out.layout == layout.transposed ? 1 : 0]))
        return "needs a depth that is a multiple of 32";
    return {};
}

template <std::size_t number>
void add(std::vector<Kernel>& kernels) {
    constexpr QuantizedLayout row = quantized_layouts[number];
    constexpr auto layout = static_cast<std::size_t>(code_layout_index(row.name, false));
    const std::string name(row.name), transposed(code_layouts[layout].transposed);
    Kernel made;
    made.id = "cpu.panel.pack_" + name.substr(name.find('_') + 1) + ".f32@1";
    made.definition = "pack";
    made.accepts = [](const Problem& problem) { return refuse(problem, code_layouts[layout]); };
    made.run = quantize<layout>;
    made.prepare = [](const Problem& problem, int) -> std::shared_ptr<const void> {
        return std::make_shared<QuantizePlan>(
            QuantizePlan{problem.outputs[0].layout == code_layouts[layout].transposed});
    };
    made.error = [](const Problem&) { return quantized_layouts[number].error; };
    const auto sample = [](const std::string& matrix, const std::string& strides, const std::string& to) {
        return "pack | " + matrix + strides + " -> " + matrix + "@" + to;
    };
    made.samples = {sample("f32[64,100]", "", name),      sample("f32[96,33]", ":(1,96)", name),
                    sample("f32[70,64]", "", transposed), sample("f32[40,32]", ":(3,200)", transposed),
                    sample("f32[0,9]", "", name),         sample("f32[32,1]", "", name)};
    kernels.push_back(std::move(made));
}

}  // namespace

void add_panel_quantize(std::vector<Kernel>& kernels) {
    add<0>(kernels);
    add<1>(kernels);
}

}  // namespace cairn::kernels::cpu
