#include "kernels/cpu/panel/layout.hpp"

#include <memory>

/// `gather` of rows from a packed table [V, D]: row v is one column of a panel. Of a table in codes the
/// elements are as the codes' format says.
namespace cairn::kernels::cpu {
namespace {

struct PanelGatherPlan {
    bool has_wide_indices;  ///< i64
    bool is_half;           ///< elements have 16 bits
    int code_layout;        ///< of a table in codes, the index in code_layouts; -1: of elements
};

std::int64_t index_at(const TensorArg& indices, std::int64_t position, bool is_wide) noexcept {
    std::int64_t offset = 0;
    for (int axis = indices.rank - 1; axis >= 0; --axis) {
        offset += position % indices.shape[axis] * indices.strides[axis];
        position /= indices.shape[axis];
    }
    return is_wide ? reinterpret_cast<const std::int64_t*>(indices.data)[offset]
                   : reinterpret_cast<const std::int32_t*>(indices.data)[offset];
}

// The output has the axes of the indices, then D.
std::int64_t row_offset(const TensorArg& out, std::int64_t row) noexcept {
    std::int64_t offset = 0;
    for (int axis = out.rank - 2; axis >= 0; --axis) {
        offset += row % out.shape[axis] * out.strides[axis];
        row /= out.shape[axis];
    }
    return offset;
}

// Column `column` of a panel of elements of `depth` steps of k.
template <typename Element>
void copy_column(const std::byte* panel, std::int64_t column, std::int64_t depth, Element* to,
                 std::int64_t stride) noexcept {
    const Element* from = reinterpret_cast<const Element*>(panel) + column;
    for (std::int64_t k = 0; k < depth; ++k) to[k * stride] = from[k * panel_width];
}

// The same of a panel of codes.
void widen_column(const CodeFormat& format, const std::byte* panel, std::int64_t column, std::int64_t depth, float* to,
                  std::int64_t stride) noexcept {
    for (std::int64_t first = 0; first < depth; first += format.group, panel += format.group_bytes()) {
        const CodeColumn elements(format, panel, column);
        for (std::int64_t k = 0; k < format.group; ++k) to[(first + k) * stride] = elements.element(k);
    }
}

// `row_bytes`: of a panel for each step of k. `copy_row(panel, column, depth, to, stride)` copies a row of the table.
template <typename Element, typename F>
void gather(const Args& args, bool is_wide, std::int64_t row_bytes, F copy_row, Team& team) {
    const TensorArg &table = args.inputs[0], &indices = args.inputs[1], &out = args.outputs[0];
    auto* to = reinterpret_cast<Element*>(out.data);
    const std::int64_t depth = out.shape[out.rank - 1], stride = out.strides[out.rank - 1];
    std::int64_t rows = 1;
    for (int axis = 0; axis < indices.rank; ++axis) rows *= indices.shape[axis];
    for (std::int64_t row = team.next_chunk(); row < rows; row = team.next_chunk()) {
        const std::int64_t index = index_at(indices, row, is_wide);
        if (index < 0 || index >= table.shape[0])
            return team.fail("an index is out of range of the indexed axis", 1, row, index);
        copy_row(table.data + index / panel_width * depth * row_bytes, index % panel_width, depth,
                 to + row_offset(out, row), stride);
    }
}

void run(const Args& args, Team& team) {
    const PanelGatherPlan& plan = *static_cast<const PanelGatherPlan*>(args.prepared);
    const auto of_elements = [&](auto element) {
        using Element = decltype(element);
        constexpr std::int64_t row_bytes = panel_width * static_cast<std::int64_t>(sizeof(Element));
        gather<Element>(args, plan.has_wide_indices, row_bytes, copy_column<Element>, team);
    };
    if (plan.code_layout >= 0) {
        const CodeFormat& format = code_layouts[static_cast<std::size_t>(plan.code_layout)].format;
        const auto widen = [&](const std::byte* panel, std::int64_t column, std::int64_t depth, float* to,
                               std::int64_t stride) { widen_column(format, panel, column, depth, to, stride); };
        return gather<float>(args, plan.has_wide_indices, format.row_bytes(), widen, team);
    }
    plan.is_half ? of_elements(std::uint16_t()) : of_elements(float());
}

Refusal accepts(const Problem& problem) {
    if (problem.inputs.size() != 2 || problem.outputs.size() != 1) return "needs a table, indices and one output";
    const TensorDesc &table = problem.inputs[0], &indices = problem.inputs[1], &out = problem.outputs[0];
    const bool is_in_codes = code_layout_index(table.layout, true) >= 0;
    if (!is_in_codes && table.layout != panel_layout_transposed)
        return "needs a table in the layout panel32.t or one of codes";
    if (!is_panel_dtype(table.dtype)) return "needs f32, f16 or bf16";
    if (out.dtype != table.dtype) return "keeps the dtype";
    if (table.shape.size() != 2) return "needs a table [V, D]";
    if (is_in_codes && !may_be_codes(table.dtype, table.shape[1]))
        return "needs codes of an f32 table with a multiple of 32 columns";
    if (!indices.layout.empty() || !out.layout.empty()) return "needs plain indices and output";
    if (indices.dtype != DType::i32 && indices.dtype != DType::i64) return "needs indices i32 or i64";
    const std::int64_t axis = problem.attributes.integer("axis");
    if (axis != 0 && axis != -2) return "gathers rows only";
    return {};
}

}  // namespace

void add_panel_gather(std::vector<Kernel>& kernels) {
    Kernel made;
    made.id = "cpu.panel.gather.f32@1";
    made.definition = "gather";
    made.accepts = accepts;
    made.run = run;
    made.packed_inputs = {{0, std::string(panel_layout_transposed)}};
    for (const CodeLayout& layout : code_layouts) made.packed_inputs.push_back({0, std::string(layout.transposed)});
    made.prepare = [](const Problem& problem, int) -> std::shared_ptr<const void> {
        return std::make_shared<PanelGatherPlan>(PanelGatherPlan{problem.inputs[1].dtype == DType::i64,
                                                                 problem.inputs[0].dtype != DType::f32,
                                                                 code_layout_index(problem.inputs[0].layout, true)});
    };
    // Elements of a row are in different cache lines, so each costs a line.
    made.cost = [](const Problem& problem) {
        return Cost{0,
                    (64.0 + static_cast<double>(size_of(problem.outputs[0].dtype))) *
                        static_cast<double>(element_count(problem.outputs[0].shape).constant()),
                    0.25};
    };
    made.samples = {"gather axis=(-2) | f32[100,40]@panel32.t! i32[B,T] -> f32[B,T,40] where B in 1..2, T in 0..50",
                    "gather axis=(-2) | f32[33,7]@panel32.t! i64[9]:(2) -> f32[9,7]:(8,1)",
                    "gather axis=(-2) | bf16[100,40]@panel32.t! i32[B,T] -> bf16[B,T,40] where B in 1..2, T in 0..50",
                    "gather axis=(-2) | f16[33,7]@panel32.t! i64[9]:(2) -> f16[9,7]:(8,1)"};
    for (const CodeLayout& layout : code_layouts) {
        const std::string table = "]@" + std::string(layout.transposed) + "!";
        made.samples.push_back("gather axis=(-2) | f32[70,96" + table +
                               " i32[B,T] -> f32[B,T,96] where B in 1..2, T in 0..50");
        made.samples.push_back("gather axis=(-2) | f32[33,32" + table + " i64[9]:(2) -> f32[9,32]:(33,1)");
    }
    kernels.push_back(std::move(made));
}

}  // namespace cairn::kernels::cpu
