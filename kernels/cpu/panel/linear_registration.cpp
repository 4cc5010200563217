#include "graph/types/isa_levels.hpp"
#include "graph/types/knobs.hpp"
#include "kernels/cpu/matmul_operands.hpp"
#include "kernels/cpu/panel/guided_schedule.hpp"
#include "kernels/cpu/panel/layout.hpp"
#include "kernels/cpu/panel/linear_plan.hpp"
#include "kernels/cpu/panel/linear_samples.hpp"
#include "kernels/cpu/panel/table.hpp"
#include "kernels/cpu/simd/elementwise/block_program_compiler.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

/// Registers f32 products with a packed weight stored in f32, f16, bf16 or codes: `matmul`, `fused`, gated
/// products, and the argmax over each row.
namespace cairn::kernels::cpu {
namespace {

constexpr ProductForm forms[] = {
    {"linear_swiglu", "silu", 2, Gating::weight},
    {"linear_geglu", "gelu", 2, Gating::weight},
    {"linear_geglu_tanh", "gelu_tanh", 2, Gating::weight},
    {"linear_halves_swiglu", "silu", 1, Gating::half},
    {"linear_halves_geglu", "gelu", 1, Gating::half},
    {"linear_halves_geglu_tanh", "gelu_tanh", 1, Gating::half},
    {"linear_argmax", nullptr, 1, Gating::none, true},
    {"linear_low_rank", nullptr, 1, Gating::none, false, true},
    {"fused", nullptr, 0, Gating::none},
    {"matmul", nullptr, 0, Gating::none},
};

const ProductForm* form_of(const Problem& problem) {
    for (const ProductForm& form : forms)
        if (problem.definition == form.definition) return &form;
    return nullptr;
}

std::size_t weights_of(const ProductForm& form) { return form.gating == Gating::weight ? 2 : 1; }
/// Index of the first bias: it follows x, the weights and the operands of a low rank.
std::size_t first_bias(const ProductForm& form) { return 1 + weights_of(form) + (form.has_low_rank ? 2 : 0); }

int biases_in(const Problem& problem, const ProductForm& form) {
    return static_cast<int>(problem.inputs.size()) - static_cast<int>(first_bias(form));
}

bool is_last_half(const Problem& problem) { return problem.attributes.integer("gate") != 0; }

// The default of each knob was best for most products on one machine; other machines have other caches and memory
// latencies. `spread` exists for levels whose tiles have more rows than L1 may have ways: rows of x that map to one
// cache set are copied with a padded stride. Some caches have enough ways without it. `ahead` is of products with few
// rows.
constexpr std::int64_t default_ahead = 96;
std::vector<Knob> knobs(bool handles_few_rows, bool pads_rows) {
    std::vector<Knob> all = {{"depth", {1024, 512}}};
    if (handles_few_rows) all.push_back({"ahead", {default_ahead, 64}});
    if (pads_rows) all.push_back({"spread", {1, 0}});
    return all;
}

Dim rows_of_x(const Problem& problem) {
    Dim rows = 1;
    for (std::size_t axis = 0; axis + 1 < problem.inputs[0].shape.size(); ++axis)
        rows = rows * problem.inputs[0].shape[axis];
    return rows;
}

/// True if rows of x are a multiple of 4 KiB apart.
bool rows_conflict_in_cache(const TensorDesc& x) {
    for (std::size_t i = x.shape.size() - 1; i-- > 0;)
        if (!(x.shape[i] == Dim(1)))
            return x.shape.back().is_constant() && x.strides[i].is_constant() && x.strides[i].constant() > 0 &&
                   x.strides[i].constant() % 1024 == 0;
    return false;
}

/// activation(gate sums + bias) * (other sums + bias), with inputs in this order; the second bias is optional.
BodySteps gated_body(const char* activation, int biases) {
    BodySteps source{std::vector<DType>(static_cast<std::size_t>(2 + biases), DType::f32), {}, {}, {}};
    int values = 2 + biases;
    const auto add = [&](const char* op, std::vector<int> operands) {
        source.one.push_back({op, std::move(operands), DType::f32, 0});
        return values++;
    };
    int gate = 0, passed = 1;
    if (biases > 0) gate = add("add", {gate, 2});
    if (biases > 1) passed = add("add", {passed, 3});
    source.results = {add("mul", {add(activation, {gate}), passed})};
    source.steps = source.one;
    return source;
}

/// sum + bias.
BodySteps biased_body() {
    BodySteps source{{DType::f32, DType::f32}, {}, {2}, {{"add", {0, 1}, DType::f32, 0}}};
    source.steps = source.one;
    return source;
}

/// The output tensor, or the whole product of which outputs hold some columns or the argmax.
TensorDesc whole_of(const Problem& problem) {
    if (problem.definition == "linear_argmax") {
        Shape shape = problem.inputs[0].shape;
        if (!shape.empty() && !problem.inputs[1].shape.empty()) shape.back() = problem.inputs[1].shape.back();
        return TensorDesc::dense(DType::f32, std::move(shape));
    }
    if (problem.attributes.has("columns"))
        if (auto parts = parts_of_fused(problem)) return std::move(parts->product.outputs[0]);
    return problem.outputs[0];
}

/// Compiles the epilogue. A bias of a gate by halves is split into one bias for each half.
Refusal body_of(const Problem& problem, const ProductForm& form, BlockProgram& body) {
    const DType out = problem.outputs[0].dtype;
    if (form.gating != Gating::none) {
        const int biases = biases_in(problem, form) * (form.gating == Gating::half ? 2 : 1);
        return compile_block_program(gated_body(form.activation, biases), {out}, body);
    }
    if (form.has_low_rank && biases_in(problem, form) > 0) return compile_block_program(biased_body(), {out}, body);
    if (problem.definition == "matmul" || form.has_low_rank) {
        body = identity_block_program(DType::f32);
        return {};
    }
    const auto parts = parts_of_fused(problem);
    if (!parts || parts->product.definition != "matmul") return "needs a body that begins with a product";
    std::vector<DType> outputs;
    for (const TensorDesc& output : problem.outputs) outputs.push_back(output.dtype);
    return compile_block_program(body_steps(parts->epilogue), outputs, body);
}

Refusal refuse_weight(const TensorDesc& weight, const TensorDesc& x, const TensorDesc& out, const ProductForm& form) {
    if (!is_panel_dtype(weight.dtype)) return "needs a weight of f32, f16 or bf16";
    const bool is_in_codes = is_code_layout(weight.layout);
    if (!is_in_codes && weight.layout != panel_layout) return "needs a weight in the layout panel32 or one of codes";
    if (is_in_codes && (x.shape.empty() || !may_be_codes(weight.dtype, x.shape.back())))
        return "needs codes of an f32 weight with a multiple of 32 rows";
    const std::size_t rank = weight.shape.size();
    const bool by_halves = form.gating == Gating::half;
    if (rank < 2 || x.shape.empty() || out.shape.empty() || !(weight.shape[rank - 2] == x.shape.back()) ||
        !(weight.shape[rank - 1] == out.shape.back() * (by_halves ? 2 : 1)))
        return by_halves ? "needs a weight [K, 2 N]" : "needs a weight [K, N]";
    if (by_halves && !(out.shape.back().is_constant() && out.shape.back().constant() % panel_width == 0))
        return "needs halves of a multiple of 32 columns";
    return {};
}

/// The largest rank of an adapter: a row of x @ a stays in L1.
constexpr std::int64_t most_low_rank = 512;

/// Checks the narrow operands a [K, R] and b [R, N] of a low rank.
Refusal refuse_low_rank(const Problem& problem) {
    const TensorDesc &w = problem.inputs[1], &a = problem.inputs[2], &b = problem.inputs[3];
    if (!problem.attributes.has("scale")) return "needs the attribute 'scale'";
    if (a.dtype != DType::f32 || b.dtype != DType::f32) return "needs narrow operands of f32";
    if (w.shape.size() != 2 || a.shape.size() != 2 || b.shape.size() != 2 || !(a.shape[0] == w.shape[0]) ||
        !(b.shape[1] == w.shape[1]) || !(a.shape[1] == b.shape[0]))
        return "needs narrow operands [K, R] and [R, N]";
    const Dim& rank = a.shape[1];
    if (!rank.is_constant() || rank.constant() < 1 || rank.constant() > most_low_rank ||
        !provably_le(rank * 2, a.shape[0]))
        return "needs a constant rank of 1 to 512 and to half of the depth";
    if (!has_unit_stride(a, 0) && !has_unit_stride(a, 1)) return "needs contiguous rows or columns of a";
    if (!has_unit_stride(b, 1)) return "needs contiguous rows of b";
    return {};
}

/// Checks outputs that hold columns from a given one on.
Refusal refuse_columns(const Problem& problem, const TensorDesc& whole) {
    const std::size_t leading = whole.shape.size() - 1;
    const std::vector<Dim>& first = problem.attributes.dims("columns");
    for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
        const TensorDesc& out = problem.outputs[i];
        if (!out.layout.empty()) return "writes plain memory only";
        if (out.shape.size() <= leading ||
            !std::equal(out.shape.begin(), out.shape.begin() + static_cast<std::ptrdiff_t>(leading),
                        whole.shape.begin()))
            return "needs the leading axes of x in each output";
        Dim count = 1;
        for (std::size_t axis = leading; axis < out.shape.size(); ++axis) count = count * out.shape[axis];
        if (!first[i].is_constant() || !count.is_constant() || first[i].constant() < 0 ||
            !provably_le(first[i] + count, whole.shape.back()))
            return "needs to know which columns an output holds";
    }
    return {};
}

/// Checks the operands of the epilogue besides the product.
Refusal refuse_others(const Problem& problem, const TensorDesc& whole) {
    for (std::size_t i = 2; i < problem.inputs.size(); ++i)
        if (problem.inputs[i].shape != whole.shape) return "needs inputs of the shape of the output (stride 0 repeats)";
    if (problem.definition == "fused" && !problem.body.empty() && problem.body[0].dtype != DType::f32)
        return "needs a product in f32";
    return {};
}

/// Rows of x up to which tiles of AVX-512 span whole panels of floats.
constexpr std::int64_t few_rows_of_floats = 14;

// Settings that behave as the first one are not measured again: few rows read a whole panel at once, use their own
// prefetch distance, and are not copied.
template <bool handles_few_rows, bool pads_rows>
Refusal redundant(const Problem& problem, const Setting& setting) {
    constexpr int max_unpadded_rows = 12;
    const std::int64_t few =
        is_code_layout(problem.inputs[1].layout) ? PanelPlan::few_rows_of_codes : few_rows_of_floats;
    const TensorDesc& x = problem.inputs[0];
    const Dim rows = rows_of_x(problem);
    const std::vector<Knob> all = knobs(handles_few_rows, pads_rows);
    const auto is_default = [&](std::string_view name) {
        const auto knob = std::find_if(all.begin(), all.end(), [&](const Knob& each) { return each.name == name; });
        return knob == all.end() || setting[knob->name] == knob->values.front();
    };
    if (!is_default("depth") && (provably_le(rows, few) || provably_le(x.shape.back(), setting["depth"])))
        return "reads a whole panel at once, whatever the depth setting";
    if (!is_default("ahead") && (provably_le(rows, 1) || provably_le(few + 1, rows)))
        return "prefetches the next panel tile by tile, or reads several panels at a time";
    if (!is_default("spread") && (provably_le(rows, max_unpadded_rows) || !rows_conflict_in_cache(x)))
        return "has no rows of x with cache set conflicts";
    return {};
}

Refusal accepts(const Problem& problem) {
    const ProductForm* form = form_of(problem);
    if (form == nullptr) return "computes products with a packed weight only";
    const bool is_gated = form->gating != Gating::none, is_fused = problem.definition == "fused";
    const int others = biases_in(problem, *form);
    const bool by_columns = problem.attributes.has("columns");
    if (others < 0 || (!is_fused && others > form->max_biases) || (!by_columns && problem.outputs.size() != 1))
        return "has the wrong number of operands";
    if (const auto parts = parts_of_fused(problem); is_fused && (!parts || parts->product.definition != "matmul"))
        return "needs a body that begins with a product";
    const TensorDesc &x = problem.inputs[0], out = whole_of(problem);
    const std::size_t weights = weights_of(*form);
    if (x.dtype != DType::f32 || (!is_fused && out.dtype != DType::f32)) return "needs f32";
    for (std::size_t i = 1; i <= weights; ++i)
        if (Refusal no = refuse_weight(problem.inputs[i], x, out, *form); !no.empty()) return no;
    if (form->gating == Gating::weight &&
        (problem.inputs[1].dtype != problem.inputs[2].dtype || problem.inputs[1].layout != problem.inputs[2].layout))
        return "needs weights of one dtype and layout";
    if (form->gating == Gating::half && !problem.attributes.has("gate")) return "needs the attribute 'gate'";
    for (std::size_t i = 0; i < problem.inputs.size(); ++i)
        if ((i == 0 || i > weights) && !problem.inputs[i].layout.empty())
            return "needs plain memory but for the weight";
    if (Refusal no = by_columns ? refuse_columns(problem, out) : Refusal(); !no.empty()) return no;
    if (Refusal no = form->is_argmax ? refuse_argmax_output(problem.outputs[0], x) : Refusal(); !no.empty()) return no;
    if (!out.layout.empty()) return "writes plain memory only";
    if (!same_leading_axes(x, out)) return "needs the leading axes of x in the output";
    if (!has_uniform_rows(x)) return "needs contiguous rows of x with one row stride";
    if (!has_uniform_rows(out)) return "needs contiguous rows of the output with one row stride";
    if (Refusal no = form->has_low_rank ? refuse_low_rank(problem) : Refusal(); !no.empty()) return no;
    const bool has_biases = is_gated || form->is_argmax || form->has_low_rank;
    for (std::size_t i = first_bias(*form); has_biases && i < problem.inputs.size(); ++i)
        if (Refusal no = refuse_bias(problem.inputs[i], problem.inputs[1]); !no.empty()) return no;
    if (Refusal no = has_biases ? Refusal() : refuse_others(problem, out); !no.empty()) return no;
    BlockProgram body;
    if (Refusal no = form->is_argmax ? Refusal() : body_of(problem, *form, body); !no.empty()) return no;
    return {};
}

/// Number of panels whose partial sums are kept: for a depth that may be split, until the next part; for a gated
/// product, until the other weight. A single row keeps none.
std::int64_t pending_sums(const Problem& problem, const ProductForm& form, const Setting& setting) {
    if (provably_le(rows_of_x(problem), 1)) return 0;
    const std::int64_t weights = form.gating == Gating::none ? 1 : 2;
    if (!provably_le(problem.inputs[0].shape.back(), setting["depth"])) return GuidedPanelSchedule::most * weights;
    return weights > 1 ? weights : 0;
}

/// Bytes in which each member widens a part of a panel of codes. A single row reads the codes.
std::int64_t widened_bytes(const Problem& problem, const Setting& setting) {
    if (!is_code_layout(problem.inputs[1].layout) || provably_le(rows_of_x(problem), 1)) return 0;
    const std::int64_t depth = problem.inputs[0].shape.back().constant();
    return std::min(depth, setting["depth"]) * panel_width * static_cast<std::int64_t>(sizeof(float));
}

/// Bytes of each member for two parts of a panel in bf16 parts.
std::int64_t split_bytes(const Problem& problem, int parts, const Setting& setting) {
    const std::int64_t depth = std::min(problem.inputs[0].shape.back().constant(), setting["depth"]);
    return 2 * ((depth + 31) / 32 * 32) * panel_width * 2 * parts;
}

/// Bytes of the rows of x in bf16 parts, and of a scale for each.
Dim bytes_in_parts(const Problem& problem, int parts) {
    const std::int64_t depth = (problem.inputs[0].shape.back().constant() + 31) / 32 * 32;
    return rows_of_x(problem) * Dim(depth * 2 * parts) + (rows_of_x(problem) * Dim(4) + 63) / 64 * 64;
}

/// Bytes of the rows of x as integers.
Dim quantized_bytes(const Problem& problem) {
    const std::int64_t groups = problem.inputs[0].shape.back().constant() / 32;
    return (rows_of_x(problem) * Dim(groups * static_cast<std::int64_t>(sizeof(QuantizedGroup))) + 63) / 64 * 64;
}

/// How rows of x are read: as floats; as pairs of 16-bit integers (narrow: by SSE2), or in two digits or one of 8 bits;
/// or as three, two or one bf16 parts.
enum class Operands : std::uint8_t { floats, narrow_pairs, pairs, two_bytes, bytes, three_parts, two_parts, one_part };

/// Number of bf16 parts; 0 for others.
constexpr int parts_in(Operands operands) {
    switch (operands) {
        case Operands::three_parts: return 3;
        case Operands::two_parts: return 2;
        case Operands::one_part: return 1;
        default: return 0;
    }
}
/// False for kernels that leave few rows to those of floats.
constexpr bool handles_few_rows(Operands operands) { return parts_in(operands) == 0; }
constexpr bool are_integers(Operands operands) { return operands != Operands::floats && parts_in(operands) == 0; }
/// Number of bf16 parts of an element of a panel, of which a product with x in `parts` parts uses no more.
int parts_of_weight(const TensorDesc& weight, int parts) {
    const int of_element = is_code_layout(weight.layout) ? format_of(weight.layout).bf16_parts()
                           : weight.dtype == DType::f32  ? 3
                           : weight.dtype == DType::f16  ? 2
                                                         : 1;
    return std::min(parts, of_element);
}

template <Operands operands, bool pads_rows>
std::shared_ptr<const void> prepare(const Problem& problem, int, const Setting& setting) {
    const ProductForm& form = *form_of(problem);
    auto plan = std::make_shared<PanelPlan>();
    if (form.gating == Gating::weight) plan->gate = Gate::weight;
    if (form.gating == Gating::half) plan->gate = is_last_half(problem) ? Gate::last_half : Gate::first_half;
    plan->is_argmax = form.is_argmax;
    plan->is_biased = form.is_argmax && problem.inputs.size() > 2;
    if (const Refusal no = form.is_argmax ? Refusal() : body_of(problem, form, plan->body); !no.empty())
        throw InternalError("panel", no);
    plan->stored = problem.inputs[1].dtype;
    plan->code_layout = code_layout_index(problem.inputs[1].layout, false);
    plan->by_columns = problem.attributes.has("columns");
    for (std::size_t i = 0; plan->by_columns && i < problem.outputs.size(); ++i)
        plan->first_column[i] = problem.attributes.dims("columns")[i].constant();
    if (form.has_low_rank) {
        plan->low_rank = problem.inputs[2].shape[1].constant();
        plan->low_rank_scale = static_cast<float>(problem.attributes.number("scale"));
    }
    plan->depth = setting["depth"];
    plan->ahead = handles_few_rows(operands) ? setting["ahead"] : default_ahead;
    plan->pending_sums = pending_sums(problem, form, setting);
    plan->widened_bytes = widened_bytes(problem, setting);
    plan->split_bytes = split_bytes(problem, parts_of_weight(problem.inputs[1], parts_in(operands)), setting);
    if constexpr (pads_rows) plan->pads_rows = setting["spread"] != 0 && rows_conflict_in_cache(problem.inputs[0]);
    return plan;
}

template <Operands operands, bool pads_rows>
Dim workspace(const Problem& problem, int threads, const Setting& setting) {
    const ProductForm& form = *form_of(problem);
    const TensorDesc& x = problem.inputs[0];
    const std::int64_t of_member = pending_sums(problem, form, setting) * PanelPlan::bytes_of_pending_sums;
    Dim bytes = (of_member + widened_bytes(problem, setting)) * threads;
    if constexpr (are_integers(operands)) bytes = bytes + quantized_bytes(problem);
    if constexpr (constexpr int parts = parts_in(operands); parts > 0) {
        const int of_weight = parts_of_weight(problem.inputs[1], parts);
        bytes = bytes + bytes_in_parts(problem, parts) + Dim(split_bytes(problem, of_weight, setting) * threads);
    }
    if constexpr (pads_rows)
        if (setting["spread"] != 0 && rows_conflict_in_cache(x))
            bytes = bytes + rows_of_x(problem) * Dim(4 * PanelPlan::padded_stride(x.shape.back().constant()));
    if (form.is_argmax) return bytes + argmax_workspace_bytes(problem, threads);
    BlockProgram body;
    if (!body_of(problem, form, body).empty()) return 0;
    if (form.has_low_rank)  // the narrow product, and a panel of b for each member
        bytes = bytes + (rows_of_x(problem) + Dim(panel_width * threads)) * (problem.inputs[2].shape[1] * 4);
    return bytes + Dim(body.bytes_per_member() * threads);
}

struct OperandTraits {
    Arithmetic arithmetic;
    double efficiency;   ///< of the products
    double conversions;  ///< operations that make a code an operand, for each multiply-add of a row
    /// Of a product. A step of the integers is 2^-15 or 2^-7 of the largest of 32 elements; sums of codes that offsets
    /// cancel err twice as much as the result.
    double error;
};
constexpr OperandTraits traits_of(Operands operands) {
    switch (operands) {
        case Operands::narrow_pairs: return {Arithmetic::f32, 0.9, 1.4, 0x1p-13};  // SSE2, which has no unit of i16
        case Operands::pairs: return {Arithmetic::i16, 0.72, 1.4, 0x1p-13};
        case Operands::two_bytes: return {Arithmetic::i16, 0.72, 0.8, 0x1p-13};
        case Operands::bytes: return {Arithmetic::i8, 0.6, 1.2, 0x1p-6};
        case Operands::three_parts: return {Arithmetic::bf16, 0.55, 0, 0};
        case Operands::two_parts: return {Arithmetic::bf16, 0.4, 0, 0x1p-15};
        case Operands::one_part: return {Arithmetic::bf16, 0.25, 0, 0x1p-7};
        default: return {Arithmetic::f32, 0.8, 2.7, 0};
    }
}

/// Products of parts for each multiply-add.
int products_of_parts(const Problem& problem, Operands operands) {
    const int of_x = parts_in(operands), of_weight = parts_of_weight(problem.inputs[1], of_x);
    int count = 0;
    for (int j = 0; j < of_weight; ++j) count += of_x - j;
    return std::max(count, 1);
}

template <Operands operands>
Cost cost(const Problem& problem) {
    constexpr OperandTraits traits = traits_of(operands);
    Cost cost = product_cost(problem, traits.efficiency);
    cost.arithmetic = traits.arithmetic;
    if (form_of(problem)->gating != Gating::none) cost.flops *= 2;
    const auto depth = static_cast<double>(problem.inputs[0].shape.back().constant());
    if (problem.attributes.has("columns") || form_of(problem)->is_argmax)
        cost.flops = 2 * static_cast<double>(element_count(whole_of(problem).shape).constant()) * depth;
    cost.flops *= products_of_parts(problem, operands);
    if (problem.definition == "fused") cost.flops += epilogue_flops(problem, cost.efficiency);
    if (form_of(problem)->has_low_rank) {
        const double rows = static_cast<double>(rows_of_x(problem).constant());
        const double narrow = static_cast<double>(
            (element_count(problem.inputs[2].shape) + element_count(problem.inputs[3].shape)).constant());
        cost.flops += 2 * rows * narrow;
    }
    // Few rows convert every code.
    const bool has_few_rows = provably_le(rows_of_x(problem), Dim(PanelPlan::few_rows_of_codes));
    for (const TensorDesc& input : problem.inputs)
        if (is_code_layout(input.layout)) {
            const auto elements = static_cast<double>(element_count(input.shape).constant());
            cost.bytes -= elements * (4 - static_cast<double>(format_of(input.layout).row_bytes()) / panel_width);
            if (has_few_rows) cost.flops += 2 * elements * traits.conversions;
        }
    return cost;
}

// What kernels of one form have in common. `name`: of the kernels in their ids.
template <Operands operands>
Kernel kernel_of(const ProductForm& form, FeatureSet needs, Run run, const std::string& name, const char* version) {
    Kernel made;
    made.id = "cpu." + name + "_" + std::string(isa_level_name(needs)) + "." + form.definition + version;
    made.definition = form.definition;
    made.needs = needs;
    made.run = run;
    // AVX-512 tiles of floats have more rows than L1 may have ways.
    const bool pads_rows = needs.includes(levels::avx512) && operands == Operands::floats;
    made.workspace = pads_rows ? workspace<operands, true> : workspace<operands, false>;
    made.prepare = pads_rows ? prepare<operands, true> : prepare<operands, false>;
    made.redundant =
        pads_rows ? redundant<handles_few_rows(operands), true> : redundant<handles_few_rows(operands), false>;
    made.cost = cost<operands>;
    made.knobs = knobs(handles_few_rows(operands), pads_rows);
    for (int weight = 1; weight <= static_cast<int>(weights_of(form)); ++weight) {
        made.packed_inputs.push_back({weight, std::string(panel_layout)});
        for (const CodeLayout& layout : code_layouts)
            if (!are_integers(operands) || are_integer_codes(layout.name))
                made.packed_inputs.push_back({weight, std::string(layout.name)});
    }
    if (made.definition == "fused")
        for (int input = 2; input < max_body_inputs; ++input) made.in_place.push_back({input, 0});
    return made;
}

/// Checks that no step makes something of the sums that is right or wrong, as a comparison does.
Refusal refuse_discrete_steps(const Problem& problem) {
    for (const Step& step : problem.body)
        if (!is_float(step.dtype)) return "compares or rounds sums, which are not exact";
    return {};
}

/// The error of a kernel that is not exact.
template <Operands operands>
double error_of(const Problem& problem) {
    // A gate and what it multiplies both err.
    const double error = traits_of(operands).error * (form_of(problem)->gating == Gating::none ? 1 : 2);
    // An error e turns the share e / u of roundings to units u: the root of their mean square is sqrt(e u). Of one, the
    // largest element may have half a unit of what ErrorNorms::combined counts.
    double roundoff = 0;
    const auto round_to = [&](DType dtype) {
        roundoff = std::max(roundoff, dtype == DType::f16 ? 0x1p-11 : dtype == DType::bf16 ? 0x1p-8 : 0);
    };
    for (const Step& step : problem.body) round_to(step.dtype);
    for (const TensorDesc& output : problem.outputs) round_to(output.dtype);
    return std::max({error, std::sqrt(error * roundoff), roundoff / 2});
}

/// A kernel for panels of codes whose rows of x are quantized. An argmax has none: it is right or wrong.
template <Operands operands>
void add_quantized(std::vector<Kernel>& kernels, FeatureSet needs, Run run, const std::string& name) {
    for (const ProductForm& form : forms) {
        if (form.is_argmax || form.has_low_rank) continue;
        Kernel made = kernel_of<operands>(form, needs, run, name, ".f32@1");
        made.accepts = [](const Problem& problem) -> Refusal {
            if (Refusal no = accepts(problem); !no.empty()) return no;
            if (!are_integer_codes(problem.inputs[1].layout))
                return "needs a weight in a layout of codes of up to 8 bits";
            return refuse_discrete_steps(problem);
        };
        made.error = error_of<operands>;
        made.samples = in_each_code(made.definition == "fused" ? fused_samples() : samples_of(form, form.max_biases),
                                    most_bits_of_integers);
        if (made.definition == "fused") made.samples.push_back(in_codes(samples_by_columns().front(), 1));
        kernels.push_back(at_default_setting(std::move(made)));
    }
}

/// The steps of a tile product, to which the depth is padded.
constexpr std::int64_t least_depth_of_parts = 32;

/// Kernels that multiply bf16 parts; with three parts of x they are exact. Few rows are left to the kernels of floats.
template <Operands operands>
void add_in_parts(std::vector<Kernel>& kernels, FeatureSet needs, Run run, const std::string& name) {
    constexpr bool is_exact = parts_in(operands) == 3;
    for (const ProductForm& form : forms) {
        if ((form.is_argmax || form.has_low_rank) && !is_exact) continue;
        Kernel made = kernel_of<operands>(form, needs, run, name, ".f32@1");
        made.accepts = [](const Problem& problem) -> Refusal {
            if (Refusal no = accepts(problem); !no.empty()) return no;
            const Dim& depth = problem.inputs[0].shape.back();
            if (!depth.is_constant() || depth.constant() < least_depth_of_parts) return "needs a depth of at least 32";
            return is_exact ? Refusal() : refuse_discrete_steps(problem);
        };
        made.redundant = [](const Problem& problem, const Setting& setting) -> Refusal {
            if (provably_le(rows_of_x(problem), few_rows_of_floats)) return "multiplies few rows as floats";
            return redundant<false, false>(problem, setting);
        };
        if (!is_exact) made.error = error_of<operands>;
        for (int weight = 1; weight <= static_cast<int>(weights_of(form)); ++weight)
            made.widened_inputs.push_back(weight);
        const bool is_fused = made.definition == "fused";
        std::vector<std::string> samples = is_fused ? fused_samples() : samples_of(form, form.max_biases);
        if (is_fused) samples.push_back(samples_by_columns().front());
        std::erase_if(samples, [](const std::string& sample) {
            const bool is_discrete = sample.find(":bool}") != sample.npos;
            return largest_bound(sample) <= few_rows_of_floats || (!is_exact && is_discrete);
        });
        made.samples = in_each_form(std::move(samples), least_depth_of_parts);
        kernels.push_back(at_default_setting(std::move(made)));
    }
}

}  // namespace

