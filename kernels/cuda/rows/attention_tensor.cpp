#include "kernels/cuda/generate/attention_text.hpp"
#include "kernels/cuda/generate/kernel_source.hpp"
#include "kernels/cuda/generate/size_text.hpp"
#include "kernels/cuda/rows/rows.hpp"
#include "kernels/cuda/rows/tensor_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

/// Attention of f32 on tensor cores (kernels/cuda/text/attention_tensor.cuh), with keys and values in f32, f16 or bf16:
/// a block for each tile of 64 queries. Exact by bf16 parts; for tolerances by f16 parts and by rounded elements.
namespace cairn::kernels::cuda {
namespace {

constexpr std::int64_t tile = 64, threads = 128;

/// Stated error; 0: exact. Rounding errors of scores count as well as those of weights and values.
constexpr double error_of(TensorFormat format) {
    return format == TensorFormat::f16 ? 0x1p-10 : format == TensorFormat::f16x3 ? 0x1p-19 : 0;
}

std::string family_of(TensorFormat format) { return fmt::format("attention_{}", name_of(format)); }

std::int64_t shared_bytes(const AttentionView& view, TensorFormat format) {
    return line_bytes(format, DType::f32, tile, view.depth) +
           std::max(line_bytes(format, view.k.dtype, tile, view.depth),
                    line_bytes(format, view.v.dtype, tile, view.width));
}

template <TensorFormat format>
KernelCode code(const Problem& problem) {
    const AttentionView view = attention_view(problem);
    const Dim tiles = ceildiv(view.q.shape[2], tile), blocks = head_count(view) * tiles;
    KernelCode code;
    code.entry = entry_of(family_of(format), problem);
    code.block = threads;
    code.shared_bytes = shared_bytes(view, format);
    // The queries that see the most keys first.
    code.text =
        kernel_begin(problem, code.entry, code.block, 2) +
        fmt::format(
            "    const i64 at = blockIdx.x;\n    if (at >= {0}) return;\n"
            "    const i64 heads = {2}, first_query = ({1} - 1 - at / heads) * {3}, head = at % heads;\n",
            size_text(blocks), size_text(tiles), size_text(head_count(view)), tile) +
        attention_operands_text(problem, view) +
        fmt::format("    attention_tensor<{}, {}, {}, {}>(\n        p, first_query, {}, score_of, store);\n}}\n",
                    type_of(format, 32), view.depth, view.width, shared_bytes(view, format),
                    visible_keys_text(view, fmt::format("smaller(first_query + {}, p.queries - 1)", tile - 1)));
    code.grid = {blocks_for(blocks, 1)};
    return code;
}

template <TensorFormat format>
Refusal accepts(const Problem& problem) {
    if (Refusal no = attention_refusal(problem); !no.empty()) return no;
    const AttentionView view = attention_view(problem);
    const auto is_possible = [](std::int64_t size) { return size > 0 && size <= 64 && size % 16 == 0; };
    if (!is_possible(view.depth) || !is_possible(view.width)) return "needs a head size of 16, 32, 48 or 64";
    // Scores of tiny elements are inexact: by less than 2^-56 in bf16 parts, and 2^-9 in f16, before they are scaled.
    if (format == TensorFormat::bf16x6) return attention_scale(problem) > 0x1p20 ? "needs a scale of at most 2^20" : "";
    return attention_scale(problem) > 1 ? "needs a scale of at most 1" : "";
}

// Tiles of queries and keys are computed whole, by all products of parts; a block takes one tile of keys after another.
template <TensorFormat format>
Cost cost(const Problem& problem) {
    constexpr double first_steps = 4, tile_steps = 4;
    const AttentionView view = attention_view(problem);
    const double queries = static_cast<double>(view.q.shape[2].constant()),
                 keys = static_cast<double>(view.k.shape[2].constant()), rows = static_cast<double>(tile);
    Cost cost = attention_cost(problem, 0.25);
    cost.arithmetic = arithmetic_of(format);
    cost.flops *= static_cast<double>(products_of(format, DType::f32, DType::f32)) * std::ceil(queries / rows) * rows /
                  std::max(queries, 1.0);
    cost.steps = first_steps + tile_steps * std::ceil(keys / rows);
    return cost;
}

std::vector<std::string> samples() {
    return {
        "attention causal=(1) scale=0.125 masked_score=-3.4028235e+38 | f32[1,12,T,64]:(1,64,2304,1) f32[1,12,T + "
        "past,64]:(786432,65536,64,1) f32[1,12,T + past,64]:(786432,65536,64,1) -> f32[1,12,T,64]:(1,64,768,1) where T "
        "in 13..1024, past in 0..1023",
        "attention causal=(0) scale=0.125 masked_score=-3.4028235e+38 | f32[1,12,S,64]:(1,64,768,1) "
        "f32[1,12,S,64]:(1,64,768,1) f32[1,12,S,64]:(1,64,768,1) bool[1,S] -> f32[1,12,S,64]:(1,64,768,1) where S in "
        "1..512",
        "attention causal=(1) scale=0.125 masked_score=-3.4028235e+38 | f32[1,12,T,64]:(1,64,2304,1) f16[1,12,T + "
        "past,64]:(786432,65536,64,1) f16[1,12,T + past,64]:(786432,65536,64,1) -> f32[1,12,T,64]:(1,64,768,1) where T "
        "in 13..1024, past in 0..1023",
        "attention causal=(1) scale=0.25 masked_score=-1e+30 | f32[2,T,16] f16[2,S,16] bf16[2,S,48] -> f32[2,T,48] "
        "where T in 1..70, S in 1..80",
        "attention causal=(0) pairs=(1) adds_to_hidden=(1) scale=0.5 masked_score=-1 | f32[1,T,32] f32[1,S,32] "
        "f32[1,S,16] bool[T,1] f32[1,1,S]:(2*S,2*S,2) -> f32[1,T,16] where T in 1..70, S in 1..140"};
}

template <TensorFormat format>
void add(std::vector<Kernel>& kernels) {
    Kernel kernel =
        cuda_row(family_of(format), "attention", "f32", accepts<format>, code<format>, cost<format>, samples());
    kernel.widened_inputs = {1, 2};
    if (error_of(format) > 0) kernel.error = [](const Problem&) { return error_of(format); };
    kernels.push_back(std::move(kernel));
}

}  // namespace

void add_attention_tensor(std::vector<Kernel>& kernels) {
    add<TensorFormat::bf16x6>(kernels);
    add<TensorFormat::f16x3>(kernels);
    add<TensorFormat::f16>(kernels);
}

}  // namespace cairn::kernels::cuda
