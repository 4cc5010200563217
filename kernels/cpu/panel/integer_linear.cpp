#include "kernels/cpu/panel/integer_block_tile.hpp"
#include "kernels/cpu/panel/quantized_rows.hpp"

/// Products of panels of codes with rows of x in 16 bits.
namespace CAIRN_LEVEL {

/// The tiles of a block read an unpacked part.
template <int layout>
PanelPart<UnpackedCode<layout>> in_tiles(const PanelProduct<IntegerCode<layout>>& product,
                                         const PanelPart<IntegerCode<layout>>& part) noexcept {
    auto* const unpacked = reinterpret_cast<UnpackedCode<layout>*>(product.widened);
    unpack_codes(part.panel, part.depth, unpacked);
    constexpr std::int64_t in_number = sizeof(UnpackedCode<layout>) / sizeof(IntegerCode<layout>);
    return {unpacked, part.first, part.depth, reinterpret_cast<const UnpackedCode<layout>*>(part.next),
            (part.step + in_number - 1) / in_number};
}

void panel_integer_linear(const Args& args, Team& team) {
    with_code<most_bits_of_integers>(
        static_cast<const PanelPlan*>(args.prepared)->code_layout,
        [&]<int layout>(Code<layout>) { run_integer_plan<IntegerCode<layout>>(args, team, quantize_to_i16); });
}

}  // namespace CAIRN_LEVEL
