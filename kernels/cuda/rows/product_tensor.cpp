#include "kernels/cuda/generate/kernel_source.hpp"
#include "kernels/cuda/generate/problem_facts.hpp"
#include "kernels/cuda/generate/product_text.hpp"
#include "kernels/cuda/generate/size_text.hpp"
#include "kernels/cuda/rows/rows.hpp"
#include "kernels/cuda/rows/tensor_format.hpp"
#include "kernels/partial_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

/// Products of f32 on tensor cores (kernels/cuda/text/product_tensor.cuh): exact ones, by six products of bf16 parts,
/// five with b in f16 and three with b in bf16; for tolerances, those of two f16 parts and of elements rounded to f16.
/// Each by a block for a tile, or by the blocks of a cluster, which share the depth where there are few tiles.
namespace cairn::kernels::cuda {
namespace {

constexpr int threads = 256, cluster = 8;
constexpr std::int64_t tile_rows = 64;
constexpr std::int64_t resident_blocks = resident_clusters * cluster;

/// Stated error of a product; 0: exact.
constexpr double error_of(TensorFormat format) {
    return format == TensorFormat::f16 ? 0x1p-11 : format == TensorFormat::f16x3 ? 0x1p-21 : 0;
}

/// Tiles of a problem, and their dynamic shared memory (TensorPlan in kernels/cuda/text/product_tensor.cuh).
struct Tiles {
    std::int64_t columns, slice, shared_bytes;
};

Tiles tiles_of(const ProductView& view, TensorFormat format) {
    // What a thread has loaded of a slice is in registers, and where 16 bytes cannot be loaded at once, places too.
    const bool is_wide = view.a_is_wide && view.b_is_wide;
    Tiles tiles{};
    tiles.columns = is_wide && view.columns.upper_bound() > 64 ? 128 : 64;
    tiles.slice = format != TensorFormat::f16 || !is_wide || view.b_dtype == DType::f32 ? 32 : 64;
    const std::int64_t a = line_bytes(format, DType::f32, tile_rows, tiles.slice),
                       b = view.b_is_along_depth ? line_bytes(format, view.b_dtype, tiles.columns, tiles.slice)
                                                 : line_bytes(format, view.b_dtype, tiles.slice, tiles.columns),
                       plain = 4 * (tile_rows * (tiles.columns + 4) + 2 * 2 * 64 * (16 + 4));
    tiles.shared_bytes = std::max(2 * (a + b), plain);
    return tiles;
}

/// As depth_splits() in the text.
std::int64_t splits_of(double tiles, double depth) {
    std::int64_t splits = cluster;
    while (splits > 1 &&
           (tiles * static_cast<double>(splits) > resident_blocks || depth < 128 * static_cast<double>(splits)))
        splits /= 2;
    return splits;
}

std::string family_of(TensorFormat format, bool is_split) {
    return fmt::format("product_{}{}", name_of(format), is_split ? "_split" : "");
}

template <TensorFormat format, bool is_split>
KernelCode code(const Problem& problem) {
    const ProductView view = product_view(problem);
    const Tiles tiles = tiles_of(view, format);
    const Dim down = ceildiv(view.rows, tile_rows), across = ceildiv(view.columns, tiles.columns);
    KernelCode code;
    code.entry = entry_of(family_of(format, is_split), problem);
    code.text =
        kernel_begin(problem, code.entry, threads, 1) +
        fmt::format("    const i64 down = {}, across = {}, tiles = down * across * {};\n", size_text(down),
                    size_text(across), size_text(view.batches)) +
        (is_split
             ? fmt::format("    const int splits = depth_splits(tiles, {}, {});\n"
                           "    if (i64(blockIdx.x - blockIdx.x % {}) >= tiles * splits) return;\n"
                           "    const bool has_tile = blockIdx.x / splits < tiles;\n"
                           "    const i64 at = has_tile ? blockIdx.x / splits : 0, batch = at / (down * across);\n",
                           size_text(view.depth), resident_blocks, cluster)
             : "    if (blockIdx.x >= tiles) return;\n"
               "    const i64 at = blockIdx.x, batch = at / (down * across);\n") +
        product_operands_text(problem, view) +
        fmt::format(
            "    tensor_product{}<{}, {}, {}, {}, {}, {}>(\n"
            "        p, at % down * {}, at / down % across * {}, a_row, out{});\n}}\n",
            is_split ? "_split" : "", type_of(format, tiles.slice), tiles.columns, view.b_is_along_depth,
            view.a_is_wide, view.b_is_wide, tiles.shared_bytes, tile_rows, tiles.columns,
            is_split ? ", splits, has_tile" : "");
    const Dim all = down * across * view.batches;
    const Dim split = max(all, min(all * Dim(cluster), resident_blocks));
    code.grid = {is_split ? ceildiv(max(split, 1), cluster) * Dim(cluster) : blocks_for(all, 1)};
    code.cluster = is_split ? cluster : 1;
    code.block = threads;
    code.shared_bytes = tiles.shared_bytes;
    return code;
}

template <TensorFormat format>
Refusal accepts(const Problem& problem) {
    for (const TensorDesc& output : problem.outputs) {
        if (is_in_partial_sums(output)) return "writes whole sums";
        if (error_of(format) > 0 && output.dtype != DType::f32) return "needs outputs of f32";
    }
    if (error_of(format) > 0)
        for (const Step& step : problem.body)
            if (step.dtype != DType::f32) return "needs steps of f32";
    return product_refusal(problem);
}

// Tiles are computed whole, by all products of parts.
template <TensorFormat format, bool is_split>
Cost cost(const Problem& problem) {
    const ProductView view = product_view(problem);
    const Tiles tiles = tiles_of(view, format);
    const auto whole = [](const Dim& size, std::int64_t tile) {
        return std::ceil(static_cast<double>(size.constant()) / static_cast<double>(tile));
    };
    const double rows = static_cast<double>(view.rows.constant()),
                 columns = static_cast<double>(view.columns.constant()), down = whole(view.rows, tile_rows),
                 across = whole(view.columns, tiles.columns),
                 count = down * across * static_cast<double>(view.batches.constant()),
                 depth = static_cast<double>(view.depth.constant());
    const double splits = is_split ? static_cast<double>(splits_of(count, depth)) : 1;
    const bool is_rounded = format == TensorFormat::f16;
    Cost cost = product_cost(problem, is_rounded ? 0.25 : 0.5);
    cost.arithmetic = arithmetic_of(format);
    const auto products = static_cast<double>(products_of(format, DType::f32, view.b_dtype));
    cost.flops *= products * down * static_cast<double>(tile_rows) / std::max(rows, 1.0) * across *
                  static_cast<double>(tiles.columns) / std::max(columns, 1.0) * idle_factor(count * splits);
    // In a cluster, blocks wait for one another and read sums of all.
    cost.steps = splits > 1 ? 8 : 6;
    return cost;
}

std::vector<std::string> samples(bool is_fused) {
    if (!is_fused)
        return {"matmul | f32[T,70] f32[70,65] -> f32[T,65] where T in 0..140",
                "matmul | f32[2,33,K]:(1,2,66) f32[2,K,40]:(40*K,1,K) -> f32[2,33,40] where K in 0..60",
                "matmul | f32[T,K] f32[K,140] -> f32[T,140] where T in 0..70, K in 0..900",
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
        "f32[1,T,768]:(0,0,1)! f32[1,T,768]@partial_sums.5 -> f32[1,T,768] results (6) where T in 1..128"};
}

/// Some of the samples, for kernels that have most of their code in common with the first.
std::vector<std::string> some_samples(bool is_fused) {
    const std::vector<std::string> all = samples(is_fused);
    return is_fused ? std::vector{all.front(), all.back()} : std::vector{all[2], all[3], all[6]};
}

template <TensorFormat format, bool is_split>
void add_rows(std::vector<Kernel>& kernels) {
    for (const bool is_fused : {true, false}) {
        Kernel kernel =
            cuda_row(family_of(format, is_split), is_fused ? "fused" : "matmul", "f32", accepts<format>,
                     code<format, is_split>, cost<format, is_split>,
                     format == TensorFormat::bf16x6 && !is_split ? samples(is_fused) : some_samples(is_fused));
        if (error_of(format) > 0) kernel.error = [](const Problem&) { return error_of(format); };
        if (is_split) kernel.compute_capability = 90;  // clusters
        kernel.widened_inputs = {1};
        if (is_fused) {
            // An element of a further input is read by the thread that writes the same element of the output.
            kernel.in_place = {{2, 0}, {3, 0}, {4, 0}, {5, 0}};
            kernel.layout_inputs = partial_sums_inputs(4, 2);
        }
        kernels.push_back(std::move(kernel));
    }
}

}  // namespace

void add_product_tensor(std::vector<Kernel>& kernels) {
    add_rows<TensorFormat::bf16x6, false>(kernels);
    add_rows<TensorFormat::bf16x6, true>(kernels);
    add_rows<TensorFormat::f16x3, false>(kernels);
    add_rows<TensorFormat::f16x3, true>(kernels);
    add_rows<TensorFormat::f16, false>(kernels);
    add_rows<TensorFormat::f16, true>(kernels);
}

}  // namespace cairn::kernels::cuda
