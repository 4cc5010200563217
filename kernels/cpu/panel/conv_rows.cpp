#include "kernels/cpu/panel/conv.hpp"
#include "kernels/cpu/panel/layout.hpp"
#include "kernels/cpu/panel/table.hpp"
#include "kernels/cpu/product.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"
#include "types/levels.hpp"

#include <algorithm>
#include <memory>
#include <string>

/// The rows of convolutions, and of products whose left side is one matrix for all: a convolution of single places.
namespace cairn::inline v0::kernels::cpu {
namespace {

Refusal needs_one_dtype(const Problem& problem) {
    const DType dtype = problem.outputs[0].dtype;
    if (!is_panel_dtype(dtype)) return "needs f32, f16 or bf16";
    for (const TensorDesc& tensor : problem.inputs)
        if (tensor.dtype != dtype) return "needs one dtype";
    return {};
}

/// Filters, bias and result, whatever is filtered.
Refusal accepts_filters(const Problem& problem) {
    const std::size_t inputs = problem.inputs.size();
    if ((inputs != 2 && inputs != 3) || problem.outputs.size() != 1) return "a wrong number of operands";
    if (Refusal no = needs_plain(problem, 6); !no.empty()) return no;
    if (Refusal no = needs_one_dtype(problem); !no.empty()) return no;
    const TensorDesc &w = problem.inputs[1], &out = problem.outputs[0];
    if (w.shape.size() != 4 || out.shape.size() != 4) return "needs filters and a result with four axes";
    for (const std::size_t axis : {1, 2, 3})
        if (!w.shape[axis].is_constant() || w.shape[axis].constant() < 1) return "needs filters of constant sizes";
    Dim taps = 1;
    for (std::size_t axis = 4; axis-- > 1; taps = taps * w.shape[axis])
        if (!(w.shape[axis] == Dim(1)) && !(w.strides[axis] == taps)) return "needs filters without gaps";
    if (!is_last_contiguous(out)) return "needs a contiguous last axis";
    if (inputs == 3 && !(problem.inputs[2].shape.size() == 1 && problem.inputs[2].is_dense()))
        return "needs a contiguous bias";
    return {};
}

Refusal accepts_windows(const Problem& problem) {
    if (Refusal no = accepts_filters(problem); !no.empty()) return no;
    return problem.inputs[0].shape.size() == 6 ? Refusal() : "needs windows with six axes";
}

Refusal accepts_image_and_filters(const Problem& problem) {
    if (Refusal no = accepts_filters(problem); !no.empty()) return no;
    if (Refusal no = accepts_image(problem); !no.empty()) return no;
    if (problem.attributes.number("value") != 0) return "needs padding of zeros";
    return {};
}

/// Few filters that see one channel of an image, in few enough taps.
bool is_of_rows(const Problem& problem) {
    constexpr std::int64_t few_filters = 4;
    if (problem.definition != "image_conv2d") return false;
    const TensorDesc &x = problem.inputs[0], &w = problem.inputs[1];
    const ImagePlan plan = image_plan(problem);
    return w.shape[1] == Dim(1) && plan.rows.size <= most_taps && plan.columns.size <= most_taps &&
           provably_le(w.shape[0], x.shape[1] * Dim(few_filters - 1));
}

Refusal accepts_product(const Problem& problem) {
    if (Refusal no = needs_plain(problem, 8); !no.empty()) return no;
    if (problem.inputs.size() != 2 || problem.outputs.size() != 1) return "a wrong number of operands";
    if (Refusal no = needs_one_dtype(problem); !no.empty()) return no;
    if (problem.outputs[0].dtype != DType::f32) return "needs f32";
    const TensorDesc &w = problem.inputs[0], &x = problem.inputs[1], &out = problem.outputs[0];
    const std::size_t rank = out.shape.size();
    if (rank < 2 || w.shape.size() != rank || x.shape.size() != rank) return "needs matrices";
    int batches = 0;
    for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
        if (out.shape[axis] == Dim(1)) continue;
        ++batches;
        if (!(w.strides[axis] == Dim(0))) return "needs one left side for all of the batch";
    }
    if (batches > 1) return "needs one axis of the batch at most";
    if (!has_unit_stride(w, rank - 1) || !is_last_contiguous(out)) return "needs a contiguous last axis";
    if (!has_unit_stride(x, rank - 1)) return "needs rows of the right side";
    return {};
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    ConvPlan plan{ConvReads::image, problem.inputs.size() > 2, is_of_rows(problem), {}};
    if (problem.definition == "image_conv2d")
        plan.image = image_plan(problem);
    else
        plan.reads = problem.definition == "matmul" ? ConvReads::matrix : ConvReads::windows;
    plan.image.dtype = problem.outputs[0].dtype;
    return std::make_shared<ConvPlan>(plan);
}

Dim workspace(const Problem& problem, int threads) {
    const TensorDesc& out = problem.outputs[0];
    if (is_of_rows(problem)) return band_bytes(image_plan(problem), out.shape[3]) * Dim(threads);
    const Dim filters = problem.definition == "matmul" ? out.shape[out.shape.size() - 2] : out.shape[1];
    return block_floats(filters) * Dim(4 * threads);
}

Cost cost_of_conv(const Problem& problem) {
    const double places = static_cast<double>(element_count(problem.outputs[0].shape).constant());
    double taps = 1;
    for (const std::size_t axis : {1, 2, 3}) taps *= static_cast<double>(problem.inputs[1].shape[axis].constant());
    // Windows overlap: each place of x is read once from memory, or so.
    const TensorDesc& x = problem.inputs[0];
    double seen = 1;
    for (std::size_t axis = 0; axis < 4; ++axis) seen *= static_cast<double>(x.shape[axis].constant());
    return {2 * taps * places, (places + seen) * static_cast<double>(size_of(x.dtype)), 0.75};
}

Cost cost_of_product(const Problem& problem) { return product_cost(problem, 0.75); }

Kernel kernel(FeatureSet needs, const PanelTable& table, const std::string& definition, const std::string& id) {
    Kernel made;
    made.id = "cpu." + std::string(level_name(needs)) + "." + id;
    made.definition = definition;
    made.needs = needs;
    made.run = table.conv2d;
    made.workspace = workspace;
    made.prepare = prepare;
    return made;
}

// Windows of dense images, those that move by two, dilated ones, groups, one channel, many taps.
std::vector<std::string> windows_samples() {
    return {
        "conv2d | f32[B,3,P,Q,3,3]:(3*(P+2)*(Q+2),(P+2)*(Q+2),Q+2,1,Q+2,1) f32[O,3,3,3]! f32[O]! -> f32[B,O,P,Q] "
        "where B in 0..2, O in 1..30, P in 1..9, Q in 1..40",
        "conv2d | f32[2,5,P,Q,2,3]:(5*(2*P+1)*(2*Q+2),(2*P+1)*(2*Q+2),2*(2*Q+2),2,2*Q+2,1) f32[7,5,2,3]! -> "
        "f32[2,7,P,Q] where P in 1..9, Q in 1..40",
        "conv2d | f32[1,4,P,Q,3,3]:(4*(P+4)*(Q+4),(P+4)*(Q+4),Q+4,1,2*(Q+4),2) f32[6,4,3,3] f32[6] -> f32[1,6,P,Q] "
        "where P in 1..5, Q in 1..20",
        "conv2d | f32[2,6,P,Q,3,3]:(6*(P+2)*(Q+2),(P+2)*(Q+2),Q+2,1,Q+2,1) f32[6,1,3,3]! f32[6]! -> f32[2,6,P,Q] "
        "where P in 1..9, Q in 1..150",
        "conv2d | f16[2,6,P,4,1,1] f16[15,2,1,1]! f16[15]! -> f16[2,15,P,4] where P in 1..9",
        "conv2d | f32[1,130,3,3,3,3]:(3250,25,5,1,5,1) f32[100,130,3,3]! f32[100]! -> f32[1,100,3,3]:(1000,10,3,1)"};
}

/// Of each dtype: padded on all sides and on some, by more than the image and the filter are large, of strides and
/// dilations, groups, one channel in few and in many filters, images of one place and of none, many taps.
std::vector<std::string> image_samples(const std::string& dtype) {
    const auto sample = [&](const std::string& windows, const std::string& x, const std::string& w,
                            const std::string& bias, const std::string& out) {
        return "image_conv2d " + windows + " value=0 | " + dtype + x + " " + dtype + w + "! " +
               (bias.empty() ? bias : dtype + bias + "! ") + "-> " + dtype + out;
    };
    const auto windows = [](const std::string& kernel, const std::string& padding, const std::string& stride,
                            const std::string& dilation) {
        return "kernel=(" + kernel + ") padding=(" + padding + ") stride=(" + stride + ") dilation=(" + dilation + ")";
    };
    const std::string same = windows("3,3", "1,1,1,1", "1,1", "1,1"), half = windows("3,3", "1,1,1,1", "2,2", "1,1");
    return {
        sample(same, "[B,3,H,W]", "[O,3,3,3]", "[O]", "[B,O,H,W] where B in 0..2, O in 4..30, H in 1..9, W in 1..40"),
        sample(half, "[2,5,2*P,2*Q]", "[7,5,3,3]", "", "[2,7,P,Q] where P in 1..9, Q in 1..40"),
        sample(windows("2,3", "0,3,4,0", "3,1", "1,2"), "[1,4,3*P,Q+1]:(12*P*(Q+9),3*P*(Q+9),Q+9,1)", "[6,2,2,3]",
               "[6]", "[1,6,P+1,Q]:(6000,900,Q+1,1) where P in 1..4, Q in 1..20"),
        sample(windows("3,3", "0,0,0,0", "1,1", "2,2"), "[1,4,P+4,Q+4]", "[6,4,3,3]", "[6]",
               "[1,6,P,Q] where P in 1..5, Q in 1..20"),
        sample(windows("2,2", "5,4,5,4", "3,4", "1,1"), "[1,2,1,1]", "[4,2,2,2]", "[4]", "[1,4,4,2]"),
        sample(windows("3,3", "2,1,2,1", "1,1", "1,1"), "[2,2,0,W]", "[4,2,3,3]", "[4]", "[2,4,2,W] where W in 1..9"),
        sample(same, "[2,6,H,W]", "[6,1,3,3]", "[6]", "[2,6,H,W] where H in 1..40, W in 1..90"),
        sample(half, "[2,6,2*P,2*Q]", "[12,1,3,3]", "", "[2,12,P,Q] where P in 1..20, Q in 1..80"),
        sample(half, "[1,2,2*P,2*Q]", "[12,1,3,3]", "", "[1,12,P,Q] where P in 1..9, Q in 1..40"),
        sample(windows("3,2", "2,0,0,1", "1,3", "2,1"), "[1,3,P+2,3*Q]", "[3,1,3,2]", "[3]",
               "[1,3,P,Q] where P in 1..9, Q in 1..40"),
        sample(same, "[1,130,3,3]", "[100,130,3,3]", "[100]", "[1,100,3,3]:(1000,10,3,1)"),
    };
}

}  // namespace

