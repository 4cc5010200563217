#include "cairn/models/noise_schedule.hpp"

#include "apps/models/config_file.hpp"
#include "apps/models/named_choice.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace cairn::inline v0::models {
namespace {

constexpr NamedChoice<BetaSchedule> beta_schedules[] = {{"linear", BetaSchedule::linear},
                                                        {"scaled_linear", BetaSchedule::scaled_linear},
                                                        {"squaredcos_cap_v2", BetaSchedule::squared_cosine}};
constexpr NamedChoice<Prediction> predictions[] = {
    {"epsilon", Prediction::epsilon}, {"sample", Prediction::sample}, {"v_prediction", Prediction::velocity}};
constexpr NamedChoice<TimeSpacing> spacings[] = {
    {"leading", TimeSpacing::leading}, {"linspace", TimeSpacing::linspace}, {"trailing", TimeSpacing::trailing}};
/// Samplers of diffusers whose files describe the noise of training by the entries read here.
constexpr NamedChoice<bool> known_classes[] = {
    {"DDIMScheduler", true}, {"DDPMScheduler", true}, {"EulerDiscreteScheduler", true}, {"PNDMScheduler", true}};

constexpr std::int64_t most_training_steps = 1'000'000;

/// Describes a number that is out of range; empty if none is.
std::string range_fault(const NoiseSchedule& schedule) {
    if (schedule.training_steps < 1 || schedule.training_steps > most_training_steps)
        return "the number of training steps must be in 1.." + std::to_string(most_training_steps) + ", got " +
               std::to_string(schedule.training_steps);
    if (!(schedule.beta_start > 0 && schedule.beta_start <= schedule.beta_end && schedule.beta_end < 1))
        return "betas must satisfy 0 < beta_start <= beta_end < 1, got " + std::to_string(schedule.beta_start) +
               " and " + std::to_string(schedule.beta_end);
    if (schedule.steps_offset < 0)
        return "steps_offset must be at least 0, got " + std::to_string(schedule.steps_offset);
    if (schedule.clip && !(*schedule.clip > 0))
        return "predicted images must be clipped to a range above 0, got " + std::to_string(*schedule.clip);
    return {};
}

/// The squared cosine whose quotients are the betas of BetaSchedule::squared_cosine.
double squared_cosine(double fraction) {
    constexpr double offset = 0.008;  // keeps the first betas from being too small
    const double cosine = std::cos((fraction + offset) / (1 + offset) * std::numbers::pi / 2);
    return cosine * cosine;
}

double beta(const NoiseSchedule& schedule, std::int64_t t) {
    const auto steps = static_cast<double>(schedule.training_steps);
    const auto time = static_cast<double>(t);
    if (schedule.betas == BetaSchedule::squared_cosine) {
        constexpr double largest = 0.999;
        return std::min(1 - squared_cosine((time + 1) / steps) / squared_cosine(time / steps), largest);
    }
    const double fraction = steps > 1 ? time / (steps - 1) : 0;
    if (schedule.betas == BetaSchedule::linear) return std::lerp(schedule.beta_start, schedule.beta_end, fraction);
    const double root = std::lerp(std::sqrt(schedule.beta_start), std::sqrt(schedule.beta_end), fraction);
    return root * root;
}

/// Refuses entries that would change the noise or the steps and are not supported.
void refuse_other_schedules(const ConfigFile& file) {
    choice_in(file, "_class_name", known_classes, "DDIMScheduler");
    refuse_unless(file, "trained_betas", {});
    for (const char* flag : {"thresholding", "rescale_betas_zero_snr", "use_exponential_sigmas", "use_beta_sigmas"})
        refuse_unless(file, flag, {"false"});
    refuse_unless(file, "timestep_type", {"\"discrete\""});
    refuse_unless(file, "interpolation_type", {"\"linear\""});
    refuse_unless(file, "final_sigmas_type", {"\"zero\""});
    for (const char* limit : {"sigma_min", "sigma_max"}) refuse_unless(file, limit, {});
}

}  // namespace

NoiseSchedule NoiseSchedule::read(const std::filesystem::path& scheduler_config_json) {
    const ConfigFile file(scheduler_config_json);
    refuse_other_schedules(file);
    NoiseSchedule schedule;
    schedule.training_steps = file.size("num_train_timesteps", schedule.training_steps);
    schedule.beta_start = file.number("beta_start", schedule.beta_start);
    schedule.beta_end = file.number("beta_end", schedule.beta_end);
    schedule.betas = choice_in(file, "beta_schedule", beta_schedules, "linear");
    schedule.prediction = choice_in(file, "prediction_type", predictions, "epsilon");
    if (!file.shown("timestep_spacing").empty())
        schedule.spacing = choice_in(file, "timestep_spacing", spacings, "leading");
    schedule.steps_offset = file.count("steps_offset", 0);
    schedule.ends_at_one = file.flag("set_alpha_to_one", true);
    schedule.karras = file.flag("use_karras_sigmas", false);
    if (file.flag("clip_sample", true))
        schedule.clip = file.number("clip_sample_range", 1);
    else
        schedule.clip.reset();
    if (const std::string fault = range_fault(schedule); !fault.empty()) file.fail(fault);
    return schedule;
}

std::vector<double> NoiseSchedule::alphas() const {
    if (const std::string fault = range_fault(*this); !fault.empty())
        throw Error(ErrorKind::argument, "noise schedule", fault);
    std::vector<double> alphas;
    double product = 1;
    for (std::int64_t t = 0; t < training_steps; ++t) {
        // Models were trained with numbers in f32. Rounding changes 1 - beta where beta is nearly 1, and 1 - alpha
        // where alpha is.
        product *= static_cast<double>(1 - static_cast<float>(beta(*this, t)));
        alphas.push_back(static_cast<double>(static_cast<float>(product)));
    }
    return alphas;
}

}  // namespace cairn::inline v0::models
