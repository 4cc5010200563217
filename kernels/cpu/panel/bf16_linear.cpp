#include "kernels/cpu/panel/bf16_table.hpp"
#include "kernels/cpu/panel/bf16_tile.hpp"

/// Products of panels of floats and of codes by tile products of bf16 parts.
namespace CAIRN_LEVEL {
namespace {

/// The tile registers of this thread while it computes.
struct ConfiguredTiles {
    ConfiguredTiles() noexcept {
        TileShapes shapes;
        for (int tile = 0; tile < 8; ++tile) shapes.row_bytes[tile] = 64, shapes.rows[tile] = tile_rows;
        configure_tiles(shapes);
    }
    ~ConfiguredTiles() { release_tiles(); }
};

/// Splits the rows of x, a share by each member; returns them and the memory behind.
template <int parts>
Bf16Rows split_rows(const TensorArg& x, std::byte*& memory, Team& team) noexcept {
    const UniformRows rows = rows_of(x);
    const std::int64_t count = rows.count, depth = x.shape[x.rank - 1];
    Bf16Rows to{memory, nullptr, count, tiles_of(depth)};
    memory += count * to.tiles_in_depth * parts * 64;
    to.scales = reinterpret_cast<float*>(memory);
    memory += (count * std::int64_t{sizeof(float)} + 63) / 64 * 64;
    const auto* const elements = reinterpret_cast<const float*>(x.data);
    const std::int64_t first = count * team.rank() / team.size(), end = count * (team.rank() + 1) / team.size();
    for (std::int64_t row = first; row < end; ++row) split_row<parts>(elements + row * rows.stride, depth, row, to);
    return to;
}

/// Runs a plan with panels of `Stored`.
template <int x_parts, typename Stored>
void run_parts(const Args& args, const PanelPlan& plan, Team& team) {
    using Weight = Bf16Parts<Stored, x_parts>;
    const TensorArg& x = args.inputs[0];
    Args rest = args;
    const Bf16Rows rows = split_rows<x_parts>(x, rest.workspace, team);
    const std::int64_t depth = std::min(x.shape[x.rank - 1], plan.depth), bytes = plan.split_bytes;
    Bf16Operands<Weight> operands{rows, {rest.workspace + bytes * team.rank(), depth}};
    rest.workspace += bytes * team.size();
    const ConfiguredTiles tiles;
    team.barrier();
    run_panel_plan<Weight>(rest, team, &operands);
}

template <int x_parts>
void run_parts(const Args& args, Team& team) {
    const PanelPlan& plan = *static_cast<const PanelPlan*>(args.prepared);
    if (plan.code_layout >= 0)
        return with_code(plan.code_layout, [&](auto code) { run_parts<x_parts, decltype(code)>(args, plan, team); });
    with_element(plan.stored, [&](auto element) {
        using Stored = decltype(element);
        rows_of(args.inputs[0]).count <= few_rows<Stored> ? run_panel_plan<Stored>(args, team)
                                                          : run_parts<x_parts, Stored>(args, plan, team);
    });
}

}  // namespace

void panel_bf16x6_linear(const Args& args, Team& team) { run_parts<3>(args, team); }
void panel_bf16x3_linear(const Args& args, Team& team) { run_parts<2>(args, team); }
void panel_bf16_linear(const Args& args, Team& team) { run_parts<1>(args, team); }

}  // namespace CAIRN_LEVEL
