#include "kernels/cpu/simd/norm_settings.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"
#include "kernels/cpu/table.hpp"

#include <memory>
#include <string>

/// The rows of what works along the last axis, in f32: softmax, the normalisations, reductions.
namespace cairn::inline v0::kernels::cpu {
namespace {

constexpr int max_rank = 8;

/// f32 operands with a contiguous last axis; the first `wide` inputs and all outputs of one shape.
Refusal needs_rows(const Problem& problem, std::size_t inputs, std::size_t wide, std::size_t outputs) {
    if (problem.inputs.size() != inputs || problem.outputs.size() != outputs) return "a wrong number of operands";
    if (Refusal no = needs_plain(problem, max_rank); !no.empty()) return no;
    const Shape& shape = problem.inputs[0].shape;
    if (shape.empty()) return "needs an axis";
    for (const auto* side : {&problem.inputs, &problem.outputs}) {
        for (std::size_t i = 0; i < side->size(); ++i) {
            const TensorDesc& tensor = (*side)[i];
            if (tensor.dtype != DType::f32) return "needs f32";
            if (!is_last_contiguous(tensor)) return "needs a contiguous last axis";
            const bool is_wide = side == &problem.outputs || i < wide;
            if (is_wide && tensor.shape != shape) return "needs operands of one shape";
            if (!is_wide && (tensor.shape.size() != 1 || !(tensor.shape[0] == shape.back())))
                return "needs gamma and beta of the last axis";
        }
    }
    return {};
}

/// The one axis of a reduction is the last; `name` is `axis` or `axes`. Without the attribute the last is meant.
bool is_over_last(const Problem& problem, std::string_view name) {
    if (!problem.attributes.has(name)) return true;
    const auto rank = static_cast<std::int64_t>(problem.inputs[0].shape.size());
    const std::vector<Dim>& axes = problem.attributes.dims(name);
    if (axes.empty()) return rank == 1;
    return axes.size() == 1 && (axes[0] == Dim(-1) || axes[0] == Dim(rank - 1));
}

Refusal accepts_softmax(const Problem& problem) {
    if (Refusal no = needs_rows(problem, 1, 1, 1); !no.empty()) return no;
    return is_over_last(problem, "axis") ? Refusal() : "works along the last axis only";
}
Refusal accepts_layer_norm(const Problem& problem) { return needs_rows(problem, 3, 1, 1); }
Refusal accepts_rms_norm(const Problem& problem) { return needs_rows(problem, 2, 1, 1); }
Refusal accepts_add_layer_norm(const Problem& problem) { return needs_rows(problem, 4, 2, 2); }
Refusal accepts_add_rms_norm(const Problem& problem) { return needs_rows(problem, 3, 2, 2); }

std::shared_ptr<const void> prepare_norm(const Problem& problem, int) {
    return std::make_shared<NormSettings>(NormSettings{static_cast<float>(problem.attributes.number("eps"))});
}

Refusal accepts_reduction(const Problem& problem) {
    if (problem.inputs.size() != 1 || problem.outputs.size() != 1) return "needs one input and one output";
    if (Refusal no = needs_plain(problem, max_rank); !no.empty()) return no;
    const TensorDesc &x = problem.inputs[0], &out = problem.outputs[0];
    const bool index = problem.definition == "argmax";
    if (x.dtype != DType::f32 || out.dtype != (index ? DType::i32 : DType::f32)) return "needs f32";
    if (x.shape.empty()) return "needs an axis";
    if (!is_last_contiguous(x)) return "needs a contiguous last axis";
    if (!is_over_last(problem, index ? "axis" : "axes")) return "works along the last axis only";
    // The axis is kept with size 1, or gone.
    Shape kept = x.shape, gone(x.shape.begin(), x.shape.end() - 1);
    kept.back() = 1;
    return out.shape == kept || out.shape == gone ? Refusal() : "needs an output of one element a row";
}

Cost cost(const Problem& problem) {
    const double elements = static_cast<double>(element_count(problem.inputs[0].shape).constant());
    const bool exponential = problem.definition.find("softmax") != std::string::npos;
    return {elements * (exponential ? 20 : 8), bytes_of(problem), 0.25};
}

struct Family {
    Isa isa;
    std::vector<Kernel>& kernels;

