#include "apps/models/denoiser_blocks.hpp"
#include "apps/models/unet_layout.hpp"

#include <optional>
#include <utility>

namespace cairn::inline v0::models {
namespace {

class UnetBuilder {
public:
    UnetBuilder(const UnetConfig& config, const std::vector<WeightSpec>& weights, const ImageSizes& sizes, Graph& graph)
        : config_(config),
          layout_(config),
          graph_(graph),
          weight_(graph, weights),
          inputs_("unet", graph, sizes, config.channels, config.sample_size, config.size_step(), config.classes > 0),
          embedding_(activate(config.activation, embedding())) {}

    void build() {
        const Tensor& sample = inputs_.sample();
        Tensor x = convolved(config_.centers_input ? sample * 2 - 1 : sample, "conv_in");
        std::vector<Tensor> skips{x};
        for (const UnetLevel& level : layout_.down) x = down(x, level, skips);
        for (const UnetBlock& block : layout_.middle.blocks)
            x = computed(x, block, middle_groups_of(config_), config_.middle_scale);
        for (const UnetLevel& level : layout_.up) x = up(x, level, skips);
        // diffusers has SiLU here, whatever the activation of the blocks is.
        x = convolved(silu(normed(x, "conv_norm_out", config_.groups)), "conv_out");
        set_prediction(graph_, x, config_.channels);
    }

private:
    Tensor embedding() const {
        const std::vector<double> frequencies =
            time_frequencies(config_.level_channels[0] / 2, config_.frequency_shift);
        Tensor x = embed_time(graph_, weight_, inputs_.time(), frequencies, config_.cosine_first, "time_embedding");
        if (config_.classes > 0) x = x + cairn::embedding(weight_("class_embedding.weight"), inputs_.classes());
        return name(x, "time and class");
    }

    Tensor convolved(const Tensor& x, const std::string& name, const ConvOptions& options = {.padding = 1}) const {
        return conv2d(x, weight_(name + ".weight"), weight_(name + ".bias"), options);
    }

    Tensor normed(const Tensor& x, const std::string& name, std::int64_t groups) const {
        return group_norm(x, static_cast<int>(groups), weight_(name + ".weight"), weight_(name + ".bias"),
                          config_.norm_epsilon);
    }

    Tensor down(Tensor x, const UnetLevel& level, std::vector<Tensor>& skips) const {
        for (const UnetBlock& block : level.blocks) skips.push_back(x = computed(x, block, config_.groups, 1));
        if (level.resampling.empty()) return x;
        const IntList padding = config_.pads_both_sides ? IntList(1) : IntList{0, 0, 1, 1};
        skips.push_back(x = convolved(x, level.resampling, {.stride = 2, .padding = padding}));
        return x;
    }

    Tensor up(Tensor x, const UnetLevel& level, std::vector<Tensor>& skips) const {
        for (const UnetBlock& block : level.blocks) {
            x = computed(concat({x, skips.back()}, 1), block, config_.groups, 1);
            skips.pop_back();
        }
        return level.resampling.empty() ? x : convolved(upsample_nearest(x, 2), level.resampling);
    }

    /// A residual block and its attention. Their sums are divided by `scale`.
    Tensor computed(const Tensor& x, const UnetBlock& block, std::int64_t attention_groups, double scale) const {
        const Tensor hidden = name(residual(x, block, scale), block.name);
        return block.attention.empty() ? hidden : attended(hidden, block.attention, attention_groups, scale);
    }

    Tensor residual(const Tensor& x, const UnetBlock& block, double scale) const {
        const auto activated = [&](const Tensor& y) { return activate(config_.activation, y); };
        Tensor hidden = convolved(activated(normed(x, block.name + ".norm1", config_.groups)), block.name + ".conv1");
        const Tensor time = weight_.project(embedding_, block.name + ".time_emb_proj");
        const auto at_pixels = [](const Tensor& y) { return unsqueeze(unsqueeze(y, 2), 3); };
        if (config_.scales_by_time) {
            const std::vector<Tensor> parts = chunk(at_pixels(time), 2, 1);
            hidden = normed(hidden, block.name + ".norm2", config_.groups) * (parts[0] + 1) + parts[1];
        } else {
            hidden = normed(hidden + at_pixels(time), block.name + ".norm2", config_.groups);
        }
        hidden = convolved(activated(hidden), block.name + ".conv2");
        const Tensor shortcut = block.has_shortcut() ? convolved(x, block.name + ".conv_shortcut", {}) : x;
        return divided(shortcut + hidden, scale);
    }

    /// Attention between the pixels of x, which is added to it.
    Tensor attended(const Tensor& x, const std::string& part, std::int64_t groups, double scale) const {
        const Dim pixels = x.dim(2) * x.dim(3), channels = x.dim(1);
        const Tensor input = groups > 0 ? normed(x, part + ".group_norm", groups) : x;
        const Tensor rows = transpose(reshape(input, {inputs_.batch(), channels, pixels}), {0, 2, 1});
        const std::int64_t heads = config_.head_width == 0 ? 1 : channels.constant() / config_.head_width;
        const Tensor columns = transpose(attend(weight_, rows, part, heads), {0, 2, 1});
        return divided(reshape(columns, {inputs_.batch(), channels, x.dim(2), x.dim(3)}) + x, scale);
    }

    static Tensor divided(const Tensor& x, double scale) { return scale == 1 ? x : x / scale; }

    const UnetConfig& config_;
    const UnetLayout layout_;
    Graph& graph_;
    const WeightTable weight_;
    const DenoiserInputs inputs_;
    const Tensor embedding_;
};

}  // namespace

Graph unet_graph(const UnetConfig& config, const std::vector<WeightSpec>& weights, const ImageSizes& sizes) {
    check(config);
    Graph graph("unet");
    UnetBuilder(config, weights, sizes, graph).build();
    return graph;
}

}  // namespace cairn::inline v0::models
