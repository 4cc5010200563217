#include "kernels/cpu/panel/layout.hpp"
#include "kernels/cpu/panel/linear.hpp"
#include "kernels/cpu/product.hpp"
#include "kernels/cpu/table.hpp"

#include <memory>

/// Products with a packed f32 weight: `matmul`, `linear`, and `linear` with what follows it.
namespace cairn::inline v0::kernels::cpu {
namespace {

// What is done to x @ w, and the operands behind the weight.
enum class Bias : std::uint8_t { none, optional, needed };
struct Form {
    const char* definition;
    Activation activation;
    Bias bias;
    bool takes_residual, is_gated;
};
constexpr Form forms[] = {
    {"linear_swiglu", Activation::silu, Bias::none, false, true},
    {"linear_geglu", Activation::gelu, Bias::none, false, true},
    {"linear_geglu_tanh", Activation::gelu_tanh, Bias::none, false, true},
    {"linear_gelu_tanh", Activation::gelu_tanh, Bias::optional, false, false},
    {"linear_gelu", Activation::gelu, Bias::optional, false, false},
    {"linear_silu", Activation::silu, Bias::optional, false, false},
    {"linear_relu", Activation::relu, Bias::optional, false, false},
    {"linear_residual", Activation::none, Bias::optional, true, false},
    {"linear", Activation::none, Bias::needed, false, false},
    {"matmul", Activation::none, Bias::none, false, false},
};

const Form* form_of(const Problem& problem) {
    for (const Form& form : forms)
        if (problem.definition == form.definition) return &form;
    return nullptr;
}

// x, the weights, the residual.
std::size_t operands_without_bias(const Form& form) {
    return 2u + (form.is_gated ? 1 : 0) + (form.takes_residual ? 1 : 0);
}

PanelPlan plan_of(const Problem& problem, const Form& form) {
    return {form.activation, problem.inputs.size() > operands_without_bias(form), form.takes_residual, form.is_gated};
}

Refusal refuse_weight(const TensorDesc& weight, const TensorDesc& x, const TensorDesc& out) {
    if (weight.layout != panel_layout) return "needs a weight in the layout panel32";
    const std::size_t rank = weight.shape.size();
    if (rank < 2 || x.shape.empty() || out.shape.empty() || !(weight.shape[rank - 2] == x.shape.back()) ||
        !(weight.shape[rank - 1] == out.shape.back()))
        return "needs a weight [K, N]";
    return {};
}

Refusal accepts(const Problem& problem) {
    const Form* form = form_of(problem);
    if (form == nullptr) return "computes products with a packed weight only";
    const PanelPlan plan = plan_of(problem, *form);
    if (problem.inputs.size() != operands_without_bias(*form) + (plan.has_bias ? 1 : 0) ||
        (plan.has_bias ? form->bias == Bias::none : form->bias == Bias::needed) || problem.outputs.size() != 1)
        return "has the wrong number of operands";
    const TensorDesc &x = problem.inputs[0], &out = problem.outputs[0];
    const std::size_t weights = plan.is_gated ? 2 : 1;
    for (const TensorDesc& input : problem.inputs)
        if (input.dtype != DType::f32) return "needs f32";
    for (std::size_t i = 1; i <= weights; ++i)
        if (Refusal no = refuse_weight(problem.inputs[i], x, out); !no.empty()) return no;
    if (out.dtype != DType::f32) return "needs f32";
    for (std::size_t i = 0; i < problem.inputs.size(); ++i)
        if ((i == 0 || i > weights) && !problem.inputs[i].layout.empty())
            return "needs plain memory but for the weight";
    if (!out.layout.empty()) return "writes plain memory only";
    if (!same_leading_axes(x, out)) return "needs the leading axes of x in the output";
    if (!has_uniform_rows(x)) return "needs rows of x that are contiguous and lie at one distance";
    if (!has_uniform_rows(out)) return "needs rows of the output that are contiguous and lie at one distance";
    if (plan.has_bias && (problem.inputs[2].shape.size() != 1 || !has_unit_stride(problem.inputs[2], 0)))
        return "needs a contiguous bias [N]";
    if (plan.has_residual && (problem.inputs.back().shape != out.shape || !has_uniform_rows(problem.inputs.back())))
        return "needs rows of the residual that are contiguous and lie at one distance";
    return {};
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    return std::make_shared<PanelPlan>(plan_of(problem, *form_of(problem)));
}

Cost cost(const Problem& problem) {
    Cost cost = product_cost(problem, 0.8);
    if (form_of(problem)->is_gated) cost.flops *= 2;
    return cost;
}

std::vector<std::string> samples_of(const Form& form, bool has_bias) {
    const auto sample = [&](const char* x, const std::string& w, const std::string& columns, const char* residual,
                            const char* out) {
        return std::string(form.definition) + " | " + x + " " + w + (form.is_gated ? " " + w : "") +
               (has_bias ? " f32[" + columns + "]!" : "") +
               (form.takes_residual ? std::string(" ") + residual : std::string()) + " -> " + out;
    };
    return {sample("f32[T,70]", "f32[70,100]@panel32!", "100", "f32[T,100]", "f32[T,100] where T in 0..400"),
            sample("f32[T,17]:(300,1)", "f32[17,1600]@panel32!", "1600", "f32[T,1600]:(2000,1)",
                   "f32[T,1600]:(1700,1) where T in 1..20"),
            sample("f32[B,1,33]", "f32[33,7]@panel32!", "7", "f32[B,1,7]", "f32[B,1,7] where B in 1..9"),
            sample("f32[2,3,1]", "f32[1,64]@panel32!", "64", "f32[2,3,64]", "f32[2,3,64]")};
}

}  // namespace

void add_panel_linear(std::vector<Kernel>& kernels, Isa isa, const CpuTable& table) {
    for (const Form& form : forms) {
        Kernel made;
        made.id = "cpu.panel_" + std::string(to_string(isa)) + "." + form.definition + ".f32@1";
        made.definition = form.definition;
        made.isa = isa;
        made.accepts = accepts;
        made.run = table.panel_linear;
        made.packed_inputs = {{1, std::string(panel_layout)}};
        if (form.is_gated) made.packed_inputs.push_back({2, std::string(panel_layout)});
        if (form.takes_residual) made.in_place = {{2, 0}, {3, 0}};
        made.cost = cost;
        made.prepare = prepare;
        if (form.bias != Bias::none) made.samples = samples_of(form, true);
        if (form.bias != Bias::needed)
            for (std::string& sample : samples_of(form, false)) made.samples.push_back(std::move(sample));
        kernels.push_back(std::move(made));
    }
}

}  // namespace cairn::inline v0::kernels::cpu
