#include "kernels/cpu/panel/code_tile.hpp"
#include "kernels/cpu/panel/product.hpp"

/// Products with panels of codes.
namespace CAIRN_LEVEL {

/// The tiles of a block read a widened part.
template <int layout>
PanelPart<float> in_tiles(const PanelProduct<Code<layout>>& product, const PanelPart<Code<layout>>& part) noexcept {
    widen_codes(part.panel, part.depth, product.widened);
    constexpr std::int64_t in_float = sizeof(float) / sizeof(Code<layout>);
    return {product.widened, part.first, part.depth, reinterpret_cast<const float*>(part.next),
            (part.step + in_float - 1) / in_float};
}

void panel_code_linear(const Args& args, Team& team) {
    const PanelPlan& plan = *static_cast<const PanelPlan*>(args.prepared);
    with_code(plan.code_layout, [&](auto code) { run_panel_plan<decltype(code)>(args, team); });
}

}  // namespace CAIRN_LEVEL
