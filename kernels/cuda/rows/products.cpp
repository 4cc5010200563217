#include "kernels/cuda/generate/kernel_source.hpp"
#include "kernels/cuda/generate/problem_facts.hpp"
#include "kernels/cuda/generate/product_text.hpp"
#include "kernels/cuda/generate/size_text.hpp"
#include "kernels/cuda/rows/rows.hpp"
#include "kernels/partial_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

/// Products of f32, with b in f32, f16 or bf16, alone or with a body: for few rows a kernel that reads b once, and one
/// in tiles for any number, large ones or, so that there are enough for all multiprocessors, small ones.
namespace cairn::kernels::cuda {
namespace {

constexpr int threads = 256;
constexpr std::int64_t most_few_rows = 16;

/// How a product with few rows is split among blocks.
struct FewRowsPlan {
    int rows;   ///< at most
    int part;   ///< of the depth in shared memory at a time
    int width;  ///< columns of a block
    int split;  ///< by columns: threads side by side; by depth: columns of a warp
    int each;   ///< by columns: columns of a thread
};

/// `parts`: parts of the depth that are computed by blocks of their own.
FewRowsPlan few_rows_plan(const ProductView& view, std::int64_t parts) {
    constexpr std::int64_t shared_elements = 8192, most_sums = 384;
    const std::int64_t enough_blocks = std::max<std::int64_t>(120 / parts, 1);
    FewRowsPlan plan{};
    plan.rows = static_cast<int>(std::max<std::int64_t>(view.rows.upper_bound(), 1));
    const std::int64_t part = shared_elements / plan.rows / 128 * 128,
                       depth = (view.depth.upper_bound() + 127) / 128 * 128;
    plan.part = static_cast<int>(std::clamp<std::int64_t>(depth, 128, part));
    const std::int64_t columns = view.columns.upper_bound();
    if (view.b_is_along_depth) {
        plan.split = columns >= 4096 && plan.rows <= 8 ? 4 : 1;
        plan.width = 8 * plan.split;
        return plan;
    }
    // 16 bytes of b. With more rows, the sums of 8 columns would not fit into the registers.
    plan.each = view.b_dtype != DType::f32 && plan.rows <= 8 ? 8 : 4;
    plan.split = 32;
    while (plan.split > 2 &&
           (columns < plan.split * plan.each * enough_blocks || plan.split * plan.each * plan.rows > most_sums))
        plan.split /= 2;
    plan.width = plan.each * plan.split;
    return plan;
}

/// Parts of the depth with which a product in partial sums fills the device, each of at least 128 elements.
std::int64_t few_rows_parts(const ProductView& view) {
    constexpr std::int64_t filling_blocks = 264, most_parts = 8, strip = 32, least_depth = 128;
    const std::int64_t blocks = (view.columns.upper_bound() + strip - 1) / strip * view.batches.upper_bound(),
                       most = std::clamp<std::int64_t>(view.depth.upper_bound() / least_depth, 1, most_parts);
    return std::clamp<std::int64_t>(filling_blocks / std::max<std::int64_t>(blocks, 1), 1, most);
}

KernelCode few_rows_code(const Problem& problem) {
    const ProductView view = product_view(problem);
    const std::int64_t parts = part_count(problem.outputs[0]);
    const FewRowsPlan plan = few_rows_plan(view, parts);
    const Dim strips = ceildiv(view.columns, plan.width);
    KernelCode code;
    code.entry = entry_of("product_rows", problem);
    code.text =
        kernel_begin(problem, code.entry, threads, 2) +
        fmt::format(
            "    const i64 strips = {0}, blocks = strips * {1}, part = blockIdx.x / larger(blocks, 1);\n"
            "    if (part >= {2} || blocks == 0) return;\n"
            "    const i64 at = blockIdx.x - part * blocks, batch = at / strips;\n",
            size_text(strips), size_text(view.batches), parts) +
        product_operands_text(problem, view) +
        (parts > 1 ? fmt::format("    restrict_depth<128>(p, part, {});\n", parts) : std::string()) +
        fmt::format("    {}<{}, {}, {}{}>(p, at % strips * {}, a_row, out);\n}}\n",
                    view.b_is_along_depth ? "product_rows_by_depth" : "product_rows_by_columns", plan.rows, plan.part,
                    plan.split, view.b_is_along_depth ? "" : fmt::format(", {}", plan.each), plan.width);
    code.grid = {blocks_for(strips * view.batches * Dim(parts), 1)};
    code.block = threads;
    return code;
}

Refusal few_rows_accepts(const Problem& problem) {
    if (Refusal no = product_refusal(problem); !no.empty()) return no;
    const ProductView view = product_view(problem);
    if (view.rows.upper_bound() > most_few_rows) return fmt::format("needs at most {} rows", most_few_rows);
    if (!view.b_is_along_depth && !(view.b_column_stride == Dim(1)))
        return "needs a contiguous axis of the second input";
    return {};
}

std::string few_rows_layout(const Problem& problem, int) {
    if (!few_rows_accepts(problem).empty() || !is_sum_with_product(problem)) return {};
    return layout_of_parts(few_rows_parts(product_view(problem)));
}

template <std::int64_t tile>
KernelCode tile_code(const Problem& problem) {
    const ProductView view = product_view(problem);
    const Dim down = ceildiv(view.rows, tile), across = ceildiv(view.columns, tile);
    KernelCode code;
    code.entry = entry_of(fmt::format("product_tile{}", tile), problem);
    // Neighbouring blocks read the same columns of b, which is mostly the larger operand.
    code.text = kernel_begin(problem, code.entry, threads, 2) +
                fmt::format(
                    "    const i64 down = {}, across = {}, at = blockIdx.x;\n"
                    "    if (at >= down * across * {}) return;\n"
                    "    const i64 batch = at / (down * across);\n",
                    size_text(down), size_text(across), size_text(view.batches)) +
                product_operands_text(problem, view) +
                fmt::format("    product_tile<{}, {}>(p, at % down * {}, at / down % across * {}, a_row, out);\n}}\n",
                            tile, view.b_is_along_depth, tile, tile);
    code.grid = {blocks_for(down * across * view.batches, 1)};
    code.block = threads;
    return code;
}

Refusal tile_accepts(const Problem& problem) {
    return !problem.outputs.empty() && is_in_partial_sums(problem.outputs[0]) ? "writes no partial sums"
                                                                              : product_refusal(problem);
}

// Few blocks do not have enough loads in flight for the whole bandwidth.
Cost few_rows_cost(const Problem& problem) {
    const ProductView view = product_view(problem);
    const std::int64_t parts = part_count(problem.outputs[0]);
    const FewRowsPlan plan = few_rows_plan(view, parts);
    Cost cost = product_cost(problem, 0.25);
    const std::int64_t blocks = (ceildiv(view.columns, plan.width) * view.batches).constant() * parts;
    cost.bytes *= idle_factor(static_cast<double>(blocks));
    // A block loads rows of a, then columns of b, then sums among its threads.
    cost.steps = 5;
    for (const TensorDesc& input : problem.inputs) cost.steps += steps_of_parts(input);
    return cost;
}
// Tiles are computed whole. Small ones read shared memory more often.
template <std::int64_t tile>
Cost tile_cost(const Problem& problem) {
    const ProductView view = product_view(problem);
    const auto whole = [](const Dim& size) {
        return std::ceil(static_cast<double>(size.constant()) / static_cast<double>(tile));
    };
    const double rows = static_cast<double>(view.rows.constant()),
                 blocks = whole(view.rows) * whole(view.columns) * static_cast<double>(view.batches.constant());
    Cost cost = product_cost(problem, tile == 64 ? 0.4 : 0.2);
    cost.flops *= whole(view.rows) * static_cast<double>(tile) / std::max(rows, 1.0) * idle_factor(blocks);
    cost.steps = 6;
    return cost;
}

std::vector<std::string> few_rows_samples(bool is_fused) {
    if (!is_fused)
        return {"matmul | f32[1,768] f32[768,50257]:(1,768)! -> f32[1,50257]",
                "matmul | f32[T,70] f32[70,65] -> f32[T,65] where T in 0..9",
                "matmul | f32[3,2,40] f32[3,40,36] -> f32[3,2,36]",
                "matmul | f32[12,70] f32[70,33]:(1,70) -> f32[12,33]",
                "matmul | f32[16,70] f32[70,33]:(1,70) -> f32[16,33]",
                "matmul | f32[8,70] f32[70,5000]:(1,70) -> f32[8,5000]",
                "matmul | f32[T,K] f32[K,40] -> f32[T,40]@partial_sums.3 where T in 0..4, K in 0..900",
                "matmul | f32[1,768] f16[768,50257]:(1,768)! -> f32[1,50257]",
                "matmul | f32[T,72] bf16[72,65] -> f32[T,65] where T in 0..9",
                "matmul | f32[16,72] f16[72,5000]! -> f32[16,5000]",
                "matmul | f32[8,72] bf16[72,33]:(1,72) -> f32[8,33]",
                "matmul | f32[7,70] f16[70,33]:(1,70) -> f32[7,33]",
                "matmul | f32[1,768] f32[768,768]:(1,768)! -> f32[1,768]@partial_sums.2"};
    return {
        "fused {3=matmul(0,1):f32 4=add(3,2):f32 5=gelu_tanh(4):f32} | f32[1,1,768] f32[768,3072]! "
        "f32[1,1,3072]:(0,0,1)! -> f32[1,1,3072] results (5)",
        "fused {3=matmul(0,1):f32 4=add(3,2):f32 5=gelu_tanh(4):f32} | f32[1,8,768] bf16[768,3072]! "
        "f32[1,8,3072]:(0,0,1)! -> f32[1,8,3072] results (5)",
        "fused columns=(0,768,1536) {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,T,768] f32[1,768,2304]:(0,2304,1)! "
        "f32[1,T,2304]:(0,0,1)! -> f32[1,T,2304] f32[1,T,12,64]:(1,64,65536,1) f32[1,T,12,64]:(1,64,65536,1) results "
        "(4,4,4) where T in 1..12",
        "fused {4=matmul(0,1):f32 5=add(4,2):f32 6=add(3,5):f32} | f32[1,T,3072] f32[1,3072,768]:(0,768,1)! "
        "f32[1,T,768]:(0,0,1)! f32[1,T,768] -> f32[1,T,768] results (6) where T in 1..16",
        "fused {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,768] f32[768,2]:(1,768)! f32[1,2]:(0,1)! -> f32[1,2] "
        "results (4)",
        "fused {4=matmul(0,1):f32 5=add(4,2):f32 6=add(3,5):f32} | f32[1,T,3072] f32[1,3072,768]:(0,768,1)! "
        "f32[1,T,768]:(0,0,1)! f32[1,T,768]@partial_sums.5 -> f32[1,T,768]@partial_sums.8 results (6) where T in 1..4"};
}

std::vector<std::string> tile_samples(bool is_fused) {
    if (!is_fused)
        return {"matmul | f32[T,70] f32[70,65] -> f32[T,65] where T in 0..140",
                "matmul | f32[2,12,T,64]:(768*T,64,768,1) f32[2,12,64,T]:(768*T,64,1,768) -> f32[2,12,T,T] where T in "
                "1..200",
                "matmul | f32[2,33,K]:(1,2,66) f32[2,K,40]:(40*K,1,K) -> f32[2,33,40] where K in 0..60",
                "matmul | f32[T,72] f16[72,66] -> f32[T,66] where T in 0..70",
                "matmul | f32[T,72] bf16[72,64]:(1,72) -> f32[T,64] where T in 0..70"};
    return {
        "fused {3=matmul(0,1):f32 4=add(3,2):f32 5=gelu(4):f32} | f32[1,S,768] f32[1,768,3072]:(0,1,768)! "
        "f32[1,S,3072]:(0,0,1)! -> f32[1,S,3072] results (5) where S in 1..512",
        "fused columns=(0,768,1536) {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,T,768] f32[1,768,2304]:(0,2304,1)! "
        "f32[1,T,2304]:(0,0,1)! -> f32[1,T,2304] f32[1,T,12,64]:(1,64,65536,1) f32[1,T,12,64]:(1,64,65536,1) results "
        "(4,4,4) where T in 1..1024",
        "fused {4=matmul(0,1):f32 5=add(4,2):f32 6=add(3,5):f32} | f32[4,T,3072] f32[4,3072,768]:(0,768,1)! "
        "f32[4,T,768]:(0,0,1)! f32[4,T,768] -> f32[4,T,768] results (6) where T in 1..1024",
        "fused {3=matmul(0,1):f32 4=add(3,2):f32 5=gelu(4):f32} | f32[2,S,40] f32[2,40,33] f32[2,S,33]:(0,0,1)! -> "
        "f32[2,S,33] results (5) where S in 0..70"};
}

}  // namespace

void add_products(std::vector<Kernel>& kernels) {
    const auto add = [&](Kernel kernel) {
        kernel.widened_inputs = {1};
        if (kernel.definition == "fused") {
            // An element of a further input is read by the thread that writes the same element of the output.
            kernel.in_place = {{2, 0}, {3, 0}, {4, 0}, {5, 0}};
            kernel.layout_inputs = partial_sums_inputs(4, 2);
        }
        kernels.push_back(std::move(kernel));
    };
    for (const bool is_fused : {true, false}) {
        const char* name = is_fused ? "fused" : "matmul";
        Kernel few_rows = cuda_row("product_rows", name, "f32", few_rows_accepts, few_rows_code, few_rows_cost,
                                   few_rows_samples(is_fused));
        few_rows.output_layout = few_rows_layout;
        add(std::move(few_rows));
        add(cuda_row("product_tile64", name, "f32", tile_accepts, tile_code<64>, tile_cost<64>,
                     tile_samples(is_fused)));
        add(cuda_row("product_tile32", name, "f32", tile_accepts, tile_code<32>, tile_cost<32>,
                     tile_samples(is_fused)));
    }
}

}  // namespace cairn::kernels::cuda
