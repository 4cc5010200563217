#include "cairn/models/dit.hpp"

#include "apps/models/config_file.hpp"
#include "apps/models/denoiser_blocks.hpp"
#include "apps/models/dit_check.hpp"
#include "apps/models/named_choice.hpp"

#include <string>
#include <utility>

namespace cairn::inline v0::models {

std::string config_fault(const DitConfig& config) {
    constexpr std::int64_t largest = std::int64_t{1} << 20;
    for (const auto& [name, size] : {std::pair("sample size", config.sample_size),
                                     {"channels", config.channels},
                                     {"patch", config.patch},
                                     {"heads", config.heads},
                                     {"head width", config.head_width},
                                     {"classes", config.classes},
                                     {"layers", config.layers}})
        if (size < 1 || size > largest)
            return std::string(name) + " must be in 1.." + std::to_string(largest) + ", got " + std::to_string(size);
    if (config.layers > 10'000) return "layers must be at most 10000, got " + std::to_string(config.layers);
    if (config.width() % 4 != 0)
        return "heads times head width must be a multiple of 4, for sines and cosines of two axes, got " +
               std::to_string(config.width());
    if (config.sample_size % config.patch != 0)
        return "sample size " + std::to_string(config.sample_size) + " is no multiple of patch " +
               std::to_string(config.patch);
    if (config.output_channels != config.channels && config.output_channels != 2 * config.channels)
        return "output channels must be the " + std::to_string(config.channels) + " of images or twice as many, got " +
               std::to_string(config.output_channels);
    if (config.activation != "gelu" && config.activation != "gelu-approximate")
        return "activation \"" + config.activation + "\" is not supported, expected gelu or gelu-approximate";
    return {};
}

void check(const DitConfig& config) {
    if (const std::string fault = config_fault(config); !fault.empty()) throw Error(ErrorKind::argument, "dit", fault);
}

DitConfig DitConfig::read(const std::filesystem::path& config_json) {
    const ConfigFile file(config_json);
    refuse_unless(file, "_class_name", {"\"DiTTransformer2DModel\""});
    refuse_unless(file, "norm_type", {"\"ada_norm_zero\""});
    refuse_unless(file, "norm_elementwise_affine", {"false"});
    DitConfig config;
    config.sample_size = square_size(file, "sample_size", 32);
    config.channels = file.size("in_channels", 4);
    config.output_channels = file.size("out_channels", config.channels);
    config.patch = file.size("patch_size", 2);
    config.heads = file.size("num_attention_heads", 16);
    config.head_width = file.size("attention_head_dim", 72);
    config.layers = file.layers("num_layers", 28);
    config.classes = file.size("num_embeds_ada_norm", 1000);
    config.attention_bias = file.flag("attention_bias", true);
    config.activation = file.text("activation_fn", "gelu-approximate");
    config.norm_epsilon = file.number("norm_eps", 1e-5);
    refuse_unless(file, "null_class", {std::to_string(config.classes)});
    if (const std::string fault = config_fault(config); !fault.empty()) file.fail(fault);
    return config;
}

std::vector<WeightSpec> dit_weights(const DitConfig& config) {
    check(config);
    const std::int64_t width = config.width();
    WeightList list;
    list.add_layer("pos_embed.proj", {width, config.channels, config.patch, config.patch});
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        const std::string block = dit_block(layer);
        list.add_time_embedding(block + "norm1.emb.timestep_embedder", dit_frequencies, width);
        list.add(block + "norm1.emb.class_embedder.embedding_table.weight", {config.classes + 1, width});
        list.add_layer(block + "norm1.linear", {6 * width, width});
        for (const char* part : {"attn1.to_q", "attn1.to_k", "attn1.to_v"})
            list.add_layer(block + part, {width, width}, config.attention_bias);
        list.add_layer(block + "attn1.to_out.0", {width, width});
        list.add_layer(block + "ff.net.0.proj", {4 * width, width});
        list.add_layer(block + "ff.net.2", {width, 4 * width});
    }
    list.add_layer("proj_out_1", {2 * width, width});
    list.add_layer("proj_out_2", {config.patch * config.patch * config.output_channels, width});
    return std::move(list).all();
}

}  // namespace cairn::inline v0::models
