#include "apps/models/denoiser_blocks.hpp"
#include "apps/models/unet_layout.hpp"

#include <utility>

namespace cairn::inline v0::models {
namespace {

/// Projections of attention, and their names in older files.
constexpr std::pair<const char*, const char*> projections[] = {
    {".to_q", ".query"}, {".to_k", ".key"}, {".to_v", ".value"}, {".to_out.0", ".proj_attn"}};

void add_attention(WeightList& list, const std::string& name, std::int64_t channels, std::int64_t groups) {
    if (groups > 0) list.add_layer(name + ".group_norm", {channels}, true);
    for (const auto& [part, older] : projections) {
        list.add(name + part + ".weight", {channels, channels});
        list.last().tied_names = {name + older + ".weight"};
        list.add(name + part + ".bias", {channels});
        list.last().tied_names = {name + older + ".bias"};
    }
}

void add_level(WeightList& list, const UnetConfig& config, const UnetLevel& level, std::int64_t attention_groups) {
    for (const UnetBlock& block : level.blocks) {
        if (!block.attention.empty()) add_attention(list, block.attention, block.out, attention_groups);
        list.add_layer(block.name + ".norm1", {block.in});
        list.add_layer(block.name + ".conv1", {block.out, block.in, 3, 3});
        list.add_layer(block.name + ".time_emb_proj",
                       {(config.scales_by_time ? 2 : 1) * block.out, time_width_of(config)});
        list.add_layer(block.name + ".norm2", {block.out});
        list.add_layer(block.name + ".conv2", {block.out, block.out, 3, 3});
        if (block.has_shortcut()) list.add_layer(block.name + ".conv_shortcut", {block.out, block.in, 1, 1});
    }
    if (!level.resampling.empty()) list.add_layer(level.resampling, {level.channels, level.channels, 3, 3});
}

}  // namespace

std::vector<WeightSpec> unet_weights(const UnetConfig& config) {
    check(config);
    const UnetLayout layout(config);
    const std::int64_t first = config.level_channels[0];
    WeightList list;
    list.add_layer("conv_in", {first, config.channels, 3, 3});
    list.add_time_embedding("time_embedding", first / 2, time_width_of(config));
    if (config.classes > 0) list.add("class_embedding.weight", {config.classes, time_width_of(config)});
    for (const UnetLevel& level : layout.down) add_level(list, config, level, config.groups);
    add_level(list, config, layout.middle, middle_groups_of(config));
    for (const UnetLevel& level : layout.up) add_level(list, config, level, config.groups);
    list.add_layer("conv_norm_out", {first});
    list.add_layer("conv_out", {config.output_channels, first, 3, 3});
    return std::move(list).all();
}

}  // namespace cairn::inline v0::models
