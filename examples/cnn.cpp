// A small convolutional network: conv2d of 3 x 3, relu, max_pool, flatten, linear. It scores how vertical and how
// horizontal the strokes in images of 8 x 8 pixels are.

#include <cairn/cairn.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <span>
#include <string_view>
#include <vector>

using namespace cairn;

namespace {

// Each channel finds the strokes of one direction; the linear layer takes the mean of its 4 x 4 pooled pixels.
constexpr float filters[2][3][3] = {{{-1, 2, -1}, {-1, 2, -1}, {-1, 2, -1}}, {{-1, -1, -1}, {2, 2, 2}, {-1, -1, -1}}};
constexpr float thresholds[2] = {-0.1f, -0.1f};
const std::vector<float> means = [] {
    std::vector<float> w(32 * 2);  // [32, 2]: 2 channels of 16 pixels, 2 scores
    for (std::size_t i = 0; i < 32; ++i) w[2 * i + i / 16] = 1.0f / 16;
    return w;
}();
const std::map<std::string_view, InputView> weights = {{"conv.w", {filters, DType::f32, {2, 1, 3, 3}}},
                                                       {"conv.b", {thresholds, DType::f32, {2}}},
                                                       {"score.w", {means.data(), DType::f32, {32, 2}}}};

std::vector<double> by_loops(const std::vector<float>& images) {
    std::vector<double> scores;
    for (std::size_t first = 0; first < images.size(); first += 64) {
        double score[2] = {};
        for (std::size_t pooled = 0; pooled < 32; ++pooled) {
            const std::size_t channel = pooled / 16, top = pooled % 16 / 4 * 2, left = pooled % 4 * 2;
            double largest = 0;  // relu
            for (std::size_t y = top; y < top + 2; ++y)
                for (std::size_t x = left; x < left + 2; ++x) {
                    double sum = thresholds[channel];
                    for (std::size_t i = 0; i < 3; ++i)
                        for (std::size_t j = 0; j < 3; ++j)
                            if (y + i >= 1 && y + i <= 8 && x + j >= 1 && x + j <= 8)  // zeros around the image
                                sum += filters[channel][i][j] * images[first + 8 * (y + i - 1) + x + j - 1];
                    largest = std::max(largest, sum);
                }
            for (std::size_t k = 0; k < 2; ++k) score[k] += largest * means[2 * pooled + k];
        }
        scores.insert(scores.end(), {score[0], score[1]});
    }
    return scores;
}

double largest_difference(std::span<const float> y, const std::vector<double>& expected) {
    if (y.size() != expected.size()) return HUGE_VAL;
    double largest = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double difference = std::abs(y[i] - expected[i]);
        if (std::isnan(difference)) return difference;
        largest = std::max(largest, difference);
    }
    return largest;
}

}  // namespace

int main() {
    Graph graph("cnn");
    const Dim batch = graph.symbol("B", 1, 64);
    const Tensor image = graph.input("image", DType::f32, {batch, 1, 8, 8});
    const Tensor conv_w = graph.weight("conv.w", DType::f32, {2, 1, 3, 3});
    const Tensor conv_b = graph.weight("conv.b", DType::f32, {2});
    const Tensor found = name(relu(conv2d(image, conv_w, conv_b, {.padding = 1})), "found");  // [B, 2, 8, 8]
    const Tensor pooled = name(max_pool(found, 2), "pooled");                                 // [B, 2, 4, 4]
    const Tensor flat = reshape(pooled, {batch, -1});                                         // [B, 32]
    graph.output("score", linear(flat, graph.weight("score.w", DType::f32, {32, 2})));

    CompiledGraph model = compile(graph, Context());
    model.bind([](std::string_view name) { return weights.at(name); });

    std::vector<float> strokes(2 * 64), diagonal(64);
    for (std::size_t i = 0; i < 8; ++i) strokes[8 * i + 3] = strokes[64 + 8 * 5 + i] = diagonal[9 * i] = 1;
    for (const std::vector<float>& images : {strokes, diagonal}) {
        model.set("image", images);  // B is the number of images
        model.run();
        const std::span<const float> score = model.output("score").as<float>();
        for (std::size_t i = 0; i < score.size(); i += 2)
            std::cout << "vertical: " << score[i] << ", horizontal: " << score[i + 1] << '\n';
        const double difference = largest_difference(score, by_loops(images));
        std::cout << "largest difference from plain loops: " << difference << '\n';
        if (!(difference < 1e-5)) return 1;
    }
}
