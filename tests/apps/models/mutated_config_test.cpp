// Randomly mutated config.json: it is read or refused with a cairn::Error, and a graph can be built from what is read.
#include "cairn/models/denoiser.hpp"
#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"
#include "cairn/models/noise_schedule.hpp"
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

TEST(MutatedConfig, OfEncoders) {
    const std::string sizes = R"("vocab_size": 8, "max_position_embeddings": 6, "hidden_size": 6,
        "num_attention_heads": 2, "num_hidden_layers": 2, "intermediate_size": 12, "id2label": {"0": "no", "1": "yes"},
        "label2id": {"no": 0, "yes": 1}, "num_labels": 2, "pad_token_id": 1, "tie_word_embeddings": true)";
    const std::string sound[] = {
        R"({"model_type": "distilbert", "vocab_size": 8, "max_position_embeddings": 4, "dim": 6, "n_heads": 2,
            "n_layers": 1, "hidden_dim": 12, "activation": "gelu", "id2label": {"0": "no", "1": "yes"},
            "label2id": {"no": 0, "yes": 1}, "num_labels": 2, "hidden_size": 6})",
        R"({"model_type": "bert", "architectures": ["BertForMaskedLM"], "type_vocab_size": 2, )" + sizes + '}',
        R"({"model_type": "roberta", "architectures": ["RobertaForSequenceClassification"], "type_vocab_size": 1, )" +
            sizes + '}',
        R"({"model_type": "albert", "architectures": ["AlbertForQuestionAnswering"], "embedding_size": 4,
            "num_hidden_groups": 2, "inner_group_num": 1, )" +
            sizes + '}'};
    for (std::uint64_t i = 0; i < std::size(sound); ++i)
        expect_errors_only(sound[i], 2 + i, [](const std::filesystem::path& path) {
            const EncoderConfig config = EncoderConfig::read(path);
            if (config.layers * config.inner_layers <= 4) encoder_graph(config, encoder_weights(config));
        });
}

TEST(MutatedConfig, OfDiffusionModels) {
    const std::string unet = R"({"_class_name": "UNet2DModel", "sample_size": 8, "in_channels": 1, "out_channels": 2,
        "block_out_channels": [8, 16], "down_block_types": ["DownBlock2D", "AttnDownBlock2D"],
        "up_block_types": ["AttnUpBlock2D", "UpBlock2D"], "layers_per_block": 1, "norm_num_groups": 4, "act_fn": "silu",
        "num_class_embeds": 5, "null_class": 4, "class_embed_type": null, "attention_head_dim": 8, "freq_shift": 0,
        "mid_block_scale_factor": 1, "resnet_time_scale_shift": "default", "attn_norm_num_groups": null})";
    expect_errors_only(unet, 7, [](const std::filesystem::path& path) {
        const DenoiserConfig config = read_denoiser(path.parent_path());
        const auto* read = std::get_if<UnetConfig>(&config);
        if (read == nullptr || read->level_blocks <= 4) denoiser_graph(config, denoiser_weights(config));
    });
    const std::string dit = R"({"_class_name": "DiTTransformer2DModel", "sample_size": 8, "in_channels": 1,
        "out_channels": null, "patch_size": 2, "num_attention_heads": 2, "attention_head_dim": 8, "num_layers": 1,
        "num_embeds_ada_norm": 5, "norm_type": "ada_norm_zero", "activation_fn": "gelu", "attention_bias": true})";
    expect_errors_only(dit, 8, [](const std::filesystem::path& path) {
        const DenoiserConfig config = read_denoiser(path.parent_path());
        const auto* read = std::get_if<DitConfig>(&config);
        if (read == nullptr || read->layers <= 4) denoiser_graph(config, denoiser_weights(config));
    });
}

TEST(MutatedConfig, OfNoiseSchedules) {
    const std::string sound = R"({"_class_name": "DDIMScheduler", "num_train_timesteps": 50, "beta_start": 0.0001,
        "beta_end": 0.02, "beta_schedule": "scaled_linear", "prediction_type": "v_prediction", "steps_offset": 1,
        "timestep_spacing": "leading", "clip_sample": true, "clip_sample_range": 1.5, "trained_betas": null})";
    expect_errors_only(sound, 9, [](const std::filesystem::path& path) {
        const NoiseSchedule schedule = NoiseSchedule::read(path);
        if (schedule.training_steps <= 1000 && schedule.steps_offset < schedule.training_steps) ddim_plan(schedule, 1);
    });
}

}  // namespace
}  // namespace cairn::models
