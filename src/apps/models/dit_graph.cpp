#include "apps/models/denoiser_blocks.hpp"
#include "apps/models/dit_check.hpp"

#include <string>
#include <vector>

namespace cairn::inline v0::models {
namespace {

class DitBuilder {
public:
    DitBuilder(const DitConfig& config, const std::vector<WeightSpec>& weights, const ImageSizes& sizes, Graph& graph)
        : config_(config),
          graph_(graph),
          weight_(graph, weights),
          inputs_("dit", graph, sizes, config.channels, config.sample_size, config.patch, true) {}

    void build() {
        Tensor x = name(patches() + positions(), "patches");
        for (std::int64_t layer = 0; layer < config_.layers; ++layer) x = block(x, dit_block(layer));
        // The last modulation has the embedding of the first block.
        const std::vector<Tensor> parts = chunk(weight_.project(condition(dit_block(0)), "proj_out_1"), 2, 1);
        x = weight_.project(modulated(layer_norm(x, outer_epsilon), parts[0], parts[1]), "proj_out_2");
        set_prediction(graph_, image(x), config_.channels);
    }

private:
    static constexpr double outer_epsilon = 1e-6;

    Tensor patches() const {
        const int patch = static_cast<int>(config_.patch);
        const Tensor x = conv2d(inputs_.sample(), weight_("pos_embed.proj.weight"), weight_("pos_embed.proj.bias"),
                                {.stride = patch});
        return transpose(reshape(x, {inputs_.batch(), config_.width(), tokens()}), {0, 2, 1});
    }

    Dim tokens() const { return inputs_.rows() * inputs_.columns(); }

    /// Sines of the column of each patch, then those of its row. Rows and columns of other sizes of images are scaled
    /// to those of training.
    Tensor positions() const {
        const Shape grid{inputs_.rows(), inputs_.columns(), config_.width() / 2};
        const Tensor rows = broadcast(unsqueeze(axis_positions(inputs_.rows()), 1), grid);
        const Tensor columns = broadcast(unsqueeze(axis_positions(inputs_.columns()), 0), grid);
        return reshape(concat({columns, rows}, 2), {tokens(), config_.width()});
    }

    Tensor axis_positions(const Dim& length) const {
        const auto trained = static_cast<double>(config_.sample_size / config_.patch);
        const Tensor index = cast(iota(graph_, length), DType::f32);
        return sines(graph_, index * trained / cast(graph_.constant(DType::i32, length), DType::f32),
                     time_frequencies(config_.width() / 4, 0));
    }

    /// SiLU of the embedding of time and class, of which each block has its own.
    Tensor condition(const std::string& prefix) const {
        const std::string part = prefix + "norm1.emb.";
        const Tensor time = embed_time(graph_, weight_, inputs_.time(), time_frequencies(dit_frequencies, 1), true,
                                       part + "timestep_embedder");
        return silu(time + embedding(weight_(part + "class_embedder.embedding_table.weight"), inputs_.classes()));
    }

    static Tensor modulated(const Tensor& x, const Tensor& shift, const Tensor& scale) {
        return x * (unsqueeze(scale, 1) + 1) + unsqueeze(shift, 1);
    }

    Tensor block(Tensor x, const std::string& prefix) const {
        const std::vector<Tensor> parts = chunk(weight_.project(condition(prefix), prefix + "norm1.linear"), 6, 1);
        const Tensor input = modulated(layer_norm(x, outer_epsilon), parts[0], parts[1]);
        x = attend(weight_, input, prefix + "attn1", config_.heads) * unsqueeze(parts[2], 1) + x;
        const Tensor hidden = weight_.project(modulated(layer_norm(x, config_.norm_epsilon), parts[3], parts[4]),
                                              prefix + "ff.net.0.proj");
        const Tensor activated = config_.activation == "gelu" ? gelu(hidden) : gelu_tanh(hidden);
        x = weight_.project(activated, prefix + "ff.net.2") * unsqueeze(parts[5], 1) + x;
        return name(x, prefix + "output");
    }

    /// The patches [B,N,patch patch C] as an image.
    Tensor image(const Tensor& x) const {
        const Tensor grid = reshape(x, {inputs_.batch(), inputs_.rows(), inputs_.columns(), config_.patch,
                                        config_.patch, config_.output_channels});
        return reshape(transpose(grid, {0, 5, 1, 3, 2, 4}),
                       {inputs_.batch(), config_.output_channels, inputs_.rows() * config_.patch,
                        inputs_.columns() * config_.patch});
    }

    const DitConfig& config_;
    Graph& graph_;
    const WeightTable weight_;
    const DenoiserInputs inputs_;
};

}  // namespace

Graph dit_graph(const DitConfig& config, const std::vector<WeightSpec>& weights, const ImageSizes& sizes) {
    check(config);
    Graph graph("dit");
    DitBuilder(config, weights, sizes, graph).build();
    return graph;
}

}  // namespace cairn::inline v0::models
