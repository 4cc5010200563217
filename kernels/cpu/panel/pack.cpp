#include "kernels/cpu/panel/packing.hpp"

#include <algorithm>
#include <memory>

/// Registers `pack`: copies a plain matrix of any strides into panels of its dtype. It is memory-bound, so it has no
/// code per instruction set.
namespace cairn::kernels::cpu {
namespace {

struct PackPlan {
    bool is_transposed;  ///< the source is the transposed matrix: its rows become the panels' columns
    bool is_half;        ///< elements have 16 bits
};

// Packs one panel. The source is read along its contiguous axis, in squares small enough for L1.
template <typename Element>
void pack_panel(const PackSource<Element>& from, std::int64_t panel, Element* to) noexcept {
    const std::int64_t first = panel * panel_width, width = std::min(panel_width, from.columns - first);
    constexpr std::int64_t square = 32;
    const Element* begin = from.data + first * from.column_stride;
    for (std::int64_t k0 = 0; k0 < from.depth; k0 += square) {
        const std::int64_t k1 = std::min(from.depth, k0 + square);
        if (from.column_stride == 1) {
            for (std::int64_t k = k0; k < k1; ++k)
                std::copy(begin + k * from.depth_stride, begin + k * from.depth_stride + width, to + k * panel_width);
        } else {
            for (std::int64_t n = 0; n < width; ++n)
                for (std::int64_t k = k0; k < k1; ++k)
                    to[k * panel_width + n] = begin[n * from.column_stride + k * from.depth_stride];
        }
        if (width == panel_width) continue;
        for (std::int64_t k = k0; k < k1; ++k)
            std::fill(to + k * panel_width + width, to + (k + 1) * panel_width, Element{});
    }
}

template <typename Element>
void pack(const Args& args, bool is_transposed, Team& team) noexcept {
    const PackSource<Element> from = pack_source<Element>(args.inputs[0], is_transposed);
    auto* to = reinterpret_cast<Element*>(args.outputs[0].data);
    const std::int64_t panels = panel_count(from.columns);
    for (std::int64_t panel = team.next_chunk(); panel < panels; panel = team.next_chunk())
        pack_panel(from, panel, to + panel * from.depth * panel_width);
}

void run(const Args& args, Team& team) {
    const PackPlan& plan = *static_cast<const PackPlan*>(args.prepared);
    if (plan.is_half) return pack<std::uint16_t>(args, plan.is_transposed, team);
    pack<float>(args, plan.is_transposed, team);
}

Refusal accepts(const Problem& problem) {
    if (Refusal no = refuse_packing(problem, panel_layout, panel_layout_transposed); !no.empty()) return no;
    if (!is_panel_dtype(problem.inputs[0].dtype)) return "needs f32, f16 or bf16";
    return {};
}

}  // namespace

void add_panel_pack(std::vector<Kernel>& kernels) {
    Kernel made;
    made.id = "cpu.panel.pack.f32@1";
    made.definition = "pack";
    made.accepts = accepts;
    made.run = run;
    made.prepare = [](const Problem& problem, int) -> std::shared_ptr<const void> {
        return std::make_shared<PackPlan>(
            PackPlan{problem.outputs[0].layout == panel_layout_transposed, problem.inputs[0].dtype != DType::f32});
    };
    made.samples = {"pack | f32[70,100] -> f32[70,100]@panel32",   "pack | f32[33,64]:(1,33) -> f32[33,64]@panel32",
                    "pack | f32[100,70] -> f32[100,70]@panel32.t", "pack | f32[40,9]:(3,200) -> f32[40,9]@panel32.t",
                    "pack | bf16[70,100] -> bf16[70,100]@panel32", "pack | f16[33,64]:(1,33) -> f16[33,64]@panel32",
                    "pack | f16[100,70] -> f16[100,70]@panel32.t", "pack | bf16[40,9]:(3,200) -> bf16[40,9]@panel32.t",
                    "pack | bf16[0,9] -> bf16[0,9]@panel32",       "pack | f16[1,1] -> f16[1,1]@panel32.t"};
    kernels.push_back(std::move(made));
}

}  // namespace cairn::kernels::cpu
