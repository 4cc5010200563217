#include "kernels/cuda/generate/attention_text.hpp"
#include "kernels/cuda/generate/body_text.hpp"
#include "kernels/cuda/generate/kernel_source.hpp"
#include "kernels/cuda/generate/size_text.hpp"
#include "kernels/cuda/rows/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

/// Attention of f32, with keys and values in f32, f16 or bf16: a block for each query where there are few, and for
/// tiles of queries, by f32 operations or by products of bf16 parts on tensor cores.
namespace cairn::kernels::cuda {
namespace {

constexpr std::int64_t most_keys = 8192;  ///< of a query whose scores are in shared memory
constexpr std::int64_t split_tile = 64;   ///< queries of a block that splits elements into bf16 parts

/// Queries of a tile: as many as fit into 48 KB with 32 keys and values.
std::int64_t tile_queries(const AttentionView& view) { return std::max(view.depth, view.width) <= 64 ? 32 : 16; }

// The keys that a query may see.
std::string visible_text(const AttentionView& view, const std::string& last_query) {
    if (!view.skips_hidden) return "p.keys";
    return fmt::format("smaller(p.keys, larger(0, {} + behind + 1))", last_query);
}

Dim heads_of(const AttentionView& view) { return view.q.shape[0] * view.q.shape[1]; }

KernelCode query_code(const Problem& problem) {
    const AttentionView view = attention_view(problem);
    const Dim queries = view.q.shape[2], blocks = heads_of(view) * queries;
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
                    view.depth, view.width, visible_text(view, "query"));
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
    const Dim tiles = ceildiv(view.q.shape[2], tile), blocks = heads_of(view) * tiles;
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
                            visible_text(view, fmt::format("smaller(first_query + {}, p.queries - 1)", tile - 1)));
    code.grid = {blocks_for(blocks, 1)};
    return code;
}

Refusal tile_accepts(const Problem& problem) {
    if (Refusal no = attention_refusal(problem); !no.empty()) return no;
    const AttentionView view = attention_view(problem);
    return std::max(view.depth, view.width) > 128 ? "needs a head size of at most 128" : "";
}

/// Bytes of a tile's parts, and of those of keys or values (Bf16Lines in kernels/cuda/text/attention_bf16x6.cuh).
std::int64_t bytes_of_parts(const AttentionView& view) {
    const auto lines = [](std::int64_t parts, std::int64_t width) { return parts * split_tile * (width + 8) * 2; };
    return lines(3, view.depth) +
           std::max(lines(bf16_parts(view.k.dtype), view.depth), lines(bf16_parts(view.v.dtype), view.width));
}

KernelCode split_code(const Problem& problem) {
    const AttentionView view = attention_view(problem);
    const Dim tiles = ceildiv(view.q.shape[2], split_tile), blocks = heads_of(view) * tiles;
    KernelCode code;
    code.entry = entry_of("attention_bf16x6", problem);
    code.block = 128;
    code.shared_bytes = bytes_of_parts(view);
    // The queries that see the most keys first.
    code.text =
        kernel_begin(problem, code.entry, code.block, 2) +
        fmt::format(
            "    const i64 at = blockIdx.x;\n    if (at >= {0}) return;\n"
            "    const i64 heads = {2}, first_query = ({1} - 1 - at / heads) * {3}, head = at % heads;\n",
            size_text(blocks), size_text(tiles), size_text(heads_of(view)), split_tile) +
        attention_operands_text(problem, view) +
        fmt::format("    attention_bf16x6<{}, {}, {}>(p, first_query, {}, score_of, store);\n}}\n", view.depth,
                    view.width, bytes_of_parts(view),
                    visible_text(view, fmt::format("smaller(first_query + {}, p.queries - 1)", split_tile - 1)));
    code.grid = {blocks_for(blocks, 1)};
    return code;
}

