#include "cairn/models/diffusion.hpp"

#include "tests/io/weights/expect_error.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace cairn::models {
namespace {

using nlohmann::json;
using test::refused;
using test::TempFolder;

json unet_with(const json& changes = json::object()) {
    json config = {{"_class_name", "UNet2DModel"},
                   {"sample_size", 8},
                   {"in_channels", 1},
                   {"out_channels", 1},
                   {"block_out_channels", {8, 16}},
                   {"down_block_types", {"DownBlock2D", "AttnDownBlock2D"}},
                   {"up_block_types", {"AttnUpBlock2D", "UpBlock2D"}},
                   {"norm_num_groups", 4},
                   {"num_class_embeds", 5}};
    config.update(changes);
    return config;
}

json dit_with(const json& changes = json::object()) {
    json config = {{"_class_name", "DiTTransformer2DModel"}, {"sample_size", 8}, {"num_embeds_ada_norm", 5}};
    config.update(changes);
    return config;
}

DenoiserConfig read_config(const json& config) {
    const TempFolder folder;
    folder.write("config.json", config.dump());
    return read_denoiser(folder.path());
}

TEST(DiffusionConfig, AbsentEntriesHaveTheDefaultsOfDiffusers) {
    const auto unet = std::get<UnetConfig>(read_config(unet_with()));
    EXPECT_EQ(unet.level_blocks, 2);
    EXPECT_TRUE(unet.has_middle && unet.middle_attention && unet.cosine_first && unet.pads_both_sides);
    EXPECT_EQ(unet.down_attention, (std::vector<bool>{false, true}));
    EXPECT_EQ(unet.up_attention, (std::vector<bool>{true, false}));
    EXPECT_EQ(unet.head_width, 8);
    EXPECT_EQ(unet.size_step(), 2);
    const DenoiserTraits traits = traits_of(unet);
    EXPECT_EQ(traits.classes, 5);
    EXPECT_EQ(traits.null_class, -1);
    EXPECT_EQ(traits_of(read_config(unet_with({{"null_class", 4}}))).null_class, 4);
    EXPECT_FALSE(std::get<UnetConfig>(read_config(unet_with({{"mid_block_type", nullptr}}))).has_middle);
    EXPECT_EQ(std::get<UnetConfig>(read_config(unet_with({{"attention_head_dim", nullptr}}))).head_width, 0);
    EXPECT_EQ(std::get<UnetConfig>(read_config(unet_with({{"sample_size", {4, 4}}}))).sample_size, 4);

    const auto dit = std::get<DitConfig>(read_config(dit_with()));
    EXPECT_EQ(dit.width(), 1152);
    EXPECT_EQ(dit.layers, 28);
    EXPECT_EQ(dit.output_channels, 4) << "as many as in_channels";
    EXPECT_EQ(traits_of(dit).classes, 6);
    EXPECT_EQ(traits_of(dit).null_class, 5);
}

TEST(DiffusionConfig, PartsThatAreNotSupportedAreNamed) {
    const auto expect = [](const json& config, const std::string& what) {
        EXPECT_THAT([&] { read_config(config); }, refused(what, ErrorKind::unsupported)) << config;
    };
    expect({{"_class_name", "UNet2DConditionModel"}},
           "entry \"_class_name\" has \"UNet2DConditionModel\", expected UNet2DModel or DiTTransformer2DModel");
    expect({{"in_channels", 3}}, "entry \"_class_name\" has \"\"");
    expect(unet_with({{"down_block_types", {"DownBlock2D", "SkipDownBlock2D"}}}),
           "entry \"down_block_types\" has \"SkipDownBlock2D\", expected DownBlock2D or AttnDownBlock2D");
    expect(unet_with({{"up_block_types", {"ResnetUpsampleBlock2D", "UpBlock2D"}}}), "has \"ResnetUpsampleBlock2D\"");
    expect(unet_with({{"time_embedding_type", "fourier"}}), "\"time_embedding_type\": \"fourier\" is not supported");
    expect(unet_with({{"downsample_type", "resnet"}}), "\"downsample_type\": \"resnet\" is not supported");
    expect(unet_with({{"upsample_type", "resnet"}}), "\"upsample_type\": \"resnet\" is not supported");
    expect(unet_with({{"class_embed_type", "timestep"}}), "\"class_embed_type\": \"timestep\" is not supported");
    expect(unet_with({{"mid_block_type", "UNetMidBlock2DCrossAttn"}}),
           "\"mid_block_type\": \"UNetMidBlock2DCrossAttn\"");
    expect(unet_with({{"resnet_time_scale_shift", "spatial"}}),
           "entry \"resnet_time_scale_shift\" has \"spatial\", expected default or scale_shift");
    expect(unet_with({{"downsample_padding", 2}}), "\"downsample_padding\": 2 is not supported");
    expect(unet_with({{"sample_size", {4, 8}}}), "\"sample_size\": [4,8] is not supported, expected a square");
    expect(dit_with({{"norm_type", "layer_norm"}}), "\"norm_type\": \"layer_norm\" is not supported");
    expect(dit_with({{"norm_elementwise_affine", true}}), "\"norm_elementwise_affine\": true is not supported");
    expect(dit_with({{"null_class", 2}}), "\"null_class\": 2 is not supported");
}

TEST(DiffusionConfig, WrongEntriesAreRefused) {
    const auto expect = [](const json& config, const std::string& what) {
        EXPECT_THAT([&] { read_config(config); }, refused(what)) << config;
    };
    expect(unet_with({{"block_out_channels", nullptr}}), "entry \"block_out_channels\" is missing");
    expect(unet_with({{"block_out_channels", {8, "16"}}}), "must be a list of positive integers, got [8,\"16\"]");
    expect(unet_with({{"block_out_channels", {8, 16, 32}}}),
           "entry \"down_block_types\" must name as many blocks as \"block_out_channels\" has numbers, 3");
    expect(unet_with({{"block_out_channels", {8, 18}}}), "18 channels, no multiple of groups 4");
    expect(unet_with({{"attention_head_dim", 3}}), "16 channels, no multiple of head width 3");
    expect(unet_with({{"resnet_time_scale_shift", "scale_shift"}, {"attn_norm_num_groups", 3}}),
           "mid_block.attentions.0 has 16 channels, no multiple of groups 3");
    expect(unet_with({{"out_channels", 3}}), "output channels must be the 1 of images or twice as many, got 3");
    expect(unet_with({{"sample_size", nullptr}}), "entry \"sample_size\" is missing");
    expect(unet_with({{"sample_size", 9}}), "sample size 9 is no multiple of 2, as 2 levels need");
    expect(unet_with({{"null_class", 5}}), "null class 5 is not one of 5 classes");
    expect(unet_with({{"act_fn", "mish"}}), "activation \"mish\" is not known");
    expect(unet_with({{"layers_per_block", 0}}), "entry \"layers_per_block\" must be a positive integer, got 0");
    expect(unet_with({{"layers_per_block", 5000}}), "blocks of a level must be in 1..1000, got 5000");
    expect(unet_with({{"freq_shift", 4}}), "more than the frequency shift");
    expect(unet_with({{"mid_block_scale_factor", 0}}), "the scale of the middle must be above 0");
    expect(dit_with({{"sample_size", 9}}), "sample size 9 is no multiple of patch 2");
    expect(dit_with({{"attention_head_dim", 7}, {"num_attention_heads", 3}}), "must be a multiple of 4");
    expect(dit_with({{"activation_fn", "geglu"}}), "activation \"geglu\" is not supported");
    expect(dit_with({{"out_channels", 5}}), "output channels must be the 4 of images or twice as many, got 5");
    expect(dit_with({{"num_layers", 20000}}), "entry \"num_layers\" must be at most 10000, got 20000");
}

TEST(DiffusionConfig, ConfigsOfCallersAreChecked) {
    const auto expect = [](const auto& call, const std::string& what) {
        EXPECT_THAT(call, refused(what, ErrorKind::argument));
    };
    expect([] { unet_weights({.level_channels = {}}); }, "levels must be in 1..16, got 0");
    expect([] { unet_weights({.level_channels = {128}}); }, "as many entries of down_attention");
    expect([] { unet_weights({.level_channels = {128, -256}}); }, "channels of a level must be");
    expect([] { unet_weights({.classes = 4, .null_class = -2}); }, "null class -2 is not one of 4 classes");
    expect([] { dit_weights({.heads = 0}); }, "heads must be in 1..1048576, got 0");
    const UnetConfig unet;
    const std::vector<WeightSpec> weights = unet_weights(unet);
    expect([&] { unet_graph(unet, weights, {.max_batch = 0}); }, "max_batch must be at least 1");
    expect([&] { unet_graph(unet, weights, {.max_height = 33}); }, "sizes of images must be multiples of 2, got 33");
    expect([&] { unet_graph(unet, weights, {.max_width = -2}); }, "sizes of images must be multiples of 2, got -2");
    expect([&] { unet_graph(unet, {}); }, "the list has no");
}

}  // namespace
}  // namespace cairn::models
