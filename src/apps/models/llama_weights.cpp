#include "apps/models/blocks.hpp"
#include "apps/models/llama_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace cairn::inline v0::models {
namespace {

// The rows for norms of the feed-forward layer differ: what Llama calls post_attention_layernorm stands before it.
template <std::size_t N>
constexpr auto with_common(const std::array<GgufName, N>& norms, bool is_interleaved) {
    const auto common = std::to_array<GgufName>({
        {"model.embed_tokens.weight", "token_embd.weight"},
        {"model.layers.#.input_layernorm.weight", "blk.#.attn_norm.weight"},
        {"model.layers.#.self_attn.q_proj.weight", "blk.#.attn_q.weight", false, is_interleaved},
        {"model.layers.#.self_attn.q_proj.bias", "blk.#.attn_q.bias", false, is_interleaved},
        {"model.layers.#.self_attn.k_proj.weight", "blk.#.attn_k.weight", false, is_interleaved},
        {"model.layers.#.self_attn.k_proj.bias", "blk.#.attn_k.bias", false, is_interleaved},
        {"model.layers.#.self_attn.v_proj.weight", "blk.#.attn_v.weight"},
        {"model.layers.#.self_attn.v_proj.bias", "blk.#.attn_v.bias"},
        {"model.layers.#.self_attn.o_proj.weight", "blk.#.attn_output.weight"},
        {"model.layers.#.self_attn.o_proj.bias", "blk.#.attn_output.bias"},
        {"model.layers.#.self_attn.q_norm.weight", "blk.#.attn_q_norm.weight"},
        {"model.layers.#.self_attn.k_norm.weight", "blk.#.attn_k_norm.weight"},
        {"model.layers.#.mlp.gate_proj.weight", "blk.#.ffn_gate.weight"},
        {"model.layers.#.mlp.gate_proj.bias", "blk.#.ffn_gate.bias"},
        {"model.layers.#.mlp.up_proj.weight", "blk.#.ffn_up.weight"},
        {"model.layers.#.mlp.up_proj.bias", "blk.#.ffn_up.bias"},
        {"model.layers.#.mlp.down_proj.weight", "blk.#.ffn_down.weight"},
        {"model.layers.#.mlp.down_proj.bias", "blk.#.ffn_down.bias"},
        {"model.norm.weight", "output_norm.weight"},
        {"lm_head.weight", "output.weight"},
    });
    std::array<GgufName, common.size() + N> all{};
    std::copy(norms.begin(), norms.end(), std::copy(common.begin(), common.end(), all.begin()));
    return all;
}

constexpr auto one_norm = std::to_array<GgufName>({
    {"model.layers.#.post_attention_layernorm.weight", "blk.#.ffn_norm.weight"},
});
constexpr auto three_norms = std::to_array<GgufName>({
    {"model.layers.#.post_attention_layernorm.weight", "blk.#.post_attention_norm.weight"},
    {"model.layers.#.pre_feedforward_layernorm.weight", "blk.#.ffn_norm.weight"},
    {"model.layers.#.post_feedforward_layernorm.weight", "blk.#.post_ffw_norm.weight"},
});
constexpr auto llama_names = with_common(one_norm, true);
constexpr auto plain_names = with_common(one_norm, false);
constexpr auto gemma_names = with_common(three_norms, false);

}  // namespace

std::span<const GgufName> llama_gguf_names(const LlamaConfig& config, bool is_interleaved) {
    if (config.has_post_norms) return gemma_names;
    if (is_interleaved) return llama_names;
    return plain_names;
}

bool has_local_layers(const LlamaConfig& config) {
    return std::find(config.is_local.begin(), config.is_local.end(), true) != config.is_local.end();
}