    Kernel& add(const std::string& definition, const char* dtype, Refusal (*accepts)(const Problem&), Run run,
                std::vector<std::string> samples) {
        Kernel made;
        made.id = "cpu." + std::string(to_string(isa)) + "." + definition + "." + dtype + "@1";
        made.definition = definition;
        made.isa = isa;
        made.accepts = accepts;
        made.run = run;
        made.cost = cost;
        made.samples = std::move(samples);
        kernels.push_back(std::move(made));
        return kernels.back();
    }
};

void add_softmaxes(Family& family, const CpuTable& table) {
    const std::pair<const char*, Run> softmaxes[] = {{"softmax", table.softmax}, {"log_softmax", table.log_softmax}};
    for (const auto& [name, run] : softmaxes) {
        const std::string op(name);
        family
            .add(op, "f32", accepts_softmax, run,
                 {op + " axis=(-1) | f32[R,N] -> f32[R,N] where R in 0..40, N in 1..300",
                  op + " axis=(-1) | f32[2,3,N]:(3*N,N,1) -> f32[2,3,N]:(N,2*N,1) where N in 1..70",
                  op + " axis=(-1) | f32[5,768]:(0,1) -> f32[5,768]", op + " axis=(-1) | f32[4,5000] -> f32[4,5000]"})
            .in_place = {{0, 0}};
    }
}

void add_norms(Family& family, const CpuTable& table) {
    Kernel& layer = family.add(
        "layer_norm", "f32", accepts_layer_norm, table.layer_norm,
        {"layer_norm eps=1e-05 | f32[R,N] f32[N] f32[N] -> f32[R,N] where R in 0..40, N in 1..300",
         "layer_norm eps=1e-12 | f32[2,T,768]:(768,1536,1) f32[768]! f32[768]! -> f32[2,T,768] where T in 1..20"});
    layer.prepare = prepare_norm;
    layer.in_place = {{0, 0}};
    Kernel& rms =
        family.add("rms_norm", "f32", accepts_rms_norm, table.rms_norm,
                   {"rms_norm eps=1e-06 | f32[R,N] f32[N] -> f32[R,N] where R in 0..40, N in 1..300",
                    "rms_norm eps=1e-06 | f32[2,T,640]:(640,1280,1) f32[640]! -> f32[2,T,640] where T in 1..20"});
    rms.prepare = prepare_norm;
    rms.in_place = {{0, 0}};
    Kernel& add_layer = family.add("add_layer_norm", "f32", accepts_add_layer_norm, table.add_layer_norm,
                                   {"add_layer_norm eps=1e-05 | f32[R,N] f32[R,N] f32[N] f32[N] -> f32[R,N] f32[R,N] "
                                    "where R in 0..40, N in 1..300",
                                    "add_layer_norm eps=1e-05 | f32[2,T,768] f32[2,T,768]:(768,0,1) f32[768]! "
                                    "f32[768]! -> f32[2,T,768] f32[2,T,768] where T in 1..20"});
    add_layer.prepare = prepare_norm;
    add_layer.in_place = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    Kernel& add_rms = family.add(
        "add_rms_norm", "f32", accepts_add_rms_norm, table.add_rms_norm,
        {"add_rms_norm eps=1e-06 | f32[R,N] f32[R,N] f32[N] -> f32[R,N] f32[R,N] where R in 0..40, N in 1..300"});
    add_rms.prepare = prepare_norm;
    add_rms.in_place = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
}

void add_reductions(Family& family, const CpuTable& table) {
    family.add("sum", "f32", accepts_reduction, table.sum_last,
               {"sum axes=(-1) | f32[R,N] -> f32[R,1] where R in 0..40, N in 0..300",
                "sum axes=(-1) | f32[2,T,33]:(33,66,1) -> f32[2,T,1] where T in 1..50"});
    family.add("mean", "f32", accepts_reduction, table.mean_last,
               {"mean axes=(-1) keepdims=(1) | f32[R,N] -> f32[R,1] where R in 1..40, N in 1..300",
                "mean axes=(-1) keepdims=(0) | f32[2,T,33]:(33,66,1) -> f32[2,T] where T in 1..50"});
    family.add("max_reduce", "f32", accepts_reduction, table.max_last,
               {"max_reduce axes=(-1) | f32[R,N] -> f32[R,1] where R in 0..40, N in 0..300",
                "max_reduce axes=(-1) | f32[2,T,33]:(33,66,1) -> f32[2,T,1] where T in 1..50"});
    family.add("argmax", "f32", accepts_reduction, table.argmax_last,
               {"argmax axis=(-1) | f32[R,N] -> i32[R,1] where R in 0..40, N in 1..300",
                "argmax axis=(-1) | f32[T,50257] -> i32[T,1] where T in 1..2"});
}

}  // namespace

void add_row_kernels(std::vector<Kernel>& kernels, Isa isa, const CpuTable& table) {
    Family family{isa, kernels};
    add_softmaxes(family, table);
    add_norms(family, table);
    add_reductions(family, table);
}

}  // namespace cairn::inline v0::kernels::cpu
