#include "cairn/models/diffusion.hpp"

#include "tests/apps/models/golden.hpp"
#include "tests/apps/models/reference_case.hpp"
#include "tests/io/weights/expect_error.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>

// The models of digits in examples/models; tests/golden/digits_diffusion.py has the reference.
namespace cairn::models {
namespace {

using nlohmann::json;
using test::refused;

const json& digits() {
    static const json all = test::golden("digits_diffusion.json");
    return all;
}

const Context& shared_context() {
    static const Context context({.threads = 2});
    return context;
}

Diffusion open(const std::string& model, const ImageSizes& sizes = {}) {
    return Diffusion::load(test::model_folder(model), shared_context(), sizes);
}

SampleOptions options_of(const json& c) {
    SampleOptions options{.steps = digits()["steps"].get<std::int64_t>(), .guidance = c["guidance"].get<double>()};
    if (c["sampler"] != "ddim") options.sampler = DiffusionSampler::euler;
    if (c["sampler"] == "euler_karras") options.karras = true;
    return options;
}

class DigitModel : public testing::TestWithParam<const char*> {};

TEST_P(DigitModel, DrawsWhatTheReferenceDraws) {
    Diffusion model = open(GetParam());
    const auto noise = digits()["noise"].get<std::vector<float>>();
    const auto classes = digits()["classes"].get<std::vector<std::int32_t>>();
    int count = 0;
    for (const json& c : digits()["cases"]) {
        if (c["model"] != GetParam()) continue;
        ++count;
        const std::vector<float> images = model.sample_from(noise, classes, options_of(c));
        EXPECT_LE(test::largest_difference(images, c["images"]), 1e-5) << c["sampler"] << ' ' << c["guidance"];
    }
    EXPECT_EQ(count, 4);
}

/// The class of an image, by the logistic regression of the reference.
std::int64_t recognised(std::span<const float> image) {
    const json& classifier = digits()["classifier"];
    std::vector<double> scores;
    for (std::size_t c = 0; c < 10; ++c) {
        double score = classifier["bias"][c].get<double>();
        for (std::size_t i = 0; i < image.size(); ++i)
            score += classifier["weights"][c][i].get<double>() * static_cast<double>(image[i]);
        scores.push_back(score);
    }
    return std::max_element(scores.begin(), scores.end()) - scores.begin();
}

TEST_P(DigitModel, AClassifierOfRealDigitsRecognisesTheImages) {
    Diffusion model = open(GetParam(), {.max_batch = 40});
    std::vector<std::int32_t> classes;
    for (std::int32_t i = 0; i < 100; ++i) classes.push_back(i % 10);
    const std::vector<float> images = model.sample(classes, {.guidance = 2, .seed = 1});
    ASSERT_EQ(images.size(), 6400U);
    int right = 0;
    for (std::size_t i = 0; i < classes.size(); ++i)
        right += recognised(std::span(images).subspan(64 * i, 64)) == classes[i] ? 1 : 0;
    RecordProperty("recognised", right);
    EXPECT_GE(right, 90);
}

TEST_P(DigitModel, GuidanceInOneRunIsThatOfTwo) {
    Diffusion model = open(GetParam());
    const std::vector<float> images = test::reference_elements(1, 128), times{700, 700};
    const std::vector<std::int32_t> classes{4, 9}, none(2, 10);
    const auto predicted = [&](const std::vector<std::int32_t>& which) {
        const std::span<const float> found = model.predict(images, times, which);
        return std::vector<float>(found.begin(), found.end());
    };
    const std::vector<float> given = predicted(classes), free = predicted(none);
    // One step of a sampler that ends at its prediction, made by hand from two runs.
    const SamplerStep step = ddim_plan(model.schedule(), 1).steps[0];
    const std::vector<float> at_start(2, static_cast<float>(step.time));
    const std::vector<float> first_given = [&] {
        const std::span<const float> found = model.predict(images, at_start, classes);
        return std::vector<float>(found.begin(), found.end());
    }();
    const std::span<const float> first_free = model.predict(images, at_start, none);
    std::vector<float> guided(128), expected = images;
    for (std::size_t i = 0; i < guided.size(); ++i) guided[i] = first_free[i] + 3 * (first_given[i] - first_free[i]);
    step.apply(guided, expected);
    const std::vector<float> found = model.sample_from(images, classes, {.steps = 1, .guidance = 3});
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 2e-5);
    EXPECT_NE(given, free) << "the model reads the class";
}

TEST_P(DigitModel, SeedsDecideAndBatchesDoNot) {
    Diffusion all = open(GetParam(), {.max_batch = 10}), few = open(GetParam(), {.max_batch = 3});
    const std::vector<std::int32_t> classes{1, 2, 3, 4, 5};
    const SampleOptions options{.steps = 6, .guidance = 1.5, .eta = 1, .seed = 11};
    const std::vector<float> one = all.sample(classes, options), other = few.sample(classes, options);
    ASSERT_EQ(one.size(), 320U);
    ASSERT_EQ(other.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], other[i], 1e-4);
    EXPECT_EQ(all.sample(classes, options), one);
    SampleOptions another = options;
    another.seed = 12;
    EXPECT_NE(all.sample(classes, another), one);
    another = options;
    another.eta = 0;
    EXPECT_NE(all.sample(classes, another), one);
    EXPECT_TRUE(all.sample(std::span<const std::int32_t>(), options).empty());
}

