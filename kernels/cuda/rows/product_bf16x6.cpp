#include "kernels/cuda/generate/kernel_source.hpp"
#include "kernels/cuda/generate/problem_facts.hpp"
#include "kernels/cuda/generate/product_text.hpp"
#include "kernels/cuda/generate/size_text.hpp"
#include "kernels/cuda/rows/rows.hpp"
#include "kernels/partial_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

/// Products of f32 by six products of bf16 parts on tensor cores, five with b in f16 and three with b in bf16
/// (kernels/cuda/text/product_bf16x6.cuh).
namespace cairn::kernels::cuda {
namespace {

constexpr int threads = 256;
constexpr std::int64_t tile = 64, few_rows = 16;

/// Parts of the depth with which a product in partial sums fills the device, each of at least 256 elements.
std::int64_t parts_of(const ProductView& view) {
    constexpr std::int64_t filling_blocks = 264, most_parts = 8, least_depth = 256;
    const auto tiles = [](const Dim& size) {
        return std::max<std::int64_t>((size.upper_bound() + tile - 1) / tile, 1);
    };
    const std::int64_t blocks = tiles(view.rows) * tiles(view.columns) *
                                std::max<std::int64_t>(view.batches.upper_bound(), 1),
                       most = std::clamp<std::int64_t>(view.depth.upper_bound() / least_depth, 1, most_parts);
    return std::clamp<std::int64_t>(filling_blocks / blocks, 1, most);
}

KernelCode code(const Problem& problem) {
    const ProductView view = product_view(problem);
    const std::int64_t parts = part_count(problem.outputs[0]);
    const Dim down = ceildiv(view.rows, tile), across = ceildiv(view.columns, tile);
    KernelCode code;
    code.entry = entry_of("product_bf16x6", problem);
    code.text = kernel_begin(problem, code.entry, threads, 2) +
                fmt::format(
                    "    const i64 down = {}, across = {}, blocks = down * across * {};\n"
                    "    const i64 part = blockIdx.x / larger(blocks, 1);\n"
                    "    if (part >= {} || blocks == 0) return;\n"
                    "    const i64 at = blockIdx.x - part * blocks, batch = at / (down * across);\n",
                    size_text(down), size_text(across), size_text(view.batches), parts) +
                product_operands_text(problem, view) + (parts > 1 ? depth_part_text(view, parts) : std::string()) +
                fmt::format("    product_bf16x6<{0}>(p, at % down * {1}, at / down % across * {1}, a_row, out);\n}}\n",
                            view.b_is_along_depth, tile);
    code.grid = {blocks_for(down * across * view.batches * Dim(parts), 1)};
    code.block = threads;
    return code;
}

// The parts of few rows are those of `product_rows`.
std::string output_layout(const Problem& problem, int) {
    if (!product_refusal(problem).empty() || !is_sum_with_product(problem)) return {};
    const ProductView view = product_view(problem);
    return layout_of_parts(view.rows.upper_bound() > few_rows ? parts_of(view) : 1);
}

// Tiles are computed whole, by all products of parts.
Cost cost(const Problem& problem) {
    const ProductView view = product_view(problem);
    const auto whole = [](const Dim& size) {
        return std::ceil(static_cast<double>(size.constant()) / static_cast<double>(tile));
    };
    const double rows = static_cast<double>(view.rows.constant()),
                 blocks = whole(view.rows) * whole(view.columns) * static_cast<double>(view.batches.constant()) *
                          static_cast<double>(part_count(problem.outputs[0]));
    Cost cost = product_cost(problem, 0.5);
    cost.arithmetic = Arithmetic::bf16;
    const double products = view.b_dtype == DType::f32 ? 6 : view.b_dtype == DType::f16 ? 5 : 3;
    cost.flops *= products * whole(view.rows) * static_cast<double>(tile) / std::max(rows, 1.0) * idle_factor(blocks);
    return cost;
}

std::vector<std::string> samples(bool is_fused) {
    if (!is_fused)
        return {"matmul | f32[T,70] f32[70,65] -> f32[T,65] where T in 0..140",
                "matmul | f32[2,33,K]:(1,2,66) f32[2,K,40]:(40*K,1,K) -> f32[2,33,40] where K in 0..60",
                "matmul | f32[T,K] f32[K,40] -> f32[T,40]@partial_sums.3 where T in 0..70, K in 0..900",
                "matmul | f32[T,72] f16[72,64]:(1,72) -> f32[T,64] where T in 0..70",
                "matmul | f32[T,70] bf16[70,65] -> f32[T,65] where T in 0..70",
                "matmul | f32[20,40] f16[40,64]! -> f32[20,64]",
                "matmul | f32[20,64] bf16[64,36]:(1,64)! -> f32[20,36]"};
    return {
        "fused {3=matmul(0,1):f32 4=add(3,2):f32 5=gelu(4):f32} | f32[2,S,40] f32[2,40,33] f32[2,S,33]:(0,0,1)! -> "
        "f32[2,S,33] results (5) where S in 0..70",
        "fused {3=matmul(0,1):f32 4=add(3,2):f32 5=gelu(4):f32} | f32[1,S,768] f32[1,768,3072]:(0,1,768)! "
        "f32[1,S,3072]:(0,0,1)! -> f32[1,S,3072] results (5) where S in 1..512",
        "fused columns=(0,768,1536) {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,T,768] f32[1,768,2304]:(0,2304,1)! "
        "f32[1,T,2304]:(0,0,1)! -> f32[1,T,2304] f32[1,T,12,64]:(1,64,65536,1) f32[1,T,12,64]:(1,64,65536,1) results "
        "(4,4,4) where T in 1..1024",
        "fused {4=matmul(0,1):f32 5=add(4,2):f32 6=add(3,5):f32} | f32[1,T,3072] f32[1,3072,768]:(0,768,1)! "
        "f32[1,T,768]:(0,0,1)! f32[1,T,768]@partial_sums.5 -> f32[1,T,768]@partial_sums.8 results (6) where T in "
        "1..128"};
}

}  // namespace

void add_product_bf16x6(std::vector<Kernel>& kernels) {
    for (const bool is_fused : {true, false}) {
        Kernel kernel = cuda_row("product_bf16x6", is_fused ? "fused" : "matmul", "f32", product_refusal, code, cost,
                                 samples(is_fused));
        kernel.output_layout = output_layout;
        kernel.widened_inputs = {1};
        if (is_fused) {
            // An element of a further input is read by the thread that writes the same element of the output.
            kernel.in_place = {{2, 0}, {3, 0}, {4, 0}, {5, 0}};
            kernel.layout_inputs = partial_sums_inputs(4, 2);
        }
        kernels.push_back(std::move(kernel));
    }
}

}  // namespace cairn::kernels::cuda
