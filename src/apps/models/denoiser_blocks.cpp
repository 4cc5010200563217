#include "apps/models/denoiser_blocks.hpp"

#include <cmath>

namespace cairn::inline v0::models {
namespace {

/// A size of images in steps: constant, or a symbol up to `most`.
Dim steps_of(std::string_view model, Graph& graph, const char* symbol, std::int64_t most, std::int64_t sample_size,
             std::int64_t size_step) {
    const std::int64_t size = most == 0 ? sample_size : most;
    if (size < 1 || size % size_step != 0)
        throw Error(
            ErrorKind::argument, model,
            "sizes of images must be multiples of " + std::to_string(size_step) + ", got " + std::to_string(size));
    return most == 0 ? Dim(size / size_step) : graph.symbol(symbol, 1, size / size_step);
}

}  // namespace

void WeightList::add(const std::string& name, std::vector<std::int64_t> shape) {
    specs_.push_back({name, std::move(shape)});
}

void WeightList::add_layer(const std::string& name, std::vector<std::int64_t> shape, bool has_bias) {
    const std::int64_t outputs = shape.front();
    add(name + ".weight", std::move(shape));
    if (has_bias) add(name + ".bias", {outputs});
}

void WeightList::add_time_embedding(const std::string& name, std::int64_t frequencies, std::int64_t width) {
    add_layer(name + ".linear_1", {width, 2 * frequencies});
    add_layer(name + ".linear_2", {width, width});
}

DenoiserInputs::DenoiserInputs(std::string_view model, Graph& graph, const ImageSizes& sizes, std::int64_t channels,
                               std::int64_t sample_size, std::int64_t size_step, bool has_classes) {
    if (sizes.max_batch < 1) throw Error(ErrorKind::argument, model, "max_batch must be at least 1");
    batch_ = graph.symbol("B", 0, sizes.max_batch);
    rows_ = steps_of(model, graph, "h", sizes.max_height, sample_size, size_step);
    columns_ = steps_of(model, graph, "w", sizes.max_width, sample_size, size_step);
    sample_ = graph.input("sample", DType::f32, {batch_, channels, size_step * rows_, size_step * columns_});
    time_ = graph.input("time", DType::f32, {batch_});
    if (has_classes) classes_ = graph.input("class", DType::i32, {batch_});
}

Tensor attend(const WeightTable& weight, const Tensor& x, const std::string& part, std::int64_t heads) {
    const auto split = [&](const char* which) { return split_heads(weight.project(x, part + which), heads); };
    const Tensor seen = name(attention(split(".to_q"), split(".to_k"), split(".to_v")), part);
    return weight.project(merge_heads(seen), part + ".to_out.0");
}

Tensor sines(Graph& graph, const Tensor& positions, std::span<const double> frequencies, bool cosine_first) {
    // Each frequency is a number of 12 bits, whose products with positions are exact, and a small rest. The sine and
    // the cosine of the sum follow from those of both.
    std::vector<double> heads, rests;
    for (const double frequency : frequencies) {
        int exponent = 0;
        const double mantissa = std::frexp(frequency, &exponent);
        heads.push_back(std::ldexp(std::nearbyint(std::ldexp(mantissa, 12)), exponent - 12));
        rests.push_back(frequency - heads.back());
    }
    const auto count = static_cast<std::int64_t>(frequencies.size());
    const Tensor column = unsqueeze(positions, 1);
    const Tensor head = column * graph.constant(DType::f32, {count}, heads);
    const Tensor rest = column * graph.constant(DType::f32, {count}, rests);
    const Tensor sine = sin(head) * cos(rest) + cos(head) * sin(rest);
    const Tensor cosine = cos(head) * cos(rest) - sin(head) * sin(rest);
    return cosine_first ? concat({cosine, sine}, 1) : concat({sine, cosine}, 1);
}

Tensor embed_time(Graph& graph, const WeightTable& weight, const Tensor& time, std::span<const double> frequencies,
                  bool cosine_first, const std::string& name) {
    const Tensor hidden = silu(weight.project(sines(graph, time, frequencies, cosine_first), name + ".linear_1"));
    return weight.project(hidden, name + ".linear_2");
}

std::vector<double> time_frequencies(std::int64_t count, double shift) {
    std::vector<double> frequencies;
    for (std::int64_t i = 0; i < count; ++i)
        frequencies.push_back(std::pow(10000.0, -static_cast<double>(i) / (static_cast<double>(count) - shift)));
    return frequencies;
}

void set_prediction(Graph& graph, const Tensor& x, std::int64_t channels) {
    graph.output("prediction", name(x.dim(1) == Dim(channels) ? x : slice(x, 1, 0, channels), "prediction"));
}

}  // namespace cairn::inline v0::models
