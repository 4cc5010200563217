#include "apps/models/unet_layout.hpp"

#include "apps/models/blocks.hpp"

#include <utility>

namespace cairn::inline v0::models {
namespace {

std::string numbered(const std::string& prefix, std::size_t number) { return prefix + std::to_string(number); }

/// The level of that name prefix, with blocks of the given input channels.
UnetLevel level_of(const std::string& prefix, const std::vector<std::int64_t>& in, std::int64_t out,
                   bool has_attention) {
    UnetLevel level{.blocks = {}, .channels = out};
    for (std::size_t i = 0; i < in.size(); ++i)
        level.blocks.push_back({numbered(prefix + ".resnets.", i), in[i], out,
                                has_attention ? numbered(prefix + ".attentions.", i) : std::string()});
    return level;
}

}  // namespace

UnetLayout::UnetLayout(const UnetConfig& config) {
    const std::vector<std::int64_t>& channels = config.level_channels;
    const std::size_t levels = channels.size(), last = levels - 1;
    const auto blocks = static_cast<std::size_t>(config.level_blocks);
    // The channels of each tensor that the way up joins, the last one first to be read.
    std::vector<std::int64_t> skips{channels[0]};
    for (std::size_t i = 0; i < levels; ++i) {
        std::vector<std::int64_t> in(blocks, channels[i]);
        in[0] = channels[i == 0 ? 0 : i - 1];
        const std::string prefix = numbered("down_blocks.", i);
        down.push_back(level_of(prefix, in, channels[i], config.down_attention[i]));
        skips.insert(skips.end(), blocks, channels[i]);
        if (i == last) continue;
        down.back().resampling = prefix + ".downsamplers.0.conv";
        skips.push_back(channels[i]);
    }
    if (config.has_middle) {
        middle = level_of("mid_block", {channels[last], channels[last]}, channels[last], false);
        if (config.middle_attention) middle.blocks[0].attention = "mid_block.attentions.0";
    }
    std::int64_t hidden = channels[last];
    for (std::size_t i = 0; i < levels; ++i) {
        const std::int64_t out = channels[last - i];
        std::vector<std::int64_t> in;
        for (std::size_t block = 0; block <= blocks; ++block) {
            in.push_back((block == 0 ? hidden : out) + skips.back());
            skips.pop_back();
        }
        const std::string prefix = numbered("up_blocks.", i);
        up.push_back(level_of(prefix, in, out, config.up_attention[i]));
        if (i != last) up.back().resampling = prefix + ".upsamplers.0.conv";
        hidden = out;
    }
}

std::int64_t time_width_of(const UnetConfig& config) {
    return config.time_width == 0 ? 4 * config.level_channels[0] : config.time_width;
}

std::int64_t middle_groups_of(const UnetConfig& config) {
    if (config.middle_groups != 0) return config.middle_groups;
    return config.scales_by_time ? 0 : config.groups;
}

namespace {

/// `middle.attentions.0 has 30 channels, no multiple of 4 groups`.
std::string multiple_fault(const std::string& part, std::int64_t channels, std::int64_t divisor, const char* of) {
    if (divisor == 0 || channels % divisor == 0) return {};
    return part + " has " + std::to_string(channels) + " channels, no multiple of " + of + ' ' +
           std::to_string(divisor);
}

std::string level_fault(const UnetConfig& config, const UnetLevel& level, std::int64_t attention_groups) {
    for (const UnetBlock& block : level.blocks) {
        std::string fault = multiple_fault(block.name, block.in, config.groups, "groups");
        if (fault.empty()) fault = multiple_fault(block.name, block.out, config.groups, "groups");
        if (fault.empty() && !block.attention.empty())
            fault = multiple_fault(block.attention, block.out, config.head_width, "head width");
        if (fault.empty() && !block.attention.empty())
            fault = multiple_fault(block.attention, block.out, attention_groups, "groups");
        if (!fault.empty()) return fault;
    }
    return {};
}

/// Describes a size out of range.
std::string size_fault(const UnetConfig& config) {
    constexpr std::int64_t largest = std::int64_t{1} << 20;
    std::vector<std::pair<const char*, std::int64_t>> sizes{
        {"sample size", config.sample_size},        {"channels", config.channels},
        {"time width", time_width_of(config)},      {"groups", config.groups},
        {"head width", config.head_width + 1},      {"classes", config.classes + 1},
        {"middle groups", config.middle_groups + 1}};
    for (const std::int64_t channels : config.level_channels) sizes.emplace_back("channels of a level", channels);
    for (const auto& [name, size] : sizes)
        if (size < 1 || size > largest)
            return std::string(name) + " must be in range up to " + std::to_string(largest) + ", got " +
                   std::to_string(size);
    return {};
}

}  // namespace

std::string config_fault(const UnetConfig& config) {
    const std::size_t levels = config.level_channels.size();
    if (levels < 1 || levels > 16) return "levels must be in 1..16, got " + std::to_string(levels);
    if (config.down_attention.size() != levels || config.up_attention.size() != levels)
        return "as many entries of down_attention and of up_attention as of level_channels are needed";
    if (std::string fault = size_fault(config); !fault.empty()) return fault;
    if (config.level_blocks < 1 || config.level_blocks > 1000)
        return "blocks of a level must be in 1..1000, got " + std::to_string(config.level_blocks);
    if (config.output_channels != config.channels && config.output_channels != 2 * config.channels)
        return "output channels must be the " + std::to_string(config.channels) + " of images or twice as many, got " +
               std::to_string(config.output_channels);
    const std::int64_t frequencies = config.level_channels[0] / 2;
    if (config.level_channels[0] % 2 != 0 || !(config.frequency_shift >= 0) ||
        config.frequency_shift >= static_cast<double>(frequencies))
        return "the first level needs an even number of channels, half of them more than the frequency shift";
    if (!(config.middle_scale > 0)) return "the scale of the middle must be above 0";
    if (config.sample_size % config.size_step() != 0)
        return "sample size " + std::to_string(config.sample_size) + " is no multiple of " +
               std::to_string(config.size_step()) + ", as " + std::to_string(levels) + " levels need";
    if (config.null_class != -1 && (config.null_class < 0 || config.null_class >= config.classes))
        return "null class " + std::to_string(config.null_class) + " is not one of " + std::to_string(config.classes) +
               " classes";
    if (const std::string fault = activation_fault(config.activation); !fault.empty()) return "activation " + fault;
    const UnetLayout layout(config);
    std::string fault = level_fault(config, layout.middle, middle_groups_of(config));
    for (const std::vector<UnetLevel>* way : {&layout.down, &layout.up})
        for (const UnetLevel& level : *way)
            if (fault.empty()) fault = level_fault(config, level, config.groups);
    return fault;
}

void check(const UnetConfig& config) {
    if (const std::string fault = config_fault(config); !fault.empty()) throw Error(ErrorKind::argument, "unet", fault);
}

}  // namespace cairn::inline v0::models
