#include "kernels/cpu/panel/layout.hpp"
#include "kernels/cpu/panel/linear.hpp"
#include "kernels/cpu/product.hpp"
#include "kernels/cpu/table.hpp"

#include <memory>

/// Products with a packed f32 weight: `matmul`, `linear`, and `linear` with what follows it.
namespace cairn::inline v0::kernels::cpu {
namespace {

// What a definition's operands are, x and the weight apart.
struct Form {
    const char* definition;
    PanelPlan plan;
};
constexpr Form forms[] = {
    {"linear_gelu_tanh", {true, false, Activation::gelu_tanh}},
    {"linear_gelu", {true, false, Activation::gelu}},
    {"linear_relu", {true, false, Activation::relu}},
    {"linear_residual", {true, true, Activation::none}},
    {"linear", {true, false, Activation::none}},
    {"matmul", {false, false, Activation::none}},
};

const Form* form_of(const Problem& problem) {
    for (const Form& form : forms)
        if (problem.definition == form.definition) return &form;
    return nullptr;
}

Refusal accepts(const Problem& problem) {
    const Form* form = form_of(problem);
    if (form == nullptr) return "computes products with a packed weight only";
    const std::size_t wanted = 2u + (form->plan.has_bias ? 1 : 0) + (form->plan.has_residual ? 1 : 0);
    if (problem.inputs.size() != wanted || problem.outputs.size() != 1) return "has the wrong number of operands";
    for (const TensorDesc& input : problem.inputs)
        if (input.dtype != DType::f32) return "needs f32";
    const TensorDesc &x = problem.inputs[0], &w = problem.inputs[1], &out = problem.outputs[0];
    if (w.layout != panel_layout) return "needs a weight in the layout panel32";
    if (out.dtype != DType::f32) return "needs f32";
    for (std::size_t i = 0; i < wanted; ++i)
        if (i != 1 && !problem.inputs[i].layout.empty()) return "needs plain memory but for the weight";
    if (!out.layout.empty()) return "writes plain memory only";
    if (w.shape.size() < 2 || !(w.shape[w.shape.size() - 2] == x.shape.back())) return "needs a weight [K, N]";
    if (!same_leading_axes(x, out)) return "needs the leading axes of x in the output";
    if (!has_uniform_rows(x)) return "needs rows of x that are contiguous and lie at one distance";
    if (!has_uniform_rows(out)) return "needs rows of the output that are contiguous and lie at one distance";
    if (form->plan.has_bias && (problem.inputs[2].shape.size() != 1 || !has_unit_stride(problem.inputs[2], 0)))
        return "needs a contiguous bias [N]";
    if (form->plan.has_residual && (problem.inputs[3].shape != out.shape || !has_uniform_rows(problem.inputs[3])))
        return "needs rows of the residual that are contiguous and lie at one distance";
    return {};
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    return std::make_shared<PanelPlan>(form_of(problem)->plan);
}

Cost cost(const Problem& problem) { return product_cost(problem, 0.8); }

std::vector<std::string> samples_of(const Form& form) {
    const std::string name = form.definition, bias = form.plan.has_bias ? " f32[N]!" : "";
    const auto residual = [&](const char* shape) {
        return form.plan.has_residual ? std::string(" ") + shape : std::string();
    };
    const auto with_columns = [](std::string text, const std::string& columns) {
        for (std::size_t at = text.find('N'); at != std::string::npos; at = text.find('N', at))
            text.replace(at, 1, columns);
        return text;
    };
    return {with_columns(name + " | f32[T,70] f32[70,N]@panel32!" + bias + residual("f32[T,N]") +
                             " -> f32[T,N] where T in 0..400",
                         "100"),
            with_columns(name + " | f32[T,17]:(300,1) f32[17,N]@panel32!" + bias + residual("f32[T,N]:(2000,1)") +
                             " -> f32[T,N]:(1700,1) where T in 1..20",
                         "1600"),
            with_columns(name + " | f32[B,1,33] f32[33,N]@panel32!" + bias + residual("f32[B,1,N]") +
                             " -> f32[B,1,N] where B in 1..9",
                         "7"),
            with_columns(name + " | f32[2,3,1] f32[1,N]@panel32!" + bias + residual("f32[2,3,N]") + " -> f32[2,3,N]",
                         "64")};
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
        if (form.plan.has_residual) made.in_place = {{3, 0}};
        made.cost = cost;
        made.prepare = prepare;
        made.samples = samples_of(form);
        kernels.push_back(std::move(made));
    }
}

}  // namespace cairn::inline v0::kernels::cpu
