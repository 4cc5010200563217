#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"
#include "examples/synthetic_weights.hpp"
#include "tests/apps/models/golden.hpp"

#include <gtest/gtest.h>

#include <algorithm>

// The full-size architectures with weights generated from integers.
namespace cairn::models {
namespace {

const nlohmann::json& recipe() {
    static const nlohmann::json json = test::golden("full_size_random.json");
    return json;
}

TEST(FullSize, TheGeneratorReproducesTheReferenceTensors) {
    for (const bool gpt2 : {true, false}) {
        const std::vector<WeightSpec> weights =
            gpt2 ? gpt2_weights({}) : encoder_weights(EncoderConfig::distilbert_base());
        const auto& listed = recipe()[gpt2 ? "gpt2" : "distilbert"]["tensors"];
        ASSERT_EQ(weights.size(), listed.size());
        const WeightSource source = synthetic::source(weights);
        for (std::size_t t = 0; t < weights.size(); ++t) {
            ASSERT_EQ(weights[t].name, listed[t]["name"].get<std::string>());
            ASSERT_EQ(weights[t].shape, listed[t]["shape"].get<std::vector<std::int64_t>>());
            if (t % 16 > 2) continue;  // a few of each kind; generating all takes long
            const InputView view = source(weights[t].name);
            std::int64_t count = 1;
            for (const std::int64_t size : view.shape) count *= size;
            const auto* values = static_cast<const float*>(view.data);
            for (std::size_t i = 0; i < listed[t]["first4"].size(); ++i)
                EXPECT_EQ(values[i], listed[t]["first4"][i].get<float>()) << weights[t].name;
            EXPECT_EQ(values[count - 1], listed[t]["last"].get<float>()) << weights[t].name;
            view.release(view.owner);
        }
    }
}

TEST(FullSize, Gpt2MatchesTheReference) {
    const auto& g = recipe()["gpt2"];
    const std::vector<WeightSpec> weights = gpt2_weights({});
    Gpt2 model({}, weights, synthetic::source(weights), Context({.threads = 2}), {.capacity = 160});
    std::span<const float> logits = model.forward(g["input_ids"].get<std::vector<std::int32_t>>());
    const double tolerance = 1e-4 * g["logits_std"].get<double>();
    for (std::size_t i = 0; i < g["positions"].size(); ++i)
        EXPECT_NEAR(logits[g["positions"][i].get<std::size_t>()], g["last_logits_at_positions"][i].get<double>(),
                    tolerance);
    std::vector<std::int32_t> greedy;
    while (greedy.size() < 16) {
        greedy.push_back(static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
        logits = model.forward({&greedy.back(), 1});
    }
    EXPECT_EQ(greedy.front(), g["argmax"].get<std::int32_t>());
    EXPECT_EQ(greedy, g["greedy_next_16"].get<std::vector<std::int32_t>>());
}

TEST(FullSize, DistilBertMatchesTheReference) {
    const auto& d = recipe()["distilbert"];
    const std::vector<WeightSpec> weights = encoder_weights(EncoderConfig::distilbert_base());
    Encoder model(EncoderConfig::distilbert_base(), weights, synthetic::source(weights), Context({.threads = 2}), 2);
    const auto rows = d["input_ids"].get<std::vector<std::vector<std::int32_t>>>();
    std::vector<std::vector<bool>> masks;
    for (const auto& mask : d["attention_mask"]) {
        masks.emplace_back();
        for (const auto& item : mask) masks.back().push_back(item.get<int>() != 0);
    }
    const std::span<const float> logits = model.forward(rows, masks);
    for (std::size_t r = 0; r < 2; ++r)
        EXPECT_LE(test::largest_difference(logits.subspan(2 * r, 2), d["logits"][r]), 1e-4 * 0.5) << r;
}

}  // namespace
}  // namespace cairn::models
