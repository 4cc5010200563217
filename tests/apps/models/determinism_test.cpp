#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"
#include "tests/apps/models/golden.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

/// A compiled graph computes the same bits in each run, independently of the assignment of work to threads.
namespace cairn::models {
namespace {

using Logits = std::vector<float>;

// `run` gives all logits of one run.
void expect_same_bits(const std::function<Logits()>& run, int runs) {
    const Logits first = run();
    ASSERT_FALSE(first.empty());
    for (int i = 1; i < runs; ++i) {
        const Logits again = run();
        ASSERT_EQ(again.size(), first.size());
        ASSERT_EQ(std::memcmp(again.data(), first.data(), first.size() * sizeof(float)), 0) << "run " << i;
    }
}

class BitwiseDeterminism : public testing::TestWithParam<int> {};

TEST_P(BitwiseDeterminism, InAHundredRunsOfGpt2) {
    Gpt2 model = Gpt2::load(test::model_folder("shakespeare-gpt2"), Context({.threads = GetParam()}));
    const auto ids = test::golden("shakespeare_gpt2.json")["cases"].back()["ids"].get<std::vector<std::int32_t>>();
    const auto run = [&] {
        model.rewind();
        Logits all;
        const std::span<const std::int32_t> prompt = std::span(ids).first(ids.size() - 3);
        for (const auto piece : {prompt, std::span(ids).last(3).first(1), std::span(ids).last(2)}) {
            const std::span<const float> logits = model.forward(piece);
            all.insert(all.end(), logits.begin(), logits.end());
        }
        return all;
    };
    expect_same_bits(run, 100);
}

TEST_P(BitwiseDeterminism, InAHundredRunsOfDistilBert) {
    Encoder model =
        Encoder::load(test::model_folder("sst2-distilbert"), Context({.threads = GetParam()}), {.max_batch = 6});
    const auto file = test::golden("sst2_distilbert.json");
    std::vector<std::vector<std::int32_t>> rows;
    for (const std::size_t i : file["padded_batch"]["cases"].get<std::vector<std::size_t>>())
        rows.push_back(file["cases"][i]["ids"].get<std::vector<std::int32_t>>());
    const auto run = [&] {
        const std::span<const float> logits = model.forward(rows);
        return Logits(logits.begin(), logits.end());
    };
    expect_same_bits(run, 100);
}

INSTANTIATE_TEST_SUITE_P(Threads, BitwiseDeterminism, testing::Values(1, 2, 3), testing::PrintToStringParamName());

}  // namespace
}  // namespace cairn::models
