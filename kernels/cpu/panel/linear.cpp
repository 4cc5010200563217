#include "kernels/cpu/panel/product.hpp"
#include "kernels/cpu/panel/table.hpp"

/// Products with panels of floats, and of codes.
namespace CAIRN_LEVEL {

void panel_linear(const Args& args, Team& team) {
    const PanelPlan& plan = *static_cast<const PanelPlan*>(args.prepared);
    if (plan.code_layout >= 0) return panel_code_linear(args, team);
    with_element(plan.stored, [&](auto element) { run_panel_plan<decltype(element)>(args, team); });
}

}  // namespace CAIRN_LEVEL
