#include "apps/models/blocks.hpp"
#include "apps/models/config_file.hpp"
#include "apps/models/llama_check.hpp"
#include "apps/models/model_file.hpp"

#include <cmath>
#include <numbers>
#include <optional>

namespace cairn::inline v0::models {
namespace {

/// Base and factors of a rotary embedding.
struct Rope {
    double base;
    std::vector<double> factors;
};

/// The factors of Llama 3.1: wavelengths beyond the original context are divided by `factor`, those far below it are
/// kept, and those between are interpolated.
std::vector<double> llama3_factors(const ConfigFile& scaling, double base, std::int64_t head_width) {
    const double factor = scaling.number("factor", 8), low = scaling.number("low_freq_factor", 1),
                 high = scaling.number("high_freq_factor", 4);
    const auto original = static_cast<double>(scaling.size("original_max_position_embeddings", 8192));
    if (!(factor > 0 && low > 0 && high > low)) scaling.fail("the factors of rotary scaling are out of range");
    std::vector<double> factors;
    for (std::int64_t i = 0; i < head_width / 2; ++i) {
        const double wavelength =
            2 * std::numbers::pi * std::pow(base, 2.0 * static_cast<double>(i) / static_cast<double>(head_width));
        const double smooth = (original / wavelength - low) / (high - low);
        const double kept = wavelength > original / low ? 0 : wavelength < original / high ? 1 : smooth;
        factors.push_back(1 / ((1 - kept) / factor + kept));
    }
    return factors;
}

/// `rope` has the entries of one rotary embedding: `rope_theta`, and `rope_type` with its parameters.
Rope rope_in(const ConfigFile& rope, double base, std::int64_t head_width) {
    const std::string type = rope.text("rope_type", rope.text("type", "default"));
    if (!(base > 0)) rope.fail("rope_theta must be above 0");
    if (type == "default") return {base, {}};
    if (type == "llama3") return {base, llama3_factors(rope, base, head_width)};
    if (type != "linear") rope.unsupported("rotary scaling of type " + type + " is not supported");
    const double factor = rope.number("factor", 1);
    if (!(factor > 0)) rope.fail("factor must be above 0");
    return {base, std::vector<double>(static_cast<std::size_t>(head_width / 2), factor)};
}

/// Reads both notations: rope_theta with rope_scaling, and rope_parameters, which may have a part for each kind of
/// layer.
void read_rope(const ConfigFile& file, LlamaConfig& config, double default_base) {
    const std::optional<ConfigFile> parameters = file.part("rope_parameters"), scaling = file.part("rope_scaling");
    const double base = file.number("rope_theta", default_base);
    config.local_rope_base = file.number("rope_local_base_freq", 10000);
    Rope all{base, {}};
    if (const auto full = parameters ? parameters->part("full_attention") : std::nullopt) {
        all = rope_in(*full, full->number("rope_theta", base), config.head_width);
        if (const auto local = parameters->part("sliding_attention")) {
            const Rope rope = rope_in(*local, local->number("rope_theta", config.local_rope_base), config.head_width);
            if (!rope.factors.empty()) local->unsupported("rotary scaling of sliding_attention is not supported");
            config.local_rope_base = rope.base;
        }
    } else if (parameters) {
        all = rope_in(*parameters, parameters->number("rope_theta", base), config.head_width);
    } else if (scaling) {
        all = rope_in(*scaling, base, config.head_width);
    }
    config.rope_base = all.base;
    config.rope_factors = std::move(all.factors);
}

/// Which layers have a sliding window: `layer_types`, or every one but each `sliding_window_pattern`-th.
void read_windows(const ConfigFile& file, LlamaConfig& config, bool is_gemma) {
    config.window = file.count("sliding_window", 0);
    const auto layers = static_cast<std::size_t>(config.layers);
    const std::vector<std::string> types = file.texts("layer_types");
    if (!types.empty()) {
        if (types.size() != layers) file.fail("entry \"layer_types\" must name all layers");
        for (const std::string& type : types) {
            if (type != "full_attention" && type != "sliding_attention")
                file.unsupported("layers of type " + type + " are not supported");
            config.is_local.push_back(type == "sliding_attention");
        }
    } else if (is_gemma) {
        const std::int64_t pattern = file.size("sliding_window_pattern", 6);
        for (std::int64_t layer = 0; layer < config.layers; ++layer)
            config.is_local.push_back((layer + 1) % pattern != 0);
    } else if (config.window > 0 && file.flag("use_sliding_window", true)) {
        config.is_local.assign(layers, true);
    }
    if (!has_local_layers(config)) return;
    if (config.window < 1) file.fail("entry \"sliding_window\" must be at least 1");
    if (is_gemma) return;
    config.local_rope_base = config.rope_base;
    if (!config.rope_factors.empty()) file.unsupported("rotary scaling beside a sliding window is not supported");
}

}  // namespace

LlamaConfig LlamaConfig::read(const std::filesystem::path& config_json) {
    const ConfigFile file(config_json);
    const std::string type = file.text("model_type", "");
    const bool is_gemma = type == "gemma3_text", is_qwen2 = type == "qwen2", is_qwen3 = type == "qwen3";
    if (!is_gemma && !is_qwen2 && !is_qwen3 && type != "llama" && type != "mistral")
        file.unsupported("model_type is \"" + type + "\", expected one of llama, mistral, qwen2, qwen3, gemma3_text");
    LlamaConfig config;
    config.vocabulary = file.size("vocab_size");
    config.positions = file.size("max_position_embeddings");
    config.width = file.size("hidden_size");
    config.heads = file.size("num_attention_heads");
    config.key_heads = file.size("num_key_value_heads", config.heads);
    config.layers = file.layers("num_hidden_layers");
    config.inner = file.size("intermediate_size");
    if (!is_gemma && !is_qwen3 && config.width % config.heads != 0 && file.count("head_dim", 0) == 0)
        file.fail("hidden_size is no multiple of num_attention_heads");
    config.head_width = file.size("head_dim", is_gemma ? 256 : is_qwen3 ? 128 : config.width / config.heads);
    if (config.heads % config.key_heads != 0) file.fail("num_attention_heads is no multiple of num_key_value_heads");
    if (config.head_width % 2 != 0) file.fail("the width of a head is odd");
    config.norm_epsilon = file.number("rms_norm_eps", 1e-6);
    config.activation =
        file.text("hidden_act", file.text("hidden_activation", is_gemma ? "gelu_pytorch_tanh" : "silu"));
    config.tied = file.flag("tie_word_embeddings", is_gemma);
    config.has_qkv_bias = is_qwen2 || file.flag("attention_bias", false);
    config.has_output_bias = !is_qwen2 && file.flag("attention_bias", false);
    config.has_inner_bias = file.flag("mlp_bias", false);
    config.has_head_norms = is_gemma || is_qwen3;
    config.has_post_norms = config.norms_add_one = is_gemma;
    if (is_gemma) {
        config.embedding_scale = std::sqrt(static_cast<double>(config.width));
        config.attention_scale = 1 / std::sqrt(file.number("query_pre_attn_scalar", 256));
        for (const char* cap : {"attn_logit_softcapping", "final_logit_softcapping"})
            if (file.number(cap, 0) != 0) file.unsupported(std::string(cap) + " is not supported");
        if (file.flag("use_bidirectional_attention", false))
            file.unsupported("use_bidirectional_attention is not supported");
    }
    if (const std::string fault = activation_fault(config.activation); !fault.empty())
        file.unsupported("activation " + fault);
    read_rope(file, config, is_gemma ? 1e6 : 10000);
    read_windows(file, config, is_gemma);
    return config;
}

LlamaConfig LlamaConfig::of_model(const std::filesystem::path& model) {
    return is_gguf(model) ? read(Gguf::open(model)) : read(model / "config.json");
}

}  // namespace cairn::inline v0::models
