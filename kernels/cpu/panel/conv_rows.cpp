#include "kernels/cpu/panel/conv.hpp"
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

Refusal needs_f32(const Problem& problem) {
    for (const auto* side : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *side)
            if (tensor.dtype != DType::f32) return "needs f32";
    return {};
}

Refusal accepts_conv(const Problem& problem) {
    if (Refusal no = needs_plain(problem, 6); !no.empty()) return no;
    if (Refusal no = needs_f32(problem); !no.empty()) return no;
    const std::size_t inputs = problem.inputs.size();
    if ((inputs != 2 && inputs != 3) || problem.outputs.size() != 1) return "a wrong number of operands";
    const TensorDesc &x = problem.inputs[0], &w = problem.inputs[1], &out = problem.outputs[0];
    if (x.shape.size() != 6 || w.shape.size() != 4 || out.shape.size() != 4)
        return "needs windows with six axes, filters and a result with four";
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

Refusal accepts_product(const Problem& problem) {
    if (Refusal no = needs_plain(problem, 8); !no.empty()) return no;
    if (Refusal no = needs_f32(problem); !no.empty()) return no;
    if (problem.inputs.size() != 2 || problem.outputs.size() != 1) return "a wrong number of operands";
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
    return std::make_shared<ConvPlan>(ConvPlan{problem.definition == "matmul", problem.inputs.size() > 2});
}

/// Of each member a panel, and sums of all filters of a group.
Dim workspace(const Problem& problem, int threads) {
    const TensorDesc& out = problem.outputs[0];
    const Dim filters = problem.definition == "matmul" ? out.shape[out.shape.size() - 2] : out.shape[1];
    return (filters + Dim(taps_at_once)) * Dim(places_at_once * 4 * threads);
}

Cost cost_of_conv(const Problem& problem) {
    double taps = 1, places = static_cast<double>(element_count(problem.outputs[0].shape).constant());
    for (const std::size_t axis : {1, 2, 3}) taps *= static_cast<double>(problem.inputs[1].shape[axis].constant());
    // Windows overlap: each place of x is read once from memory, or so.
    const TensorDesc& x = problem.inputs[0];
    double seen = 4;
    for (std::size_t axis = 0; axis < 4; ++axis) seen *= static_cast<double>(x.shape[axis].constant());
    return {2 * taps * places, 4 * places + seen, 0.75};
}

Cost cost_of_product(const Problem& problem) { return product_cost(problem, 0.75); }

Kernel kernel(FeatureSet needs, const PanelTable& table, const std::string& name) {
    Kernel made;
    made.id = "cpu." + std::string(level_name(needs)) + (name == "matmul" ? ".conv." : ".") + name + ".f32@2";
    made.definition = name;
    made.needs = needs;
    made.run = table.conv2d;
    made.workspace = workspace;
    made.prepare = prepare;
    return made;
}

}  // namespace

void add_convolutions(std::vector<Kernel>& kernels, FeatureSet needs, const PanelTable& table) {
    Kernel conv = kernel(needs, table, "conv2d");
    conv.accepts = accepts_conv;
    conv.cost = cost_of_conv;
    // Windows of dense images, those that move by two, dilated ones, groups, one channel, many taps.
    conv.samples = {
        "conv2d | f32[B,3,P,Q,3,3]:(3*(P+2)*(Q+2),(P+2)*(Q+2),Q+2,1,Q+2,1) f32[O,3,3,3]! f32[O]! -> f32[B,O,P,Q] "
        "where B in 0..2, O in 1..30, P in 1..9, Q in 1..40",
        "conv2d | f32[2,5,P,Q,2,3]:(5*(2*P+1)*(2*Q+2),(2*P+1)*(2*Q+2),2*(2*Q+2),2,2*Q+2,1) f32[7,5,2,3]! -> "
        "f32[2,7,P,Q] where P in 1..9, Q in 1..40",
        "conv2d | f32[1,4,P,Q,3,3]:(4*(P+4)*(Q+4),(P+4)*(Q+4),Q+4,1,2*(Q+4),2) f32[6,4,3,3] f32[6] -> f32[1,6,P,Q] "
        "where P in 1..5, Q in 1..20",
        "conv2d | f32[2,6,P,Q,3,3]:(6*(P+2)*(Q+2),(P+2)*(Q+2),Q+2,1,Q+2,1) f32[6,1,3,3]! f32[6]! -> f32[2,6,P,Q] "
        "where P in 1..9, Q in 1..150",
        "conv2d | f32[2,6,P,Q,3,3]:(6*(2*P+1)*(2*Q+1),(2*P+1)*(2*Q+1),2*(2*Q+1),2,2*Q+1,1) f32[12,1,3,3]! -> "
        "f32[2,12,P,Q] where P in 1..9, Q in 1..80",
        "conv2d | f32[1,3,P,Q,3,2]:(3*(2*P+1)*2*Q,(2*P+1)*2*Q,4*Q,2,2*Q,1) f32[3,1,3,2]! -> f32[1,3,P,Q] "
        "where P in 1..3, Q in 3..15",
        "conv2d | f32[2,2,P,Q,2,2]:(2*(3*P)*(3*Q),3*P*3*Q,9*Q,3,3*Q,1) f32[2,1,2,2] -> f32[2,2,P,Q] "
        "where P in 1..5, Q in 1..40",
        "conv2d | f32[2,6,P,4,1,1] f32[15,2,1,1]! f32[15]! -> f32[2,15,P,4] where P in 1..9",
        "conv2d | f32[1,130,3,3,3,3]:(3250,25,5,1,5,1) f32[100,130,3,3]! f32[100]! -> f32[1,100,3,3]:(1000,10,3,1)"};
    kernels.push_back(std::move(conv));
    Kernel product = kernel(needs, table, "matmul");
    product.accepts = accepts_product;
    product.cost = cost_of_product;
    product.samples = {"matmul | f32[M,K] f32[K,N] -> f32[M,N] where M in 1..30, K in 0..40, N in 1..100",
                       "matmul | f32[B,1,M,33]:(0,0,40,1) f32[B,1,33,N] -> f32[B,1,M,N] where B in 1..3, M in 1..30, "
                       "N in 1..50",
                       "matmul | f32[2,60,1100]:(0,1100,1)! f32[2,1100,49]:(60000,50,1) -> f32[2,60,49]"};
    kernels.push_back(std::move(product));
}

}  // namespace cairn::inline v0::kernels::cpu