TEST_P(DigitModel, WrongCallsAreRefusedAndTheModelIsStillUsable) {
    Diffusion model = open(GetParam(), {.max_batch = 4});
    const std::vector<float> before = model.sample({7}, {.steps = 2});
    const auto expect = [&](const auto& call, const std::string& what) {
        EXPECT_THAT(call, refused(what, ErrorKind::argument)) << what;
        EXPECT_EQ(model.sample({7}, {.steps = 2}), before) << what;
    };
    expect([&] { model.sample({7}, {.steps = 0}); }, "steps must be in 1..1000, the number of training steps, got 0");
    expect([&] { model.sample({7}, {.steps = 1001}); }, "the number of training steps, got 1001");
    expect([&] { model.sample({7, 11}); }, "class 11 is not one of the 11 of the model");
    expect([&] { model.sample({-1}); }, "class -1 is not one of the 11 of the model");
    expect([&] { model.sample({7}, {.guidance = std::numeric_limits<double>::infinity()}); },
           "guidance must be finite, got inf");
    expect([&] { model.sample({7}, {.eta = 2}); }, "eta must be in 0..1");
    expect([&] { model.sample({7}, {.karras = true}); }, "karras is for the sampler euler");
    expect([&] { model.sample({7}, {.sampler = DiffusionSampler::euler, .eta = 1}); }, "eta is for the sampler ddim");
    expect([&] { model.sample({7}, {.height = 16}); }, "height 16 is not the 8 of this model");
    expect([&] { model.sample(2, {.steps = 2}); }, "each of 2 images needs a class, got 0 classes");
    std::vector<float> noise(64, 0.5f);
    const std::vector<std::int32_t> seven{7}, two{7, 7};
    expect([&] { model.sample_from(noise, two); }, "each of 1 images needs a class, got 2 classes");
    expect([&] { model.sample_from(std::span(noise).first(63), seven); },
           "noise of 63 elements is no number of images of 64");
    const std::vector<float> time{5}, no_time{std::numeric_limits<float>::quiet_NaN()}, five(5, 1.0f), many(5 * 64);
    expect([&] { model.predict(noise, no_time, seven); }, "times must be finite, but element 0 is nan");
    expect([&] { model.predict(many, time, seven); }, "1 images of 64 elements need 64, got 320");
    expect([&] { model.predict(many, five, std::vector<std::int32_t>(5, 1)); }, "5 images, the model was made for 4");
    noise[3] = std::numeric_limits<float>::quiet_NaN();
    expect([&] { model.sample_from(noise, seven); }, "noise must be finite, but element 3 is nan");
}

TEST_P(DigitModel, OtherSizesOfImages) {
    Diffusion model = open(GetParam(), {.max_batch = 2, .max_height = 16, .max_width = 12});
    EXPECT_EQ(model.sample({1}, {.steps = 2, .height = 16, .width = 12}).size(), 192U);
    EXPECT_EQ(model.sample({1}, {.steps = 2}).size(), 64U);
    EXPECT_THAT([&] { model.sample({1}, {.height = 9}); },
                refused("height 9 is not a multiple of 2 up to 16", ErrorKind::argument));
    EXPECT_THAT([&] { model.sample({1}, {.width = 14}); },
                refused("width 14 is not a multiple of 2 up to 12", ErrorKind::argument));
    EXPECT_THAT([&] { model.sample({1}, {.height = -2}); },
                refused("height -2 is not a multiple of 2 up to 16", ErrorKind::argument));
}

INSTANTIATE_TEST_SUITE_P(All, DigitModel, testing::Values("digits-unet", "digits-dit"),
                         [](const auto& info) { return std::string(info.param).substr(7); });

