#include "apps/models/config_file.hpp"
#include "apps/models/named_choice.hpp"
#include "apps/models/unet_layout.hpp"

#include <string>

namespace cairn::inline v0::models {
namespace {

/// The blocks of a level, and whether they have attention.
constexpr NamedChoice<bool> down_blocks[] = {{"DownBlock2D", false}, {"AttnDownBlock2D", true}};
constexpr NamedChoice<bool> up_blocks[] = {{"UpBlock2D", false}, {"AttnUpBlock2D", true}};
constexpr NamedChoice<bool> norms[] = {{"default", false}, {"scale_shift", true}};

void refuse_other_parts(const ConfigFile& file) {
    refuse_unless(file, "_class_name", {"\"UNet2DModel\""});
    refuse_unless(file, "time_embedding_type", {"\"positional\""});
    refuse_unless(file, "downsample_type", {"\"conv\""});
    refuse_unless(file, "upsample_type", {"\"conv\""});
    refuse_unless(file, "class_embed_type", {});
    refuse_unless(file, "downsample_padding", {"0", "1"});
    refuse_unless(file, "mid_block_type", {"\"UNetMidBlock2D\""});
}

template <std::size_t N>
std::vector<bool> attention_in(const ConfigFile& file, const char* key, const NamedChoice<bool> (&choices)[N],
                               std::size_t levels) {
    const std::vector<std::string> names = file.texts(key);
    if (names.size() != levels)
        file.fail("entry \"" + std::string(key) +
                  "\" must name as many blocks as \"block_out_channels\" has numbers, " + std::to_string(levels));
    std::vector<bool> attention;
    for (const std::string& name : names) attention.push_back(choice_of(file, key, name, choices));
    return attention;
}

}  // namespace

std::int64_t UnetConfig::size_step() const { return std::int64_t{1} << (level_channels.size() - 1); }

UnetConfig UnetConfig::read(const std::filesystem::path& config_json) {
    const ConfigFile file(config_json);
    refuse_other_parts(file);
    UnetConfig config;
    config.sample_size = square_size(file, "sample_size");
    config.channels = file.size("in_channels", 3);
    config.output_channels = file.size("out_channels", 3);
    config.level_channels = file.sizes("block_out_channels");
    if (config.level_channels.empty()) file.fail("entry \"block_out_channels\" is missing");
    const std::size_t levels = config.level_channels.size();
    config.down_attention = attention_in(file, "down_block_types", down_blocks, levels);
    config.up_attention = attention_in(file, "up_block_types", up_blocks, levels);
    config.level_blocks = file.layers("layers_per_block", 2);
    // An absent entry means the block; null means none, and reads as absent.
    config.has_middle = !file.is_null("mid_block_type");
    config.middle_attention = file.flag("add_attention", true);
    config.middle_scale = file.number("mid_block_scale_factor", 1);
    config.time_width = file.count("time_embedding_dim", 0);
    config.frequency_shift = file.number("freq_shift", 0);
    config.cosine_first = file.flag("flip_sin_to_cos", true);
    config.pads_both_sides = file.count("downsample_padding", 1) == 1;
    config.centers_input = file.flag("center_input_sample", false);
    config.scales_by_time = choice_in(file, "resnet_time_scale_shift", norms, "default");
    config.head_width = file.is_null("attention_head_dim") ? 0 : file.size("attention_head_dim", 8);
    config.groups = file.size("norm_num_groups", 32);
    config.middle_groups = file.count("attn_norm_num_groups", 0);
    config.norm_epsilon = file.number("norm_eps", 1e-5);
    config.activation = file.text("act_fn", "silu");
    config.classes = file.count("num_class_embeds", 0);
    config.null_class = file.shown("null_class").empty() ? -1 : file.count("null_class", 0);
    if (const std::string fault = config_fault(config); !fault.empty()) file.fail(fault);
    return config;
}

}  // namespace cairn::inline v0::models
