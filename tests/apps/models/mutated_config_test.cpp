// Randomly mutated config.json: it is read or refused with a cairn::Error, and a graph can be built from what is read.
#include "cairn/models/distilbert.hpp"
#include "cairn/models/gpt2.hpp"
#include "tests/io/json_reader/json_mutator.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gtest/gtest.h>

namespace cairn::models {
namespace {

template <class Read>
void expect_errors_only(const std::string& sound, std::uint64_t seed, const Read& read) {
    test::Mutator mutator(seed);
    const test::TempFolder folder;
    const int rounds = 3000;
    int count = 0;
    for (int round = 0; round < rounds; ++round) {
        const std::string text = mutator.mutate(sound);
        const auto path = folder.write("config.json", text);
        try {
            read(path);
            ++count;
        } catch (const Error& error) {
            EXPECT_TRUE(error.kind() == ErrorKind::file || error.kind() == ErrorKind::unsupported) << error.what();
            EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
        } catch (const std::exception& error) {
            ADD_FAILURE() << "seed " << seed << ", round " << round << ": " << error.what() << "\n" << text;
        }
    }
    EXPECT_GT(count, rounds / 40);
    EXPECT_LT(count, rounds * 39 / 40);
}

TEST(MutatedConfig, OfGpt2) {
    const std::string sound = R"({"model_type": "gpt2", "vocab_size": 8, "n_positions": 4, "n_embd": 6, "n_head": 2,
        "n_layer": 1, "n_inner": null, "layer_norm_epsilon": 1e-05, "activation_function": "gelu_new",
        "scale_attn_weights": true, "tie_word_embeddings": true, "architectures": ["GPT2LMHeadModel"]})";
    expect_errors_only(sound, 1, [](const std::filesystem::path& path) {
        const Gpt2Config config = Gpt2Config::read(path);
        if (config.layers <= 4) gpt2_graph(config, gpt2_weights(config));
    });
}

TEST(MutatedConfig, OfDistilBert) {
    const std::string sound = R"({"model_type": "distilbert", "vocab_size": 8, "max_position_embeddings": 4, "dim": 6,
        "n_heads": 2, "n_layers": 1, "hidden_dim": 12, "activation": "gelu", "id2label": {"0": "no", "1": "yes"},
        "label2id": {"no": 0, "yes": 1}, "num_labels": 2, "hidden_size": 6})";
    expect_errors_only(sound, 2, [](const std::filesystem::path& path) {
        const DistilBertConfig config = DistilBertConfig::read(path);
        if (config.layers <= 4) distilbert_graph(config, distilbert_weights(config));
    });
}

}  // namespace
}  // namespace cairn::models
