#pragma once

#include "cairn/version.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <span>
#include <vector>

/// Noise schedules and samplers of diffusion models, outside any graph.
///
/// At time t a noisy image is x = sqrt(a_t) x0 + sqrt(1 - a_t) e, with x0 the image, e normal noise, and a_t = (1 -
/// beta_0) ... (1 - beta_t) decreasing with t (Ho et al., arXiv 2006.11239). A sampler goes back from noise to an image
/// in few steps.
namespace cairn::inline v0::models {

/// How betas depend on the time, by `beta_schedule`.
enum class BetaSchedule {
    linear,         ///< from beta_start to beta_end
    scaled_linear,  ///< squares of numbers that are linear from sqrt(beta_start) to sqrt(beta_end)
    /// `squaredcos_cap_v2`: a_t is the square of a cosine (Nichol & Dhariwal, arXiv 2102.09672), each beta at most
    /// 0.999
    squared_cosine
};

/// What the model predicts, by `prediction_type`.
enum class Prediction {
    epsilon,  ///< the noise e
    sample,   ///< the image x0
    velocity  ///< `v_prediction`: v = sqrt(a_t) e - sqrt(1 - a_t) x0 (Salimans & Ho, arXiv 2202.00512)
};

/// Which of the T times of training a sampler of n steps uses, by `timestep_spacing` (Lin et al., arXiv 2305.08891,
/// table 2).
enum class TimeSpacing {
    leading,   ///< 0, T/n, 2 T/n, ..., each plus steps_offset
    linspace,  ///< from 0 to T - 1
    trailing   ///< T - 1, T - 1 - T/n, ...
};

/// A noise schedule, as scheduler_config.json of diffusers states it. The defaults are those of its DDIMScheduler.
struct NoiseSchedule {
    std::int64_t training_steps = 1000;           ///< T
    double beta_start = 1e-4, beta_end = 0.02;    ///< betas of the first and the last time
    BetaSchedule betas = BetaSchedule::linear;    ///< those between
    Prediction prediction = Prediction::epsilon;  ///< of the model
    std::optional<TimeSpacing> spacing{};         ///< not stated: leading for DDIM, linspace for Euler, as in diffusers
    std::int64_t steps_offset = 0;                ///< added to times of TimeSpacing::leading
    bool ends_at_one = true;                      ///< `set_alpha_to_one`: DDIM ends at a = 1, otherwise at a_0
    std::optional<double> clip = 1.0;             ///< DDIM clips predicted images to -clip .. clip
    bool karras = false;                          ///< `use_karras_sigmas`, for euler_plan()

    /// Reads scheduler_config.json of a DDIMScheduler, DDPMScheduler, EulerDiscreteScheduler or PNDMScheduler: the
    /// noise that the model was trained on, whatever sampler is used. Throws Error(file) naming an invalid entry,
    /// Error(unsupported) for parts that are not supported, with what the file has.
    CAIRN_API static NoiseSchedule read(const std::filesystem::path& scheduler_config_json);

    /// a_t for each t, rounded to f32: `alphas_cumprod` of diffusers. Throws Error(argument) for betas outside 0 <
    /// beta_start <= beta_end < 1, training_steps outside 1..1000000, and a negative steps_offset or clip.
    CAIRN_API std::vector<double> alphas() const;
};

/// One step of a sampler. With x the noisy image, p what the model predicts from x * input_scale at `time`, and z fresh
/// normal noise:
///
///     image = clip(image_from_sample x + image_from_prediction p)
///     noise = noise_from_sample x + noise_from_prediction p
///     x     = to_image image + to_noise noise + to_fresh z
struct SamplerStep {
    double time = 0;                                          ///< for the model
    double input_scale = 1;                                   ///< of what the model reads
    double image_from_sample = 0, image_from_prediction = 0;  ///< the predicted image
    double noise_from_sample = 0, noise_from_prediction = 0;  ///< the predicted noise
    double to_image = 0, to_noise = 0, to_fresh = 0;          ///< the next noisy image
    std::optional<double> clip{};                             ///< largest magnitude of the predicted image

    /// Makes the step: replaces `sample`, in double arithmetic. `fresh` is needed if to_fresh is not 0. Throws
    /// Error(argument) if the lengths differ.
    CAIRN_API void apply(std::span<const float> prediction, std::span<float> sample,
                         std::span<const float> fresh = {}) const;
};

/// All steps of a sampler.
struct SamplerPlan {
    double noise_scale = 1;          ///< the first x is normal noise times this
    std::vector<SamplerStep> steps;  ///< in order, from noise to image
};

/// DDIM (Song et al., arXiv 2010.02502) in `steps` steps. `eta` 0 is deterministic; 1 adds as much noise as DDPM.
/// Throws Error(argument) for steps outside 1..training_steps, eta outside 0..1, and what NoiseSchedule::alphas()
/// throws.
///
///     for (const SamplerStep& step : ddim_plan(schedule, 20).steps) step.apply(predicted(x, step.time), x);
CAIRN_API SamplerPlan ddim_plan(const NoiseSchedule& schedule, std::int64_t steps, double eta = 0);

/// Euler steps of the probability flow in sigma = sqrt((1 - a) / a), as k-diffusion and diffusers have them (Karras et
/// al., arXiv 2206.00364, algorithm 2 without churn). With `karras` the sigmas are spaced by that paper's equation 5
/// with rho = 7. Throws as ddim_plan().
CAIRN_API SamplerPlan euler_plan(const NoiseSchedule& schedule, std::int64_t steps, bool karras = false);

/// Normal random numbers by Box and Muller's method from std::mt19937_64: equal seeds give equal numbers, up to the
/// rounding of the mathematics library.
///
///     NormalGenerator generator(7);
///     generator.fill(noise);
class CAIRN_API NormalGenerator {
public:
    explicit NormalGenerator(std::uint64_t seed) : engine_(seed) {}
    /// Overwrites all elements with independent numbers of mean 0 and variance 1.
    void fill(std::span<float> values);

private:
    double uniform();

    std::mt19937_64 engine_;
    std::optional<double> spare_{};
};

}  // namespace cairn::inline v0::models
