#include "cairn/models/denoiser.hpp"

#include "cairn/models/diffusion.hpp"
#include "tests/apps/models/golden.hpp"
#include "tests/apps/models/reference_case.hpp"
#include "tests/io/weights/expect_error.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

// Small U-Nets and diffusion transformers with synthetic weights; tests/golden/diffusion_cases.py has the reference.
namespace cairn::models {
namespace {

const nlohmann::json& model_cases() { return test::diffusion_cases()["cases"]; }

DenoiserConfig config_of(const nlohmann::json& c) {
    const test::TempFolder folder;
    folder.write("config.json", c["config"].dump());
    return read_denoiser(folder.path());
}

Diffusion made(const nlohmann::json& c, const ImageSizes& sizes, const CompileOptions& options = {}) {
    const DenoiserConfig config = config_of(c);
    const std::vector<WeightSpec> tensors = test::tensors_of(c), weights = denoiser_weights(config);
    return {config, {}, weights, test::reference_source(tensors, weights), Context({.threads = 2}), sizes, options};
}

class DenoiserCase : public testing::TestWithParam<std::string> {};

TEST_P(DenoiserCase, ComputesWhatTheReferenceDoes) {
    const nlohmann::json& c = test::case_named(model_cases(), GetParam());
    EXPECT_EQ(denoiser_weights(config_of(c)).size(), c["tensors"].size());
    const nlohmann::json& runs = c["runs"];
    ASSERT_GE(runs.size(), 1U);
    Diffusion model = made(c, runs.size() == 1 ? ImageSizes{.max_batch = 3} : ImageSizes{3, 20, 20}, {.verify = true});
    const auto times = c["times"].get<std::vector<float>>();
    const auto classes = c["classes"].get<std::vector<std::int32_t>>();
    for (const nlohmann::json& run : runs) {
        const auto height = run["height"].get<std::int64_t>(), width = run["width"].get<std::int64_t>();
        const std::vector<float> images = test::reference_elements(1000, run["prediction"].size());
        const std::span<const float> found = model.predict(images, times, classes, height, width);
        EXPECT_LE(test::relative_difference(found, run["prediction"]), 4e-6) << height << " x " << width;

        const std::vector<float> all(found.begin(), found.end());
        const std::size_t elements = images.size() / 3;
        const std::vector<std::int32_t> last(classes.begin() + (classes.empty() ? 0 : 2), classes.end());
        const std::span<const float> alone =
            model.predict(std::span(images).subspan(2 * elements), {&times[2], 1}, last, height, width);
        ASSERT_EQ(alone.size(), elements);
        for (std::size_t i = 0; i < elements; ++i) EXPECT_NEAR(alone[i], all[2 * elements + i], 2e-5);
        EXPECT_EQ(model.predict({}, {}, {}, height, width).size(), 0U);
    }
}

INSTANTIATE_TEST_SUITE_P(All, DenoiserCase, testing::ValuesIn(test::case_names(model_cases())),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cairn::models
