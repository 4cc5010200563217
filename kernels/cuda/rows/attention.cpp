#include "kernels/cuda/generate/attention_text.hpp"
#include "kernels/cuda/generate/body_text.hpp"
#include "kernels/cuda/generate/kernel_source.hpp"
#include "kernels/cuda/generate/size_text.hpp"
#include "kernels/cuda/rows/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

/// Attention of f32, with keys and values in f32, f16 or bf16, by f32 operations: a block for each query where there
/// are few, and for tiles of queries.
namespace cairn::kernels::cuda {
namespace {

constexpr std::int64_t most_keys = 8192;  ///< of a query whose scores are in shared memory

/// Queries of a tile: as many as fit into 48 KB with 32 keys and values.
std::int64_t tile_queries(const AttentionView& view) { return std::max(view.depth, view.width) <= 64 ? 32 : 16; }

KernelCode query_code(const Problem& problem) {
    const AttentionView view = attention_view(problem);
    const Dim queries = view.q.shape[2], blocks = head_count(view) * queries;
    KernelCode code;
    code.entry = entry_of("attention_query", problem);
    code.block = 256;
    code.text = kernel_begin(problem, code.entry, code.block) +
                fmt::format(
                    "    const i64 at = blockIdx.x;\n    if (at >= {0}) return;\n"
                    "    const i64 query = at % {1}, head = at / {1};\n",
                    size_text(blocks), size_text(queries)) +
                attention_operands_text(problem, view) +
                fmt::format(
                    "    attention_query<{}, {}>(\n        p, query, {},\n"
                    "        [&](i64 key, float dot) {{ return score_of(query, key, dot); }},\n"
                    "        [&](i64 column, float value) {{ store(query, column, value); }});\n}}\n",
                    view.depth, view.width, visible_keys_text(view, "query"));
    code.grid = {blocks_for(blocks, 1)};
    code.shared_bytes = std::max<std::int64_t>(view.k.shape[2].upper_bound(), 1) * 4;
    return code;
}

Refusal query_accepts(const Problem& problem) {
    if (Refusal no = attention_refusal(problem); !no.empty()) return no;
    const AttentionView view = attention_view(problem);
    if (std::max(view.depth, view.width) > 256) return "needs a head size of at most 256";
    return view.k.shape[2].upper_bound() > most_keys ? fmt::format("needs at most {} keys", most_keys) : Refusal();
}

KernelCode tile_code(const Problem& problem) {
    const AttentionView view = attention_view(problem);
    const std::int64_t tile = tile_queries(view);
    const Dim tiles = ceildiv(view.q.shape[2], tile), blocks = head_count(view) * tiles;
    KernelCode code;
    code.entry = entry_of("attention_tile", problem);
    code.block = static_cast<int>(8 * tile);
    code.text = kernel_begin(problem, code.entry, code.block, tile == 32 ? 2 : 3) +
                fmt::format(
                    "    const i64 at = blockIdx.x;\n    if (at >= {0}) return;\n"
                    "    const i64 first_query = at % {1} * {2}, head = at / {1};\n",
                    size_text(blocks), size_text(tiles), tile) +
                attention_operands_text(problem, view) +
                fmt::format("    attention_tile<{}, {}, {}>(p, first_query, {}, score_of, store);\n}}\n", view.depth,
                            view.width, tile,
                            visible_keys_text(view, fmt::format("smaller(first_query + {}, p.queries - 1)", tile - 1)));
    code.grid = {blocks_for(blocks, 1)};
    return code;
}

Refusal tile_accepts(const Problem& problem) {
    if (Refusal no = attention_refusal(problem); !no.empty()) return no;
    const AttentionView view = attention_view(problem);
    return std::max(view.depth, view.width) > 128 ? "needs a head size of at most 128" : "";
}

// The keys of a query are loaded, its scores reduced, and its values loaded: steps before and for each key.
constexpr double query_steps = 8, key_steps = 0.02;

// Each query reads all keys and values again, from the L2 cache at best.
Cost query_cost(const Problem& problem) {
    const AttentionView view = attention_view(problem);
    const double blocks = static_cast<double>((head_count(view) * view.q.shape[2]).constant());
    Cost cost = attention_cost(problem, 0.05);
    cost.flops *= idle_factor(blocks);
    cost.steps = query_steps + key_steps * static_cast<double>(view.k.shape[2].constant());
    return cost;
}

// Tiles are computed whole.
Cost tile_cost(const Problem& problem) {
    const AttentionView view = attention_view(problem);
    const double heads = static_cast<double>(head_count(view).constant()),
                 queries = static_cast<double>(view.q.shape[2].constant()),
                 tile = static_cast<double>(tile_queries(view)), tiles = std::ceil(queries / tile);
    Cost cost = attention_cost(problem, 0.12);
    cost.flops *= tiles * tile / std::max(queries, 1.0) * idle_factor(heads * tiles);
    cost.steps = query_steps;
    return cost;
}

std::vector<std::string> few_samples() {
    return {
        "attention causal=(1) scale=0.125 masked_score=-3.4028235e+38 | f32[1,12,1,64]:(1,64,64,1) f32[1,12,1 + "
        "past,64]:(786432,65536,64,1) f32[1,12,1 + past,64]:(786432,65536,64,1) -> f32[1,12,1,64] where past in "
        "0..1023",
        "attention causal=(1) scale=0.125 masked_score=-3.4028235e+38 | f32[1,12,T,64]:(1,64,2304,1) f32[1,12,T + "
        "past,64]:(786432,65536,64,1) f32[1,12,T + past,64]:(786432,65536,64,1) -> f32[1,12,T,64]:(1,64,768,1) where T "
        "in "
        "2..12, past in 0..1023",
        "attention causal=(1) scale=0.5 masked_score=-1e+30 | f32[3,T,8] f32[3,S,8] f32[3,S,9] -> f32[3,T,9] where T "
        "in "
        "1..40, S in 1..90",
        "attention causal=(1) scale=0.125 masked_score=-3.4028235e+38 | f32[1,12,1,64]:(1,64,64,1) f16[1,12,1 + "
        "past,64]:(786432,65536,64,1) f16[1,12,1 + past,64]:(786432,65536,64,1) -> f32[1,12,1,64] where past in "
        "0..1023",
        "attention causal=(1) scale=0.5 masked_score=-1e+30 | f32[3,T,8] bf16[3,S,8] f32[3,S,9] -> f32[3,T,9] where T "
        "in 1..40, S in 1..90"};
}

std::vector<std::string> many_samples() {
    return {
        "attention causal=(1) scale=0.125 masked_score=-3.4028235e+38 | f32[1,12,T,64]:(1,64,2304,1) f32[1,12,T + "
        "past,64]:(786432,65536,64,1) f32[1,12,T + past,64]:(786432,65536,64,1) -> f32[1,12,T,64]:(1,64,768,1) where T "
        "in "
        "13..1024, past in 0..1023",
        "attention causal=(0) scale=0.125 masked_score=-3.4028235e+38 | f32[1,12,S,64]:(1,64,768,1) "
        "f32[1,12,S,64]:(1,64,768,1) f32[1,12,S,64]:(1,64,768,1) bool[1,S] -> f32[1,12,S,64]:(1,64,768,1) where S in "
        "1..512",
        "attention causal=(0) pairs=(1) adds_to_hidden=(1) scale=0.5 masked_score=-1 | f32[3,T,128] f32[3,S,128] "
        "f32[3,S,128] bool[T,1] f32[3,1,S]:(2*S,2*S,2) -> f32[3,T,128] where T in 1..30, S in 1..300",
        "attention causal=(1) scale=0.25 masked_score=-inf | f32[2,2,T,17] f32[2,2,T,17]:(2048,1024,17,1) "
        "f32[2,2,T,17]:(2048,1024,17,1) -> f32[2,2,T,17]:(34*T,17,34,1) where T in 1..60",
        "attention causal=(1) scale=0.125 masked_score=-3.4028235e+38 | f32[1,12,T,64]:(1,64,2304,1) f16[1,12,T + "
        "past,64]:(786432,65536,64,1) f16[1,12,T + past,64]:(786432,65536,64,1) -> f32[1,12,T,64]:(1,64,768,1) where T "
        "in 13..1024, past in 0..1023",
        "attention causal=(0) scale=0.25 masked_score=-1 | f32[2,2,T,17] f32[2,2,S,17] bf16[2,2,S,17] -> "
        "f32[2,2,T,17] where T in 1..60, S in 1..70"};
}

}  // namespace

void add_attention(std::vector<Kernel>& kernels) {
    for (Kernel kernel :
         {cuda_row("attention_query", "attention", "f32", query_accepts, query_code, query_cost, few_samples()),
          cuda_row("attention_tile", "attention", "f32", tile_accepts, tile_code, tile_cost, many_samples())}) {
        kernel.widened_inputs = {1, 2};
        kernels.push_back(std::move(kernel));
    }
}

}  // namespace cairn::kernels::cuda