Refusal split_accepts(const Problem& problem) {
    if (Refusal no = attention_refusal(problem); !no.empty()) return no;
    const AttentionView view = attention_view(problem);
    const auto is_possible = [](std::int64_t size) { return size > 0 && size <= 64 && size % 16 == 0; };
    if (!is_possible(view.depth) || !is_possible(view.width)) return "needs a head size of 16, 32, 48 or 64";
    // Scores of tiny elements are inexact by less than 2^-56.
    return attention_scale(problem) > 0x1p20 ? "needs a scale of at most 2^20" : "";
}

// The keys of a query are loaded, its scores reduced, and its values loaded: steps before and for each key.
constexpr double query_steps = 8, key_steps = 0.02;

// Each query reads all keys and values again, from the L2 cache at best.
Cost query_cost(const Problem& problem) {
    const AttentionView view = attention_view(problem);
    const double blocks = static_cast<double>((heads_of(view) * view.q.shape[2]).constant());
    Cost cost = attention_cost(problem, 0.05);
    cost.flops *= idle_factor(blocks);
    cost.steps = query_steps + key_steps * static_cast<double>(view.k.shape[2].constant());
    return cost;
}

// Tiles are computed whole.
Cost tile_cost(const Problem& problem) {
    const AttentionView view = attention_view(problem);
    const double heads = static_cast<double>(heads_of(view).constant()),
                 queries = static_cast<double>(view.q.shape[2].constant()),
                 tile = static_cast<double>(tile_queries(view)), tiles = std::ceil(queries / tile);
    Cost cost = attention_cost(problem, 0.12);
    cost.flops *= tiles * tile / std::max(queries, 1.0) * idle_factor(heads * tiles);
    cost.steps = query_steps;
    return cost;
}

// Tiles of queries and keys are computed whole, by all products of parts; a block takes one tile of keys after another.
Cost split_cost(const Problem& problem) {
    constexpr double first_steps = 4, tile_steps = 4;
    const AttentionView view = attention_view(problem);
    const double queries = static_cast<double>(view.q.shape[2].constant()),
                 keys = static_cast<double>(view.k.shape[2].constant()), tile = static_cast<double>(split_tile);
    Cost cost = attention_cost(problem, 0.25);
    cost.arithmetic = Arithmetic::bf16;
    cost.flops *= 6 * std::ceil(queries / tile) * tile / std::max(queries, 1.0);
    cost.steps = first_steps + tile_steps * std::ceil(keys / tile);
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

std::vector<std::string> split_samples() {
    std::vector<std::string> samples;
    for (const std::string& sample : many_samples())
        if (split_accepts(parse_problem(sample, *Symbols::create())).empty()) samples.push_back(sample);
    samples.emplace_back(
        "attention causal=(1) scale=0.25 masked_score=-1e+30 | f32[2,T,16] f16[2,S,16] bf16[2,S,48] -> f32[2,T,48] "
        "where T in 1..70, S in 1..80");
    samples.emplace_back(
        "attention causal=(0) pairs=(1) adds_to_hidden=(1) scale=0.5 masked_score=-1 | f32[1,T,32] f32[1,S,32] "
        "f32[1,S,16] bool[T,1] f32[1,1,S]:(2*S,2*S,2) -> f32[1,T,16] where T in 1..70, S in 1..140");
    return samples;
}

}  // namespace

void add_attention(std::vector<Kernel>& kernels) {
    for (Kernel kernel :
         {cuda_row("attention_query", "attention", "f32", query_accepts, query_code, query_cost, few_samples()),
          cuda_row("attention_tile", "attention", "f32", tile_accepts, tile_code, tile_cost, many_samples()),
          cuda_row("attention_bf16x6", "attention", "f32", split_accepts, split_code, split_cost, split_samples())}) {
        kernel.widened_inputs = {1, 2};
        kernels.push_back(std::move(kernel));
    }
}

}  // namespace cairn::kernels::cuda
