#include "bench/model_minimum_work.hpp"

#include <gtest/gtest.h>

#include <functional>

/// Compares the minimum work of workloads with counts of their products.
namespace bench {
namespace {

double product(double rows, double inner, double columns) { return 2 * rows * inner * columns; }

cairn::models::Gpt2Config small_gpt2() {
    cairn::models::Gpt2Config config;
    config.vocabulary = 11;
    config.positions = 16;
    config.width = 6;
    config.heads = 2;
    config.layers = 2;
    config.inner = 10;
    return config;
}

MinimumWork of(const Workload& work, const cairn::models::Gpt2Config& config) {
    return gpt2_minimum_work(work, config, gpt2_weights(config));
}

TEST(ModelMinimumWork, OfAllLogitsIncludesAllProducts) {
    const Workload work{.kind = Workload::Kind::prefill, .length = 3, .batch = 2, .all_logits = true};
    double layer = product(3, 6, 18) + product(3, 6, 6) + product(3, 6, 10) + product(3, 10, 6);
    for (const int keys : {1, 2, 3}) layer += 2 * product(1, 6, keys);  // scores and weighted values of all heads
    EXPECT_EQ(of(work, small_gpt2()).flops, 2 * (2 * layer + product(3, 6, 11)));
}

TEST(ModelMinimumWork, OfLastLogitsIncludesOnePositionOfTheLastLayer) {
    const Workload work{.kind = Workload::Kind::prefill, .length = 3};
    double first = product(3, 6, 18) + product(3, 6, 6) + product(3, 6, 10) + product(3, 10, 6);
    for (const int keys : {1, 2, 3}) first += 2 * product(1, 6, keys);
    const double last = product(3, 6, 12) + product(1, 6, 6) + product(1, 6, 6) + product(1, 6, 10) +
                        product(1, 10, 6) + 2 * product(1, 6, 3);
    EXPECT_EQ(of(work, small_gpt2()).flops, first + last + product(1, 6, 11));
}

TEST(ModelMinimumWork, OfATokenIncludesAllWeightsAndEarlierKeysAndValues) {
    const Workload work{.kind = Workload::Kind::decode, .length = 5};
    const auto config = small_gpt2();
    const double layer =
        product(1, 6, 18) + product(1, 6, 6) + product(1, 6, 10) + product(1, 10, 6) + 2 * product(1, 6, 6);
    const MinimumWork needs = of(work, config);
    EXPECT_EQ(needs.flops, 2 * layer + product(1, 6, 11));
    double weights = 0;
    for (const auto& weight : gpt2_weights(config)) {
        double count = 1;
        for (const auto size : weight.shape) count *= static_cast<double>(size);
        weights += weight.name.ends_with("wpe.weight") ? 6 : count;  // one row of the positions
    }
    EXPECT_EQ(needs.bytes, 4 * (weights + 2 * 2 * 5 * 6));
}

TEST(ModelMinimumWork, OfTablesIncludesOnlyTheRowsRead) {
    cairn::models::Gpt2Config tied = small_gpt2(), apart = tied;
    apart.tied = false;
    const auto bytes = [&](std::int64_t length, const auto& config) {
        return of({.kind = Workload::Kind::prefill, .length = length}, config).bytes;
    };
    EXPECT_EQ(bytes(4, tied) - bytes(3, tied), 4 * 6);        // one more position
    EXPECT_EQ(bytes(4, apart) - bytes(3, apart), 2 * 4 * 6);  // one more position and token
    EXPECT_EQ(bytes(14, apart) - bytes(13, apart), 4 * 6) << "no more tokens than the vocabulary has";
    std::vector<cairn::models::WeightSpec> halves = gpt2_weights(tied);
    for (auto& weight : halves) weight.dtype = cairn::DType::f16;
    EXPECT_EQ(2 * gpt2_minimum_work({.length = 3}, tied, halves).bytes, bytes(3, tied)) << "as they are stored";
}

TEST(ModelMinimumWork, OfAClassifier) {
    cairn::models::EncoderConfig config = cairn::models::EncoderConfig::distilbert_base();
    config.vocabulary = 100;
    config.positions = 8;
    config.width = 6;
    config.heads = 3;
    config.layers = 2;
    config.inner = 10;
    config.labels = {"a", "b", "c"};
    const Workload work{.kind = Workload::Kind::classify, .length = 4, .batch = 3};
    const double first = product(4, 6, 18) + 2 * 4 * product(1, 6, 4) + product(4, 6, 6) + 2 * product(4, 6, 10);
    const double last = product(4, 6, 12) + 2 * product(1, 6, 6) + 2 * product(1, 6, 4) + 2 * product(1, 6, 10);
    const MinimumWork needs = distilbert_minimum_work(work, config, encoder_weights(config));
    EXPECT_EQ(needs.flops, 3 * (first + last + product(1, 6, 6) + product(1, 6, 3)));
    double weights = 0;
    for (const auto& weight : encoder_weights(config)) {
        double count = 1;
        for (const auto size : weight.shape) count *= static_cast<double>(size);
        if (weight.name.ends_with("word_embeddings.weight")) count = 12 * 6;
        if (weight.name.ends_with("position_embeddings.weight")) count = 4 * 6;
        weights += count;
    }
    EXPECT_EQ(needs.bytes, 4 * weights);
}

}  // namespace
}  // namespace bench
