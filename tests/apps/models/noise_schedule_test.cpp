#include "cairn/models/noise_schedule.hpp"

#include "tests/apps/models/golden.hpp"
#include "tests/apps/models/reference_case.hpp"
#include "tests/io/weights/expect_error.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

// Schedules and samplers; tests/golden/diffusion_cases.py has the reference.
namespace cairn::models {
namespace {

using nlohmann::json;
using test::refused;

const json& schedules() { return test::diffusion_cases()["schedules"]; }

NoiseSchedule schedule_of(const json& config) {
    const test::TempFolder folder;
    return NoiseSchedule::read(folder.write("scheduler_config.json", config.dump()));
}

SamplerPlan plan_of(const json& c, const NoiseSchedule& schedule) {
    const auto steps = c["steps"].get<std::int64_t>();
    return c["sampler"] == "ddim" ? ddim_plan(schedule, steps, c["eta"].get<double>())
                                  : euler_plan(schedule, steps, schedule.karras);
}

class ScheduleCase : public testing::TestWithParam<std::string> {};

TEST_P(ScheduleCase, StepsAsTheReferenceDoes) {
    const json& c = test::case_named(schedules(), GetParam());
    const NoiseSchedule schedule = schedule_of(c["config"]);
    const std::vector<double> alphas = schedule.alphas();
    ASSERT_EQ(alphas.size(), 1000U);
    const double picked[] = {alphas[0], alphas[1], alphas[500], alphas[998], alphas[999]};
    for (std::size_t i = 0; i < 5; ++i)
        EXPECT_NEAR(picked[i] / c["alphas"][i].get<double>(), 1, 1e-6)
            << i;  // betas of the reference are rounded twice

    const SamplerPlan plan = plan_of(c, schedule);
    EXPECT_NEAR(plan.noise_scale / c["noise_scale"].get<double>(), 1, 1e-6);
    ASSERT_EQ(plan.steps.size(), c["times"].size());
    std::vector<float> sample = test::reference_elements(1000, 15);
    for (float& value : sample) value = static_cast<float>(static_cast<double>(value) * plan.noise_scale);
    const std::vector<float> prediction = test::reference_elements(1001, 15);
    const std::vector<float> fresh = test::reference_elements(1002, 15);
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        const SamplerStep& step = plan.steps[i];
        EXPECT_NEAR(step.time, c["times"][i].get<double>(), 1e-3) << i;
        const double input = static_cast<double>(sample[0]) * step.input_scale, expected = c["inputs"][i].get<double>();
        EXPECT_NEAR(input, expected, 1e-5 * std::max(1.0, std::abs(expected))) << i;
        step.apply(prediction, sample, fresh);
    }
    EXPECT_LE(test::relative_difference(sample, c["result"]), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(All, ScheduleCase, testing::ValuesIn(test::case_names(schedules())),
                         [](const auto& info) { return info.param; });

TEST(NoiseSchedule, FilesSayWhatWasTrained) {
    const NoiseSchedule defaults = schedule_of(json::object());
    EXPECT_EQ(defaults.training_steps, 1000);
    EXPECT_EQ(defaults.betas, BetaSchedule::linear);
    EXPECT_EQ(defaults.prediction, Prediction::epsilon);
    EXPECT_FALSE(defaults.spacing.has_value());
    EXPECT_EQ(defaults.clip, 1.0);
    const NoiseSchedule other = schedule_of({{"_class_name", "PNDMScheduler"},
                                             {"num_train_timesteps", 50},
                                             {"prediction_type", "v_prediction"},
                                             {"timestep_spacing", "trailing"},
                                             {"clip_sample", false},
                                             {"trained_betas", nullptr},
                                             {"steps_offset", 1},
                                             {"skip_prk_steps", true}});
    EXPECT_EQ(other.training_steps, 50);
    EXPECT_EQ(other.prediction, Prediction::velocity);
    EXPECT_EQ(other.spacing, TimeSpacing::trailing);
    EXPECT_FALSE(other.clip.has_value());
    EXPECT_EQ(other.steps_offset, 1);
    EXPECT_EQ(other.alphas().size(), 50U);
}

TEST(NoiseSchedule, WrongFilesAreRefused) {
    const auto expect = [](const json& config, const std::string& what, ErrorKind kind) {
        EXPECT_THAT([&] { schedule_of(config); }, refused(what, kind)) << config;
    };
    expect({{"_class_name", "FlowMatchEulerDiscreteScheduler"}},
           "entry \"_class_name\" has \"FlowMatchEulerDiscreteScheduler\", expected DDIMScheduler, DDPMScheduler, "
           "EulerDiscreteScheduler or PNDMScheduler",
           ErrorKind::unsupported);
    expect({{"beta_schedule", "sigmoid"}},
           "entry \"beta_schedule\" has \"sigmoid\", expected linear, scaled_linear or squaredcos_cap_v2",
           ErrorKind::unsupported);
    expect({{"prediction_type", "flow"}}, "expected epsilon, sample or v_prediction", ErrorKind::unsupported);
    expect({{"timestep_spacing", "random"}}, "expected leading, linspace or trailing", ErrorKind::unsupported);
    expect({{"thresholding", true}}, "\"thresholding\": true is not supported", ErrorKind::unsupported);
    expect({{"trained_betas", {0.1, 0.2}}}, "\"trained_betas\": [0.1,0.2] is not supported", ErrorKind::unsupported);
    expect({{"rescale_betas_zero_snr", true}}, "\"rescale_betas_zero_snr\": true", ErrorKind::unsupported);
    expect({{"final_sigmas_type", "sigma_min"}}, "\"final_sigmas_type\": \"sigma_min\"", ErrorKind::unsupported);
    expect({{"sigma_max", 14.6}}, "\"sigma_max\": 14.6 is not supported", ErrorKind::unsupported);
    expect({{"num_train_timesteps", 0}}, "entry \"num_train_timesteps\" must be a positive integer, got 0",
           ErrorKind::file);
    expect({{"num_train_timesteps", 2000000}}, "training steps must be in 1..1000000, got 2000000", ErrorKind::file);
    expect({{"beta_start", 0.5}}, "0 < beta_start <= beta_end < 1", ErrorKind::file);
    expect({{"beta_end", "a lot"}}, "entry \"beta_end\" must be a number", ErrorKind::file);
    expect({{"clip_sample_range", 0}}, "predicted images must be clipped to a range above 0", ErrorKind::file);
    expect({{"clip_sample", 1}}, "entry \"clip_sample\" must be true or false, got 1", ErrorKind::file);
}

TEST(SamplerPlan, WrongCallsAreRefused) {
    const auto expect = [](const auto& call, const std::string& what) {
        EXPECT_THAT(call, refused(what, ErrorKind::argument));
    };
    expect([] { ddim_plan({}, 0); }, "steps must be in 1..1000, the number of training steps, got 0");
    expect([] { euler_plan({}, 1001); }, "steps must be in 1..1000, the number of training steps, got 1001");
    expect([] { ddim_plan({}, 20, -0.1); }, "eta must be in 0..1");
    expect([] { ddim_plan({}, 20, std::nan("")); }, "eta must be in 0..1, got nan");
    expect([] { ddim_plan({.steps_offset = 1}, 1000); }, "steps_offset 1 puts the first of 1000 steps behind");
    expect([] { ddim_plan({.steps_offset = -1}, 20); }, "steps_offset must be at least 0, got -1");
    expect([] { ddim_plan({.clip = -1.0}, 20); }, "predicted images must be clipped to a range above 0, got -1");
    expect([] { ddim_plan({.beta_end = 2}, 20); }, "0 < beta_start <= beta_end < 1");
    std::vector<float> sample(3);
    const std::vector<float> two(2), three(3);
    const SamplerStep step = ddim_plan({}, 10, 1).steps[0];
    expect([&] { step.apply(two, sample, three); }, "the sample has 3 elements, its prediction 2");
    expect([&] { step.apply(three, sample); }, "its prediction 3, fresh noise 0");
}

TEST(SamplerPlan, OneTrainingStepIsEnough) {
    for (const SamplerPlan& plan : {ddim_plan({.training_steps = 1}, 1), euler_plan({.training_steps = 1}, 1),
                                    euler_plan({.training_steps = 1}, 1, true)}) {
        ASSERT_EQ(plan.steps.size(), 1U);
        EXPECT_EQ(plan.steps[0].time, 0);
        EXPECT_TRUE(std::isfinite(plan.steps[0].image_from_sample));
        EXPECT_EQ(plan.steps[0].to_noise, 0);
    }
}

TEST(NormalGenerator, NumbersAreNormalAndSeeded) {
    std::vector<float> a(20'001), b(a.size()), c(3);
    NormalGenerator(5).fill(a);
    NormalGenerator other(5);
    other.fill(std::span(b).first(7));
    other.fill(std::span(b).subspan(7));
    EXPECT_EQ(a, b) << "parts continue each other";
    NormalGenerator(6).fill(c);
    EXPECT_NE(c[0], a[0]);
    const auto moment = [&](int power) {
        return std::accumulate(a.begin(), a.end(), 0.0,
                               [&](double sum, float x) { return sum + std::pow(static_cast<double>(x), power); }) /
               static_cast<double>(a.size());
    };
    EXPECT_NEAR(moment(1), 0, 0.03);
    EXPECT_NEAR(moment(2), 1, 0.05);
    EXPECT_NEAR(moment(3), 0, 0.1);
    EXPECT_NEAR(moment(4), 3, 0.3);
}

}  // namespace
}  // namespace cairn::models