void add_convolutions(std::vector<Kernel>& kernels, FeatureSet needs, const PanelTable& table) {
    Kernel image = kernel(needs, table, "image_conv2d", "image_conv2d@1");
    image.accepts = accepts_image_and_filters;
    image.cost = cost_of_conv;
    for (const char* const dtype : {"f32", "f16", "bf16"})
        for (std::string& sample : image_samples(dtype)) image.samples.push_back(std::move(sample));
    kernels.push_back(std::move(image));
    Kernel windows = kernel(needs, table, "conv2d", "conv2d@3");
    windows.accepts = accepts_windows;
    windows.cost = cost_of_conv;
    windows.samples = windows_samples();
    kernels.push_back(std::move(windows));
    Kernel product = kernel(needs, table, "matmul", "conv.matmul.f32@2");
    product.accepts = accepts_product;
    product.cost = cost_of_product;
    product.samples = {"matmul | f32[M,K] f32[K,N] -> f32[M,N] where M in 1..30, K in 0..40, N in 1..100",
                       "matmul | f32[B,1,M,33]:(0,0,40,1) f32[B,1,33,N] -> f32[B,1,M,N] where B in 1..3, M in 1..30, "
                       "N in 1..50",
                       "matmul | f32[2,60,1100]:(0,1100,1)! f32[2,1100,49]:(60000,50,1) -> f32[2,60,49]"};
    kernels.push_back(std::move(product));
}

}  // namespace cairn::inline v0::kernels::cpu