void check(const LlamaConfig& config) {
    const auto refuse = [](const std::string& what) { throw Error(ErrorKind::argument, "llama", what); };
    check_sizes("llama", {{"vocabulary", config.vocabulary},
                          {"positions", config.positions},
                          {"width", config.width},
                          {"heads", config.heads},
                          {"key heads", config.key_heads},
                          {"head width", config.head_width},
                          {"layers", config.layers},
                          {"inner", config.inner}});
    if (config.heads % config.key_heads != 0)
        refuse("heads " + std::to_string(config.heads) + " is no multiple of key heads " +
               std::to_string(config.key_heads));
    if (config.head_width % 2 != 0) refuse("head width must be even, got " + std::to_string(config.head_width));
    const auto finite = [&](const char* name, double value, bool may_be_zero) {
        if (!(may_be_zero ? value >= 0 : value > 0) || std::isinf(value))
            refuse(std::string(name) + " must be a finite number " + (may_be_zero ? "of at least" : "above") +
                   " 0, got " + std::to_string(value));
    };
    finite("norm_epsilon", config.norm_epsilon, true);
    finite("embedding_scale", config.embedding_scale, false);
    finite("attention_scale", config.attention_scale, true);
    finite("rope_base", config.rope_base, false);
    finite("local_rope_base", config.local_rope_base, false);
    for (const double factor : config.rope_factors) finite("a rope factor", factor, false);
    if (!config.rope_factors.empty() && config.rope_factors.size() != static_cast<std::size_t>(config.head_width / 2))
        refuse(std::to_string(config.rope_factors.size()) + " rope factors, expected one for each pair of a head");
    if (!config.is_local.empty() && config.is_local.size() != static_cast<std::size_t>(config.layers))
        refuse("is_local must name all layers or none");
    if (has_local_layers(config) && (config.window < 1 || config.window >= std::int64_t{1} << 31))
        refuse("window must be in 1..2147483647, got " + std::to_string(config.window));
}

std::vector<WeightSpec> llama_weights(const LlamaConfig& config) {
    check(config);
    std::vector<WeightSpec> weights{{"model.embed_tokens.weight", {config.vocabulary, config.width}}};
    if (config.tied) weights.front().tied_names = {"lm_head.weight"};
    const auto add = [&](const std::string& name, std::int64_t out, std::int64_t in, bool has_bias,
                         std::int64_t heads = 0) {
        weights.push_back({.name = name + ".weight", .shape = {out, in}, .heads = heads});
        if (has_bias) weights.push_back({.name = name + ".bias", .shape = {out}, .heads = heads});
    };
    const auto add_norm = [&](const std::string& name, std::int64_t width) {
        weights.push_back({name + ".weight", {width}});
    };
    const std::int64_t width = config.width, queries = config.heads * config.head_width,
                       keys = config.key_heads * config.head_width;
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        const std::string prefix = "model.layers." + std::to_string(layer) + '.', own = prefix + "self_attn.";
        add(own + "q_proj", queries, width, config.has_qkv_bias, config.heads);
        add(own + "k_proj", keys, width, config.has_qkv_bias, config.key_heads);
        add(own + "v_proj", keys, width, config.has_qkv_bias);
        add(own + "o_proj", width, queries, config.has_output_bias);
        if (config.has_head_norms)
            for (const char* norm : {"q_norm", "k_norm"}) add_norm(own + norm, config.head_width);
        add(prefix + "mlp.gate_proj", config.inner, width, config.has_inner_bias);
        add(prefix + "mlp.up_proj", config.inner, width, config.has_inner_bias);
        add(prefix + "mlp.down_proj", width, config.inner, config.has_inner_bias);
        add_norm(prefix + "input_layernorm", width);
        add_norm(prefix + "post_attention_layernorm", width);
        if (config.has_post_norms)
            for (const char* norm : {"pre_feedforward_layernorm", "post_feedforward_layernorm"})
                add_norm(prefix + norm, width);
    }
    add_norm("model.norm", width);
    if (!config.tied) weights.push_back({"lm_head.weight", {config.vocabulary, width}});
    return weights;
}

}  // namespace cairn::inline v0::models