void add_panel_linear(std::vector<Kernel>& kernels, FeatureSet needs, const PanelTable& table) {
    for (const ProductForm& form : forms) {
        Kernel made =
            kernel_of<Operands::floats>(form, needs, table.panel_linear, "panel", form.is_argmax ? ".f32@3" : ".f32@4");
        made.accepts = accepts;
        for (int weight = 1; weight <= static_cast<int>(weights_of(form)); ++weight)
            made.widened_inputs.push_back(weight);
        if (made.definition == "fused") {
            made.samples = in_each_form(fused_samples());
            for (std::string& sample : samples_by_columns()) made.samples.push_back(std::move(sample));
            made.samples.push_back(in_codes(samples_by_columns().front(), 0));
        } else {
            for (int biases = form.max_biases; biases >= 0; --biases)
                for (std::string& sample :
                     biases == 0 ? in_each_form(samples_of(form, biases)) : samples_of(form, biases))
                    made.samples.push_back(std::move(sample));
        }
        kernels.push_back(at_default_setting(std::move(made)));
    }
}

void add_panel_integer_linear(std::vector<Kernel>& kernels, FeatureSet needs, const PanelTable& table) {
    const auto add =
        needs.includes(levels::avx2) ? add_quantized<Operands::pairs> : add_quantized<Operands::narrow_pairs>;
    add(kernels, needs, table.panel_integer_linear, "panel_i16");
}

void add_panel_bf16_linear(std::vector<Kernel>& kernels, FeatureSet needs, const Bf16Table& table) {
    add_in_parts<Operands::three_parts>(kernels, needs, table.panel_bf16x6_linear, "panel_bf16x6");
    add_in_parts<Operands::two_parts>(kernels, needs, table.panel_bf16x3_linear, "panel_bf16x3");
    add_in_parts<Operands::one_part>(kernels, needs, table.panel_bf16_linear, "panel_bf16");
}

void add_panel_byte_linear(std::vector<Kernel>& kernels, FeatureSet needs, const IntegerTable& table) {
    add_quantized<Operands::bytes>(kernels, needs, table.panel_i8_linear, "panel_i8");
    add_quantized<Operands::two_bytes>(kernels, needs, table.panel_i16_linear, "panel_i16");
}

}  // namespace cairn::kernels::cpu
