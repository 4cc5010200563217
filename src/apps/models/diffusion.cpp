#include "cairn/models/diffusion.hpp"

#include "apps/models/denoiser_check.hpp"
#include "apps/models/diffusion_folder.hpp"
#include "apps/models/model_file.hpp"
#include "apps/models/saved_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace cairn::inline v0::models {
namespace {

[[noreturn]] void refuse_call(const std::string& what) { throw Error(ErrorKind::argument, "diffusion", what); }

void check_finite(std::span<const float> values, std::string_view what) {
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
            refuse_call(std::string(what) + " must be finite, but element " + std::to_string(i) + " is " +
                        std::to_string(values[i]));
}

void check_classes(std::span<const std::int32_t> classes, std::size_t images, const DenoiserTraits& traits) {
    const std::size_t expected = traits.classes > 0 ? images : 0;
    if (classes.size() != expected)
        refuse_call(traits.classes > 0 ? "each of " + std::to_string(images) + " images needs a class, got " +
                                             std::to_string(classes.size()) + " classes"
                                       : "the model has no classes");
    for (const std::int32_t each : classes)
        if (each < 0 || each >= traits.classes)
            refuse_call("class " + std::to_string(each) + " is not one of the " + std::to_string(traits.classes) +
                        " of the model");
}

SamplerPlan plan_of(const NoiseSchedule& schedule, const SampleOptions& options) {
    if (options.sampler == DiffusionSampler::ddim) {
        if (options.karras.value_or(false)) refuse_call("karras is for the sampler euler");
        return ddim_plan(schedule, options.steps, options.eta);
    }
    if (options.eta != 0) refuse_call("eta is for the sampler ddim, got " + std::to_string(options.eta));
    return euler_plan(schedule, options.steps, options.karras.value_or(schedule.karras));
}

}  // namespace

/// Height and width of images, and the number of their elements.
struct Diffusion::Extent {
    std::int64_t channels, height, width;
    std::size_t elements() const { return static_cast<std::size_t>(channels * height * width); }
};

Diffusion::Diffusion(DenoiserConfig config, NoiseSchedule schedule, const ImageSizes& sizes, CompiledGraph compiled)
    : config_(std::move(config)),
      traits_(traits_of(config_)),
      schedule_(schedule),
      sizes_(sizes),
      compiled_(std::move(compiled)) {}

Diffusion::Diffusion(const DenoiserConfig& config, const NoiseSchedule& schedule,
                     const std::vector<WeightSpec>& weights, const WeightSource& source, const Context& context,
                     const ImageSizes& sizes, const CompileOptions& compile_options)
    : Diffusion(config, schedule, sizes, compile(denoiser_graph(config, weights, sizes), context, compile_options)) {
    compiled_.bind(source, compile_options.progress, compile_options.stop);
}

Diffusion Diffusion::load(const std::filesystem::path& folder, const Context& context, const ImageSizes& sizes,
                          CompileOptions compile_options, const std::filesystem::path& cache_folder) {
    const DenoiserConfig config = read_denoiser(folder);
    const DiffusionFolder files(folder);
    const NoiseSchedule schedule = NoiseSchedule::read(files.schedule);
    const std::vector<WeightSpec> weights = denoiser_weights(config);
    const ModelFile file(files.weights);
    refuse_other_tensors(file, weights);
    return {config, schedule, sizes,
            load_compiled(file, weights, "", {}, std::move(compile_options), cache_folder, nullptr,
                          [&](const std::vector<WeightSpec>& stored, const CompileOptions& how) {
                              return compile(denoiser_graph(config, stored, sizes), context, how);
                          })};
}

Diffusion::Extent Diffusion::extent_of(std::int64_t height, std::int64_t width) const {
    const auto size = [&](std::int64_t given, std::int64_t most, const char* what) {
        const std::int64_t trained = traits_.sample_size, used = given == 0 ? trained : given;
        const std::int64_t least = most == 0 ? trained : traits_.size_step, largest = most == 0 ? trained : most;
        if (used < least || used > largest || used % traits_.size_step != 0)
            refuse_call(
                std::string(what) + ' ' + std::to_string(used) + " is not " +
                (most == 0 ? "the " + std::to_string(trained) + " of this model, made without ImageSizes::max_" + what
                           : "a multiple of " + std::to_string(traits_.size_step) + " up to " + std::to_string(most)));
        return used;
    };
    return {traits_.channels, size(height, sizes_.max_height, "height"), size(width, sizes_.max_width, "width")};
}