TEST(Diffusion, ModelsWithoutClassesHaveNoGuidance) {
    const UnetConfig config{.sample_size = 4,
                            .channels = 1,
                            .output_channels = 1,
                            .level_channels = {4},
                            .down_attention = {false},
                            .up_attention = {false},
                            .level_blocks = 1,
                            .has_middle = false,
                            .groups = 2};
    const std::vector<WeightSpec> weights = unet_weights(config);
    Diffusion model(config, {}, weights, test::reference_source(weights, weights), shared_context(), {.max_batch = 2});
    EXPECT_EQ(model.sample(3, {.steps = 2}).size(), 48U);
    EXPECT_TRUE(model.sample(0, {.steps = 2}).empty());
    const auto expect = [](const auto& call, const std::string& what) {
        EXPECT_THAT(call, refused(what, ErrorKind::argument));
    };
    expect([&] { model.sample(1, {.guidance = 2}); },
           "guidance needs a model with a null class, and this one has none");
    expect([&] { model.sample({3}); }, "the model has no classes: give the number of images");
    expect([&] { model.sample(-1); }, "the number of images must be at least 0, got -1");
    const std::vector<float> noise(16), time{1};
    const std::vector<std::int32_t> one{0};
    expect([&] { model.sample_from(noise, one); }, "the model has no classes");
    expect([&] { model.predict(noise, time, one); }, "the model has no classes");
}

TEST(Diffusion, GuidanceNeedsTwoRows) {
    Diffusion model = open("digits-unet", {.max_batch = 1});
    EXPECT_THAT([&] { model.sample({1}, {.guidance = 2}); },
                refused("guidance needs max_batch of at least 2, got 1", ErrorKind::argument));
    EXPECT_EQ(model.sample({1, 2}, {.steps = 1}).size(), 128U);
}

/// A copy of a model's folder, to be damaged.
class DamagedFolder : public testing::Test {
protected:
    DamagedFolder() { std::filesystem::copy(test::model_folder("digits-unet"), folder_ / "model"); }

    void change(const char* file, const json& changes) const {
        json config;
        std::ifstream(folder_ / "model" / file) >> config;
        config.update(changes);
        std::ofstream(folder_ / "model" / file) << config;
    }
    void expect(const std::string& what, ErrorKind kind = ErrorKind::file) const {
        EXPECT_THAT([&] { Diffusion::load(folder_ / "model", shared_context()); }, refused(what, kind));
    }

    test::TempFolder folder_;
};

TEST_F(DamagedFolder, IsRefused) {
    change("config.json", {{"num_class_embeds", nullptr}, {"null_class", nullptr}});
    expect("1 tensors have no place in the model of config.json, class_embedding.weight among them");
    change("config.json", {{"num_class_embeds", 12}});
    expect("class_embedding.weight is [11,64], expected [12,64]");
    change("config.json", {{"num_class_embeds", 11}, {"layers_per_block", 2}});
    expect("down_blocks.0.resnets.1.norm1.weight is missing");
    change("config.json", {{"layers_per_block", 1}, {"_class_name", "UNet1DModel"}});
    expect("entry \"_class_name\" has \"UNet1DModel\"", ErrorKind::unsupported);
    change("config.json", {{"_class_name", "UNet2DModel"}});
    change("scheduler_config.json", {{"beta_schedule", "exponential"}});
    expect("entry \"beta_schedule\" has \"exponential\"", ErrorKind::unsupported);
    change("scheduler_config.json", {{"beta_schedule", "linear"}});
    EXPECT_EQ(Diffusion::load(folder_ / "model", shared_context()).traits().classes, 11) << "mended";
    std::filesystem::remove(folder_ / "model/diffusion_pytorch_model.safetensors");
    expect("diffusion_pytorch_model.safetensors");
    std::filesystem::remove(folder_ / "model/scheduler_config.json");
    expect("cannot read");
    std::filesystem::remove(folder_ / "model/config.json");
    expect("cannot read");
}

TEST_F(DamagedFolder, PipelinesHaveTheirPartsInFolders) {
    const std::filesystem::path model = folder_ / "model", pipeline = folder_ / "pipeline";
    std::filesystem::create_directories(pipeline / "unet");
    std::filesystem::create_directories(pipeline / "scheduler");
    for (const char* name : {"config.json", "diffusion_pytorch_model.safetensors"})
        std::filesystem::rename(model / name, pipeline / "unet" / name);
    std::filesystem::rename(model / "scheduler_config.json", pipeline / "scheduler/scheduler_config.json");
    Diffusion moved = Diffusion::load(pipeline, shared_context()), original = open("digits-unet");
    EXPECT_EQ(moved.sample({5}, {.steps = 2}), original.sample({5}, {.steps = 2}));
    const DenoiserConfig config = read_denoiser(pipeline);
    EXPECT_EQ(denoiser_weights(config, pipeline)[0].dtype, DType::f16);
}

TEST_F(DamagedFolder, TheNextStartIsCached) {
    Diffusion first = Diffusion::load(folder_ / "model", shared_context(), {}, {}, folder_ / "cache");
    EXPECT_TRUE(std::filesystem::exists(folder_ / "cache/model.program"));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "cache/model.packed"));
    Diffusion second = Diffusion::load(folder_ / "model", shared_context(), {}, {}, folder_ / "cache");
    EXPECT_EQ(first.sample({5}, {.steps = 3}), second.sample({5}, {.steps = 3}));
}

}  // namespace
}  // namespace cairn::models
