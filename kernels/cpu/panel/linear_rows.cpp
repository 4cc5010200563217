#include "kernels/cpu/panel/layout.hpp"
#include "kernels/cpu/panel/linear.hpp"
#include "kernels/cpu/panel/table.hpp"
#include "kernels/cpu/product.hpp"
#include "types/knobs.hpp"
#include "types/levels.hpp"

#include <memory>

/// Products with a packed f32 weight: `matmul`, `linear`, and `linear` with what follows it.
namespace cairn::inline v0::kernels::cpu {
namespace {

// What is done to x @ w, and the operands behind the weight. A gate has a weight of its own, or is one half of the
// columns.
enum class Gating : std::uint8_t { none, weight, half };
struct Form {
    const char* definition;
    Activation activation;
    int least_biases, most_biases;
    bool takes_residual;
    Gating gating;
};
constexpr Form forms[] = {
    {"linear_swiglu", Activation::silu, 0, 2, false, Gating::weight},
    {"linear_geglu", Activation::gelu, 0, 2, false, Gating::weight},
    {"linear_geglu_tanh", Activation::gelu_tanh, 0, 2, false, Gating::weight},
    {"linear_halves_swiglu", Activation::silu, 0, 1, false, Gating::half},
    {"linear_halves_geglu", Activation::gelu, 0, 1, false, Gating::half},
    {"linear_halves_geglu_tanh", Activation::gelu_tanh, 0, 1, false, Gating::half},
    {"linear_gelu_tanh", Activation::gelu_tanh, 0, 1, false, Gating::none},
    {"linear_gelu", Activation::gelu, 0, 1, false, Gating::none},
    {"linear_silu", Activation::silu, 0, 1, false, Gating::none},
    {"linear_relu", Activation::relu, 0, 1, false, Gating::none},
    {"linear_residual", Activation::none, 0, 1, true, Gating::none},
    {"linear", Activation::none, 1, 1, false, Gating::none},
    {"matmul", Activation::none, 0, 0, false, Gating::none},
};

const Form* form_of(const Problem& problem) {
    for (const Form& form : forms)
        if (problem.definition == form.definition) return &form;
    return nullptr;
}

std::size_t weights_of(const Form& form) { return form.gating == Gating::weight ? 2 : 1; }

int biases_in(const Problem& problem, const Form& form) {
    return static_cast<int>(problem.inputs.size()) - 1 - static_cast<int>(weights_of(form)) -
           (form.takes_residual ? 1 : 0);
}

bool is_last_half(const Problem& problem) { return problem.attributes.integer("gate") != 0; }

// What is set first was the best in most products on one machine. Others have other caches, and memory further away.
std::vector<Knob> knobs() { return {{"depth", {1024, 512}}, {"ahead", {96, 64}}}; }

PanelPlan plan_of(const Problem& problem, const Form& form, const Setting& setting) {
    Gate gate = form.gating == Gating::weight ? Gate::weight : Gate::none;
    if (form.gating == Gating::half) gate = is_last_half(problem) ? Gate::last_half : Gate::first_half;
    return {form.activation, gate, biases_in(problem, form), form.takes_residual, setting["depth"], setting["ahead"]};
}

Refusal refuse_weight(const TensorDesc& weight, const TensorDesc& x, const TensorDesc& out, const Form& form) {
    if (weight.layout != panel_layout) return "needs a weight in the layout panel32";
    const std::size_t rank = weight.shape.size();
    const bool by_halves = form.gating == Gating::half;
    if (rank < 2 || x.shape.empty() || out.shape.empty() || !(weight.shape[rank - 2] == x.shape.back()) ||
        !(weight.shape[rank - 1] == out.shape.back() * (by_halves ? 2 : 1)))
        return by_halves ? "needs a weight [K, 2 N]" : "needs a weight [K, N]";
    if (by_halves && !(out.shape.back().is_constant() && out.shape.back().constant() % panel_width == 0))
        return "needs halves of a multiple of 32 columns";
    return {};
}

Refusal refuse_bias(const TensorDesc& bias, const TensorDesc& weight) {
    if (bias.shape.size() != 1 || !(bias.shape[0] == weight.shape.back()) || !has_unit_stride(bias, 0))
        return "needs a contiguous bias of the columns of the weight";
    return {};
}

// What the first setting does as well is not measured twice: few rows read a panel at once, and fetch it ahead.
Refusal refuse_setting(const Problem& problem, const Setting& setting) {
    constexpr int few = 12;
    const Shape& x = problem.inputs[0].shape;
    Dim rows = 1;
    for (std::size_t axis = 0; axis + 1 < x.size(); ++axis) rows = rows * x[axis];
    const auto is_first = [&](const Knob& knob) { return setting[knob.name] == knob.values.front(); };
    const std::vector<Knob> all = knobs();
    if (!is_first(all[0]) && (provably_le(rows, few) || provably_le(x.back(), setting["depth"])))
        return "reads all of a panel at once, however deep its parts are";
    if (!is_first(all[1]) && (provably_le(rows, 1) || provably_le(few + 1, rows)))
        return "has a part of the next panel fetched by each tile, or reads several side by side";
    return {};
}

Refusal accepts(const Problem& problem, const Setting& setting) {
    const Form* form = form_of(problem);
    if (form == nullptr) return "computes products with a packed weight only";
    const int biases = biases_in(problem, *form);
    if (biases < form->least_biases || biases > form->most_biases || problem.outputs.size() != 1)
        return "has the wrong number of operands";
    const TensorDesc &x = problem.inputs[0], &out = problem.outputs[0];
    const std::size_t weights = weights_of(*form);
    for (const TensorDesc& input : problem.inputs)
        if (input.dtype != DType::f32) return "needs f32";
    for (std::size_t i = 1; i <= weights; ++i)
        if (Refusal no = refuse_weight(problem.inputs[i], x, out, *form); !no.empty()) return no;
    if (form->gating == Gating::half && !problem.attributes.has("gate"))
        return "needs to be told which half is the gate";
    if (out.dtype != DType::f32) return "needs f32";
    for (std::size_t i = 0; i < problem.inputs.size(); ++i)
        if ((i == 0 || i > weights) && !problem.inputs[i].layout.empty())
            return "needs plain memory but for the weight";
    if (!out.layout.empty()) return "writes plain memory only";
    if (!same_leading_axes(x, out)) return "needs the leading axes of x in the output";
    if (!has_uniform_rows(x)) return "needs rows of x that are contiguous and lie at one distance";
    if (!has_uniform_rows(out)) return "needs rows of the output that are contiguous and lie at one distance";
    for (std::size_t i = 0; i < static_cast<std::size_t>(biases); ++i)
        if (Refusal no = refuse_bias(problem.inputs[1 + weights + i], problem.inputs[1]); !no.empty()) return no;
    if (form->takes_residual && (problem.inputs.back().shape != out.shape || !has_uniform_rows(problem.inputs.back())))
        return "needs rows of the residual that are contiguous and lie at one distance";
    return refuse_setting(problem, setting);
}

std::shared_ptr<const void> prepare(const Problem& problem, int, const Setting& setting) {
    return std::make_shared<PanelPlan>(plan_of(problem, *form_of(problem), setting));
}

Cost cost(const Problem& problem) {
    Cost cost = product_cost(problem, 0.8);
    if (form_of(problem)->gating != Gating::none) cost.flops *= 2;
    return cost;
}

std::vector<std::string> samples_by_halves(const Form& form, bool is_biased) {
    const auto sample = [&](const char* gate, const char* x, const char* w, const char* bias, const char* out) {
        return std::string(form.definition) + " gate=(" + gate + ") | " + x + " " + w + (is_biased ? bias : "") +
               " -> " + out;
    };
    return {sample("0", "f32[T,70]", "f32[70,192]@panel32!", " f32[192]!", "f32[T,96] where T in 0..400"),
            sample("1", "f32[T,17]:(300,1)", "f32[17,3200]@panel32!", " f32[3200]!",
                   "f32[T,1600]:(1700,1) where T in 1..20"),
            sample("1", "f32[B,1,33]", "f32[33,64]@panel32!", " f32[64]!", "f32[B,1,32] where B in 1..9"),
            sample("0", "f32[T,1100]", "f32[1100,64]@panel32!", " f32[64]!", "f32[T,32] where T in 1..40"),
            sample("0", "f32[2,3,1]", "f32[1,128]@panel32!", " f32[128]!", "f32[2,3,64]")};
}

std::vector<std::string> samples_of(const Form& form, int biases) {
    if (form.gating == Gating::half) return samples_by_halves(form, biases > 0);
    const auto sample = [&](const char* x, const std::string& w, const std::string& columns, const char* residual,
                            const char* out) {
        std::string text = std::string(form.definition) + " | " + x + " " + w;
        if (form.gating == Gating::weight) text += " " + w;
        for (int i = 0; i < biases; ++i) text += " f32[" + columns + "]!";
        if (form.takes_residual) text += std::string(" ") + residual;
        return text + " -> " + out;
    };
    return {sample("f32[T,70]", "f32[70,100]@panel32!", "100", "f32[T,100]", "f32[T,100] where T in 0..400"),
            sample("f32[T,17]:(300,1)", "f32[17,1600]@panel32!", "1600", "f32[T,1600]:(2000,1)",
                   "f32[T,1600]:(1700,1) where T in 1..20"),
            sample("f32[B,1,33]", "f32[33,7]@panel32!", "7", "f32[B,1,7]", "f32[B,1,7] where B in 1..9"),
            sample("f32[T,2100]", "f32[2100,40]@panel32!", "40", "f32[T,40]", "f32[T,40] where T in 1..60"),
            sample("f32[2,3,1]", "f32[1,64]@panel32!", "64", "f32[2,3,64]", "f32[2,3,64]")};
}

}  // namespace

void add_panel_linear(std::vector<Kernel>& kernels, FeatureSet needs, const PanelTable& table) {
    for (const Form& form : forms) {
        Kernel made;
        made.id = "cpu.panel_" + std::string(level_name(needs)) + "." + form.definition + ".f32@1";
        made.definition = form.definition;
        made.needs = needs;
        made.accepts = accepts;
        made.run = table.panel_linear;
        made.packed_inputs = {{1, std::string(panel_layout)}};
        if (form.gating == Gating::weight) made.packed_inputs.push_back({2, std::string(panel_layout)});
        if (form.takes_residual) made.in_place = {{2, 0}, {3, 0}};
        made.cost = cost;
        made.prepare = prepare;
        made.knobs = knobs();
        for (int biases = form.most_biases; biases >= form.least_biases; --biases)
            for (std::string& sample : samples_of(form, biases)) made.samples.push_back(std::move(sample));
        kernels.push_back(settings_of(made).front());
    }
}

}  // namespace cairn::inline v0::kernels::cpu