std::span<const float> Diffusion::predict(std::span<const float> images, std::span<const float> times,
                                          std::span<const std::int32_t> classes, std::int64_t height,
                                          std::int64_t width) {
    const Extent extent = extent_of(height, width);
    const auto count = static_cast<std::int64_t>(times.size());
    if (count > sizes_.max_batch)
        refuse_call(std::to_string(count) + " images, the model was made for " + std::to_string(sizes_.max_batch));
    if (images.size() != times.size() * extent.elements())
        refuse_call(std::to_string(count) + " images of " + std::to_string(extent.elements()) + " elements need " +
                    std::to_string(times.size() * extent.elements()) + ", got " + std::to_string(images.size()));
    check_finite(images, "images");
    check_finite(times, "times");
    check_classes(classes, times.size(), traits_);
    const std::array<std::int64_t, 4> shape{count, extent.channels, extent.height, extent.width};
    const std::span<const std::int64_t> batch(shape.data(), 1);
    compiled_.set("sample", images.data(), shape);
    compiled_.set("time", times.data(), batch);
    if (traits_.classes > 0) compiled_.set("class", classes.data(), batch);
    compiled_.run(run_options);
    return compiled_.output("prediction").as<float>();
}

std::vector<float> Diffusion::sample(std::span<const std::int32_t> classes, const SampleOptions& options) {
    if (traits_.classes == 0) refuse_call("the model has no classes: give the number of images");
    std::vector<float> noise(classes.size() * extent_of(options.height, options.width).elements());
    NormalGenerator generator(options.seed);
    generator.fill(noise);
    return draw(std::move(noise), classes, options, generator);
}

std::vector<float> Diffusion::sample(std::int64_t count, const SampleOptions& options) {
    if (count < 0) refuse_call("the number of images must be at least 0, got " + std::to_string(count));
    std::vector<float> noise(static_cast<std::size_t>(count) * extent_of(options.height, options.width).elements());
    NormalGenerator generator(options.seed);
    generator.fill(noise);
    return draw(std::move(noise), {}, options, generator);
}

std::vector<float> Diffusion::sample_from(std::span<const float> noise, std::span<const std::int32_t> classes,
                                          const SampleOptions& options) {
    NormalGenerator generator(options.seed);
    return draw({noise.begin(), noise.end()}, classes, options, generator);
}

std::vector<float> Diffusion::draw(std::vector<float> noise, std::span<const std::int32_t> classes,
                                   const SampleOptions& options, NormalGenerator& generator) {
    const Extent extent = extent_of(options.height, options.width);
    const std::size_t elements = extent.elements(), images = noise.size() / elements;
    if (noise.size() % elements != 0)
        refuse_call("noise of " + std::to_string(noise.size()) + " elements is no number of images of " +
                    std::to_string(elements));
    check_finite(noise, "noise");
    check_classes(classes, images, traits_);
    const bool is_guided = options.guidance != 1;
    if (!std::isfinite(options.guidance))
        refuse_call("guidance must be finite, got " + std::to_string(options.guidance));
    if (is_guided && traits_.null_class < 0)
        refuse_call("guidance needs a model with a null class, and this one has none");
    if (is_guided && sizes_.max_batch < 2) refuse_call("guidance needs max_batch of at least 2, got 1");
    const SamplerPlan plan = plan_of(schedule_, options);

    std::vector<float> sample = std::move(noise), prediction(sample.size()), fresh;
    for (float& value : sample) value = static_cast<float>(static_cast<double>(value) * plan.noise_scale);
    const auto most = static_cast<std::size_t>(is_guided ? sizes_.max_batch / 2 : sizes_.max_batch);
    for (const SamplerStep& step : plan.steps) {
        for (std::size_t first = 0; first < images; first += most) {
            const std::size_t count = std::min(most, images - first);
            images_.clear();
            for (const float value : std::span(sample).subspan(first * elements, count * elements))
                images_.push_back(static_cast<float>(static_cast<double>(value) * step.input_scale));
            times_.assign((is_guided ? 2 : 1) * count, static_cast<float>(step.time));
            run_rows(classes.empty() ? classes : classes.subspan(first, count), options.guidance, extent,
                     std::span(prediction).subspan(first * elements, count * elements));
        }
        fresh.resize(step.to_fresh == 0 ? 0 : sample.size());
        generator.fill(fresh);
        step.apply(prediction, sample, fresh);
    }
    return sample;
}

void Diffusion::run_rows(std::span<const std::int32_t> classes, double guidance, const Extent& extent,
                         std::span<float> predictions) {
    classes_.assign(classes.begin(), classes.end());
    if (guidance != 1) {
        const std::size_t half = images_.size();
        images_.resize(2 * half);
        std::copy_n(images_.begin(), half, images_.begin() + static_cast<std::ptrdiff_t>(half));
        classes_.resize(2 * classes.size(), static_cast<std::int32_t>(traits_.null_class));
    }
    const std::span<const float> found = predict(images_, times_, classes_, extent.height, extent.width);
    if (guidance == 1) {
        std::ranges::copy(found, predictions.begin());
        return;
    }
    for (std::size_t i = 0; i < predictions.size(); ++i) {
        const double given = static_cast<double>(found[i]), free = static_cast<double>(found[predictions.size() + i]);
        predictions[i] = static_cast<float>(free + guidance * (given - free));
    }
}

}  // namespace cairn::inline v0::models
