#include "cairn/error.hpp"
#include "cairn/models/noise_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace cairn::inline v0::models {
namespace {

[[noreturn]] void refuse_plan(const std::string& what) { throw Error(ErrorKind::argument, "sampler", what); }

double at(const std::vector<double>& table, std::int64_t index) { return table[static_cast<std::size_t>(index)]; }

/// The times of a sampler, from noise to image; whole numbers but for `linspace` if `rounds` is false.
std::vector<double> times_of(const NoiseSchedule& schedule, std::int64_t steps, TimeSpacing default_spacing,
                             bool rounds) {
    const std::int64_t training = schedule.training_steps;
    if (steps < 1 || steps > training)
        refuse_plan("steps must be in 1.." + std::to_string(training) + ", the number of training steps, got " +
                    std::to_string(steps));
    const TimeSpacing spacing = schedule.spacing.value_or(default_spacing);
    std::vector<double> times;
    for (std::int64_t i = steps; i-- > 0;) {
        const auto whole = static_cast<double>(training), index = static_cast<double>(i);
        if (spacing == TimeSpacing::leading) {
            times.push_back(static_cast<double>(i * (training / steps) + schedule.steps_offset));
        } else if (spacing == TimeSpacing::linspace) {
            const double time = steps > 1 ? index * (whole - 1) / static_cast<double>(steps - 1) : 0;
            times.push_back(rounds ? std::nearbyint(time) : time);
        } else {
            const double passed = static_cast<double>(steps - 1 - i) * (whole / static_cast<double>(steps));
            times.push_back(std::nearbyint(whole - passed) - 1);
        }
    }
    if (times.front() > static_cast<double>(training - 1))
        refuse_plan("steps_offset " + std::to_string(schedule.steps_offset) + " puts the first of " +
                    std::to_string(steps) + " steps behind the last training step");
    return times;
}

/// Sets how image and noise follow from a sample x = alpha image + sigma noise and a prediction.
void set_predictions(SamplerStep& step, Prediction prediction, double alpha, double sigma) {
    switch (prediction) {
        case Prediction::epsilon:
            step.image_from_sample = 1 / alpha;
            step.image_from_prediction = -sigma / alpha;
            step.noise_from_prediction = 1;
            return;
        case Prediction::sample:
            step.image_from_prediction = 1;
            step.noise_from_sample = 1 / sigma;
            step.noise_from_prediction = -alpha / sigma;
            return;
        case Prediction::velocity: break;
    }
    // The velocity is that of alpha and sigma scaled to alpha^2 + sigma^2 = 1.
    const double length = std::hypot(alpha, sigma);
    step.image_from_sample = alpha / (length * length);
    step.image_from_prediction = -sigma / length;
    step.noise_from_sample = sigma / (length * length);
    step.noise_from_prediction = alpha / length;
}

/// The sigma at a time between two training steps, by linear interpolation.
double interpolated(const std::vector<double>& sigmas, double time) {
    const auto low = static_cast<std::int64_t>(time);
    const auto high = std::min(low + 1, static_cast<std::int64_t>(sigmas.size()) - 1);
    return std::lerp(at(sigmas, low), at(sigmas, high), time - static_cast<double>(low));
}

/// The time of a sigma, by linear interpolation of their logarithms.
double time_of(const std::vector<double>& sigmas, double sigma) {
    if (sigmas.size() == 1) return 0;
    const auto above = std::upper_bound(sigmas.begin(), sigmas.end(), sigma);
    const auto last = static_cast<std::int64_t>(sigmas.size()) - 2;
    const std::int64_t low = std::clamp<std::int64_t>(above - sigmas.begin() - 1, 0, last);
    const double from = std::log(at(sigmas, low)), to = std::log(at(sigmas, low + 1));
    return static_cast<double>(low) + std::clamp((std::log(sigma) - from) / (to - from), 0.0, 1.0);
}

/// Karras et al., equation 5: the same ends with other numbers between.
void space_by_karras(std::vector<double>& sigmas) {
    constexpr double rho = 7;
    const double first = std::pow(sigmas.front(), 1 / rho), last = std::pow(sigmas.back(), 1 / rho);
    const auto intervals = static_cast<double>(sigmas.size() - 1);
    for (std::size_t i = 1; i < sigmas.size(); ++i)
        sigmas[i] = std::pow(std::lerp(first, last, static_cast<double>(i) / intervals), rho);
}

}  // namespace

