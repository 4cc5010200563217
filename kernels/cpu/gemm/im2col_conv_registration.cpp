#include "graph/types/isa_levels.hpp"
#include "kernels/cpu/gemm/im2col_conv_plan.hpp"
#include "kernels/cpu/gemm/table.hpp"
#include "kernels/cpu/matmul_operands.hpp"
#include "kernels/cpu/panel/layout.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"

#include <memory>
#include <span>
#include <string>

/// Registers im2col convolutions of images and windows, for the dtypes, strides and symbolic sizes that the kernels of
/// panel/conv_registration.cpp do not accept. Without them the windows would be materialised as a matrix, larger than
/// the image by a factor of the taps of a filter.
namespace cairn::kernels::cpu {
namespace {

bool is_of_image(const Problem& problem) { return problem.definition.starts_with("image_"); }

Refusal accepts_windows(const Problem& problem) {
    const std::size_t axes = problem.inputs[1].shape.size() - 2;
    if (!is_of_image(problem))
        return problem.inputs[0].shape.size() == 2 + 2 * axes ? Refusal() : "needs windows of each axis";
    if (problem.inputs[0].shape.size() != 2 + axes) return "needs filters of the axes of the image";
    if (problem.attributes.number("value") != 0) return "needs padding of zeros";
    for (const char* const name : {"kernel", "stride", "dilation"})
        for (const Dim& number : problem.attributes.dims(name))
            if (!provably_le(1, number)) return "needs windows of each axis";
    return {};
}

Refusal needs_dtype(const Problem& problem, std::span<const DType> dtypes) {
    const DType dtype = problem.outputs[0].dtype;
    std::string names;
    for (const DType each : dtypes) {
        if (each == dtype && problem.inputs[0].dtype == dtype && problem.inputs[1].dtype == dtype) return {};
        names += (names.empty() ? "" : " or ") + std::string(to_string(each));
    }
    return "needs " + names;
}

template <DType... dtypes>
Refusal accepts(const Problem& problem) {
    static constexpr DType all[] = {dtypes...};
    if (problem.inputs.size() != 2 || problem.outputs.size() != 1) return "a wrong number of operands";
    if (Refusal no = needs_plain(problem, 6); !no.empty()) return no;
    if (Refusal no = needs_dtype(problem, all); !no.empty()) return no;
    const std::size_t rank = problem.inputs[1].shape.size();
    if ((rank != 3 && rank != 4) || problem.outputs[0].shape.size() != rank)
        return "needs filters and a result with one axis or two";
    return accepts_windows(problem);
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    Im2colPlan plan{is_of_image(problem), {}};
    if (plan.is_image) plan.image = window_plan(problem);
    plan.image.dtype = problem.outputs[0].dtype;
    return std::make_shared<Im2colPlan>(plan);
}

Dim workspace(const Problem&, int threads) { return Dim(Im2colBlocks::bytes * threads); }

// Operations are counted at the f32 rate: dtypes with fewer elements per vector are less efficient.
double efficiency_of(DType dtype) {
    switch (dtype) {
        case DType::f64: return 0.3;
        case DType::i8:
        case DType::u8: return 0.4;
        case DType::i32: return 0.25;
        case DType::i64: return 0.09;
        default: return 0.5;
    }
}

Cost cost(const Problem& problem) {
    const TensorDesc &x = problem.inputs[0], &w = problem.inputs[1], &out = problem.outputs[0];
    const double results = static_cast<double>(element_count(out.shape).constant());
    double taps = 1, seen = 1;
    for (std::size_t axis = 1; axis < w.shape.size(); ++axis) taps *= static_cast<double>(w.shape[axis].constant());
    // Windows overlap: each element of the image is read from memory about once.
    for (std::size_t axis = 0; axis < w.shape.size(); ++axis) seen *= static_cast<double>(x.shape[axis].constant());
    const double filters = static_cast<double>(element_count(w.shape).constant());
    return {2 * taps * results, (results + seen + filters) * static_cast<double>(size_of(out.dtype)),
            efficiency_of(out.dtype)};
}

/// Coverage: dense images, strides and dilations, padding on some sides and larger than the image, groups and single
/// channels; more taps, positions and filters than one block takes; empty images and results. `#` is replaced by the
/// dtype.
struct Sample {
    const char *definition, *operands;
};
const Sample samples[] = {
    {"conv2d",
     "#[B,3,P,Q,3,3]:(3*(P+2)*(Q+2),(P+2)*(Q+2),Q+2,1,Q+2,1) #[5,3,3,3]:(40,9,3,1)! -> "
     "#[B,5,P,Q]:(5*P*Q,1,5*Q,5) where B in 0..2, P in 1..9, Q in 1..40"},
    {"conv2d",
     "#[2,5,P,Q,2,3]:(5*(2*P+1)*(2*Q+2),(2*P+1)*(2*Q+2),2*(2*Q+2),2,2*Q+2,1) #[7,5,2,3]:(30,1,15,5) -> "
     "#[2,7,P,Q]:(7*P*Q,1,7*Q,7) where P in 0..9, Q in 1..40"},
    {"conv2d",
     "#[2,6,P,Q,3,3]:(6*(P+2)*(Q+2),(P+2)*(Q+2),Q+2,1,Q+2,1) #[6,1,3,3]:(10,9,1,3)! -> "
     "#[2,6,P,Q]:(6*P*Q,1,6*Q,6) where P in 1..9, Q in 1..150"},
    {"conv2d", "#[1,C,3,3,3,3]:(25*C,25,5,1,5,1) #[200,C,3,3]! -> #[1,200,3,3] where C in 1..130"},
    {"conv1d", "#[2,5,P,3]:(5*(2*P+1),2*P+1,2,1) #[7,5,3]:(20,3,1)! -> #[2,7,P]:(7*P,1,7) where P in 0..600"},
    {"conv1d", "#[2,C,P,9]:(C*(P+8),P+8,1,1) #[30,C,9]! -> #[2,30,P] where C in 1..40, P in 1..70"},
    {"image_conv2d kernel=(3,3) padding=(1,1,1,1) stride=(1,1) dilation=(1,1) value=0",
     "#[B,C,H,W] #[5,C,3,3]! -> #[B,5,H,W]:(5*H*W,1,5*W,5) where B in 0..2, C in 1..40, H in 1..9, W in 1..40"},
    {"image_conv2d kernel=(2,3) padding=(0,3,4,0) stride=(3,1) dilation=(1,2) value=0",
     "#[1,4,3*P,Q+1]:(12*P*(Q+9),3*P*(Q+9),1,3*P) #[6,2,2,3]:(13,6,3,1) -> #[1,6,P+1,Q]:(9000,1,6*Q,6) where P in "
     "1..4, Q in 1..20"},
    {"image_conv2d kernel=(3,3) padding=(30,40,30,40) stride=(1,1) dilation=(30,40) value=0",
     "#[1,C,H,9] #[6,C,3,3] -> #[1,6,H,9] where C in 1..5, H in 1..40"},
    {"image_conv1d kernel=(5) padding=(4,0) stride=(2) dilation=(3) value=0",
     "#[2,C,2*L+7] #[15,C,5] -> #[2,15,L]:(15*L,1,15) where C in 1..60, L in 1..40"},
};

std::string with_dtype(std::string text, std::string_view dtype) {
    for (std::size_t at = text.find('#'); at != text.npos; at = text.find('#')) text.replace(at, 1, dtype);
    return text;
}

template <DType... dtypes>
void add(std::vector<Kernel>& kernels, FeatureSet needs, const std::string& name, Run run) {
    for (const std::string definition : {"image_conv2d", "conv2d", "image_conv1d", "conv1d"}) {
        Kernel made;
        made.id = "cpu.gemm_" + std::string(isa_level_name(needs)) + "." + definition + "." + name + "@1";
        made.definition = definition;
        made.needs = needs;
        made.accepts = accepts<dtypes...>;
        made.run = run;
        made.workspace = workspace;
        made.cost = cost;
        made.prepare = prepare;
        for (const DType dtype : {dtypes...})
            for (const Sample& sample : samples)
                if (const std::string of = sample.definition; of.substr(0, of.find(' ')) == definition)
                    made.samples.push_back(of + " | " + with_dtype(sample.operands, to_string(dtype)));
        kernels.push_back(std::move(made));
    }
}

}  // namespace

void add_im2col_convolutions(std::vector<Kernel>& kernels, FeatureSet needs, const GemmTable& table) {
    add<DType::f32, DType::f16, DType::bf16>(kernels, needs, "float", table.windows_float);
    add<DType::f64>(kernels, needs, "f64", table.windows_double);
    add<DType::i8, DType::u8>(kernels, needs, "bytes", table.windows_bytes);
    add<DType::i32>(kernels, needs, "i32", table.windows_i32);
    add<DType::i64>(kernels, needs, "i64", table.windows_i64);
}

}  // namespace cairn::kernels::cpu
