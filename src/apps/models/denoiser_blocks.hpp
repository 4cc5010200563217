#pragma once

#include "apps/models/blocks.hpp"
#include "cairn/models/image_sizes.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Building blocks of the models that diffusion samplers call.
namespace cairn::inline v0::models {

/// A list of weights, to which layers are appended by name.
class WeightList {
public:
    void add(const std::string& name, std::vector<std::int64_t> shape);
    /// `name.weight` of this shape and, of its first size, `name.bias`.
    void add_layer(const std::string& name, std::vector<std::int64_t> shape, bool has_bias = true);
    /// The two layers of an embedding of times.
    void add_time_embedding(const std::string& name, std::int64_t frequencies, std::int64_t width);
    /// The last weight that was added.
    WeightSpec& last() { return specs_.back(); }
    std::vector<WeightSpec> all() && { return std::move(specs_); }

private:
    std::vector<WeightSpec> specs_;
};

/// The inputs of a denoiser's graph: `sample` f32[B,C,H,W], `time` f32[B], and `class` i32[B] if it has classes.
class DenoiserInputs {
public:
    /// H and W are `sample_size`, or multiples of `size_step` (ImageSizes). Throws Error(argument), naming the model,
    /// for sizes out of range.
    DenoiserInputs(std::string_view model, Graph& graph, const ImageSizes& sizes, std::int64_t channels,
                   std::int64_t sample_size, std::int64_t size_step, bool has_classes);

    /// Height and width, divided by the size step.
    const Dim& rows() const { return rows_; }
    const Dim& columns() const { return columns_; }
    const Dim& batch() const { return batch_; }
    const Tensor& sample() const { return sample_; }
    const Tensor& time() const { return time_; }
    /// Empty if the model has no classes.
    const Tensor& classes() const { return classes_; }

private:
    Dim batch_, rows_, columns_;
    Tensor sample_, time_, classes_;
};

/// Attention between the rows of x [B,N,C]: projections `to_q`, `to_k`, `to_v` and `to_out.0` of `part`, with the
/// biases that the list of weights has.
Tensor attend(const WeightTable& weight, const Tensor& x, const std::string& part, std::int64_t heads);

/// sin and cos of positions [N] times frequencies: [N, 2 F], sines first. The angles are exact to about 1e-7 for whole
/// positions up to 4096, where products in f32 would be wrong by 3e-5.
Tensor sines(Graph& graph, const Tensor& positions, std::span<const double> frequencies, bool cosine_first = false);

/// The embedding of times: sines of `frequencies`, then two layers with SiLU between.
Tensor embed_time(Graph& graph, const WeightTable& weight, const Tensor& time, std::span<const double> frequencies,
                  bool cosine_first, const std::string& name);

/// 10000^(-i / (count - shift)) for i below count.
std::vector<double> time_frequencies(std::int64_t count, double shift);

/// The first channels of x [B,C,H,W], as the output `prediction`.
void set_prediction(Graph& graph, const Tensor& x, std::int64_t channels);

}  // namespace cairn::inline v0::models
