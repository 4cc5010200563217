#include "kernels/cpu/panel/integer_block_tile.hpp"
#include "kernels/cpu/panel/product.hpp"
#include "kernels/cpu/panel/quantize_group.hpp"

#include <algorithm>

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

/// Quantizes the rows of x, a share by each member. False for all of them if a group cannot be quantized.
bool quantize_together(const TensorArg& x, QuantizedGroup* to, Team& team) noexcept {
    const UniformRows rows = rows_of(x);
    const std::int64_t groups = x.shape[x.rank - 1] / 32, count = rows.count * groups;
    const auto* const elements = reinterpret_cast<const float*>(x.data);
    for (std::int64_t i = count * team.rank() / team.size(), end = count * (team.rank() + 1) / team.size(); i < end;
         ++i)
        if (!quantize_group(elements + i / groups * rows.stride + i % groups * 32, to[i])) to[i].scale = -1;
    team.barrier();
    return std::all_of(to, to + count, [](const QuantizedGroup& group) { return group.scale >= 0; });
}

/// Rows that cannot be quantized are multiplied as floats.
void panel_integer_linear(const Args& args, Team& team) {
    const PanelPlan& plan = *static_cast<const PanelPlan*>(args.prepared);
    const TensorArg& x = args.inputs[0];
    auto* const quantized = reinterpret_cast<QuantizedGroup*>(args.workspace);
    const std::int64_t bytes = rows_of(x).count * x.shape[x.rank - 1] / 32 * std::int64_t{sizeof(QuantizedGroup)};
    Args rest = args;
    rest.workspace = args.workspace + (bytes + 63) / 64 * 64;
    if (!quantize_together(x, quantized, team)) return panel_code_linear(rest, team);
    with_code(plan.code_layout,
              [&]<int layout>(Code<layout>) { run_panel_plan<IntegerCode<layout>>(rest, team, quantized); });
}

}  // namespace CAIRN_LEVEL