void SamplerStep::apply(std::span<const float> prediction, std::span<float> sample,
                        std::span<const float> fresh) const {
    if (prediction.size() != sample.size() || (to_fresh != 0 && fresh.size() != sample.size()))
        refuse_plan("the sample has " + std::to_string(sample.size()) + " elements, its prediction " +
                    std::to_string(prediction.size()) +
                    (to_fresh == 0 ? "" : ", fresh noise " + std::to_string(fresh.size())));
    for (std::size_t i = 0; i < sample.size(); ++i) {
        const double x = static_cast<double>(sample[i]), p = static_cast<double>(prediction[i]);
        double image = image_from_sample * x + image_from_prediction * p;
        if (clip) image = std::clamp(image, -*clip, *clip);
        double next = to_image * image + to_noise * (noise_from_sample * x + noise_from_prediction * p);
        if (to_fresh != 0) next += to_fresh * static_cast<double>(fresh[i]);
        sample[i] = static_cast<float>(next);
    }
}

SamplerPlan ddim_plan(const NoiseSchedule& schedule, std::int64_t steps, double eta) {
    const std::vector<double> alphas = schedule.alphas();
    if (!(eta >= 0 && eta <= 1)) refuse_plan("eta must be in 0..1, got " + std::to_string(eta));
    const double last = schedule.ends_at_one ? 1.0 : alphas.front();
    SamplerPlan plan;
    for (const double time : times_of(schedule, steps, TimeSpacing::leading, true)) {
        const auto t = static_cast<std::int64_t>(time), before = t - schedule.training_steps / steps;
        const double now = at(alphas, t), next = before >= 0 ? at(alphas, before) : last;
        SamplerStep step;
        step.time = time;
        step.clip = schedule.clip;
        set_predictions(step, schedule.prediction, std::sqrt(now), std::sqrt(1 - now));
        const double variance = eta * eta * (1 - next) / (1 - now) * (1 - now / next);
        step.to_image = std::sqrt(next);
        step.to_noise = std::sqrt(std::max(1 - next - variance, 0.0));
        step.to_fresh = std::sqrt(std::max(variance, 0.0));
        plan.steps.push_back(step);
    }
    return plan;
}

SamplerPlan euler_plan(const NoiseSchedule& schedule, std::int64_t steps, bool karras) {
    std::vector<double> all;
    for (const double alpha : schedule.alphas()) all.push_back(std::sqrt((1 - alpha) / alpha));
    std::vector<double> times = times_of(schedule, steps, TimeSpacing::linspace, false);
    std::vector<double> sigmas;
    for (const double time : times) sigmas.push_back(interpolated(all, time));
    if (karras) {
        space_by_karras(sigmas);
        std::ranges::transform(sigmas, times.begin(), [&](double sigma) { return time_of(all, sigma); });
    }
    SamplerPlan plan;
    // Leading times begin below the last one, where the image is still a part of x: the variance of both is that of 1.
    const bool is_leading = schedule.spacing == TimeSpacing::leading;
    plan.noise_scale = is_leading ? std::hypot(sigmas.front(), 1.0) : sigmas.front();
    for (std::size_t i = 0; i < sigmas.size(); ++i) {
        SamplerStep step;
        step.time = times[i];
        step.input_scale = 1 / std::hypot(sigmas[i], 1.0);
        set_predictions(step, schedule.prediction, 1, sigmas[i]);
        step.to_image = 1;
        step.to_noise = i + 1 < sigmas.size() ? sigmas[i + 1] : 0;
        plan.steps.push_back(step);
    }
    return plan;
}

void NormalGenerator::fill(std::span<float> values) {
    for (float& value : values) {
        if (spare_) {
            value = static_cast<float>(*spare_);
            spare_.reset();
            continue;
        }
        const double length = std::sqrt(-2 * std::log(1 - uniform())), angle = 2 * std::numbers::pi * uniform();
        value = static_cast<float>(length * std::cos(angle));
        spare_ = length * std::sin(angle);
    }
}

double NormalGenerator::uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

}  // namespace cairn::inline v0::models
