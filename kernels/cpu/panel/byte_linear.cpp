#include "kernels/cpu/panel/byte_tile.hpp"
#include "kernels/cpu/panel/integer_table.hpp"
#include "kernels/cpu/panel/quantized_rows.hpp"

/// Products of panels of codes with rows of x in bytes.
namespace CAIRN_LEVEL {

/// The bytes of a vector of integers in the order of codes in their words (CodeFormat::first_bit).
template <int bits>
CAIRN_INLINE U8Lanes in_word_order(I32 integers) {
    const U8Lanes bytes = low_bytes(integers);
    return shuffle<lanes>(bytes, bytes, [](int i) {
        if constexpr (bits == 8) {
            constexpr int order[] = {0, 2, 1, 3};
            return i / 4 * 4 + order[i % 4];
        }
        constexpr int order[] = {0, 4, 1, 5, 2, 6, 3, 7};
        return i / 8 * 8 + order[i % 8];
    });
}

template <int layout, int digits>
void quantize_to_bytes(const float* x, QuantizedGroup& to) noexcept {
    constexpr int bits = code_layouts[layout].format.bits, most = digits == 1 ? 127 : 127 * 256 + 127;
    quantize_group<most>(x, to, [&](int v, I32 integers) {
        const auto keep = [&](int digit, I32 part) {
            const U8Lanes bytes = in_word_order<bits>(part);
            std::memcpy(to.bytes + digit * 32 + v * lanes, &bytes, sizeof bytes);
        };
        if constexpr (digits == 2) keep(0, (integers + 128) >> 8);
        keep(digits - 1, integers);
    });
}

template <int digits>
void run_bytes(const Args& args, Team& team) {
    const PanelPlan& plan = *static_cast<const PanelPlan*>(args.prepared);
    with_code<most_bits_of_integers>(plan.code_layout, [&]<int layout>(Code<layout>) {
        run_integer_plan<ByteCode<layout, digits>>(args, team, quantize_to_bytes<layout, digits>);
    });
}

void panel_i8_linear(const Args& args, Team& team) { run_bytes<1>(args, team); }
void panel_i16_linear(const Args& args, Team& team) { run_bytes<2>(args, team); }

}  // namespace CAIRN_LEVEL
