#pragma once

#include "cairn/compile.hpp"
#include "cairn/models/denoiser.hpp"
#include "cairn/models/noise_schedule.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

/// Diffusion models, read from folders as diffusers writes them.
namespace cairn::inline v0::models {

/// The sampler of Diffusion::sample().
enum class DiffusionSampler {
    ddim,  ///< ddim_plan()
    euler  ///< euler_plan()
};

/// Options of Diffusion::sample().
struct SampleOptions {
    std::int64_t steps = 20;                            ///< calls of the model
    DiffusionSampler sampler = DiffusionSampler::ddim;  ///< how they are used
    /// Classifier-free guidance (Ho & Salimans, arXiv 2207.12598): the prediction is f + guidance (c - f), with c that
    /// of the class and f that of the null class. 1 is off, and computes c alone; otherwise both are rows of one run.
    double guidance = 1;
    double eta = 0;                      ///< of ddim_plan()
    std::optional<bool> karras{};        ///< of euler_plan(); as the schedule says when not given
    std::uint64_t seed = 0;              ///< of the NormalGenerator of all noise
    std::int64_t height = 0, width = 0;  ///< of images; 0: those of training
};

/// A compiled diffusion model. Not thread-safe.
///
///     Diffusion model = Diffusion::load("examples/models/digits-unet", context);
///     auto images = model.sample({3, 1, 4}, {.guidance = 2, .seed = 1});    // f32[3,1,8,8] in -1..1
class CAIRN_API Diffusion {
public:
    /// Reads a folder with config.json, diffusion_pytorch_model.safetensors (or its shards) and scheduler_config.json,
    /// or a pipeline's folder with these in `unet` or `transformer` and `scheduler`; compiles and binds. Throws
    /// Error(file), also for tensors that the config does not name, Error(unsupported), and what compile() throws.
    /// `cache_folder` as of Encoder::load().
    static Diffusion load(const std::filesystem::path& folder, const Context& context, const ImageSizes& sizes = {},
                          CompileOptions compile_options = {}, const std::filesystem::path& cache_folder = {});
    /// As load(), with weights from another source, under the names and dtypes of `weights`.
    Diffusion(const DenoiserConfig& config, const NoiseSchedule& schedule, const std::vector<WeightSpec>& weights,
              const WeightSource& source, const Context& context, const ImageSizes& sizes = {},
              const CompileOptions& compile_options = {});

    /// What the model predicts for `times.size()` noisy images [C,H,W] of one size, at their times, in all at most
    /// max_batch; valid until the next call. `classes`: one for each image, or none if the model has none. Throws
    /// Error(argument) for sizes that do not fit, a class out of range, and numbers that are not finite.
    std::span<const float> predict(std::span<const float> images, std::span<const float> times,
                                   std::span<const std::int32_t> classes = {}, std::int64_t height = 0,
                                   std::int64_t width = 0);

    /// Draws an image of each class: images [N,C,H,W]. Equal seeds give equal images, whatever max_batch is. Throws
    /// Error(argument) for options out of range, and for guidance if the model has no null class.
    std::vector<float> sample(std::span<const std::int32_t> classes, const SampleOptions& options = {});
    /// As above, for classes in braces.
    std::vector<float> sample(std::initializer_list<std::int32_t> classes, const SampleOptions& options = {}) {
        return sample(std::span(classes.begin(), classes.size()), options);
    }
    /// Draws `count` images with a model without classes.
    std::vector<float> sample(std::int64_t count, const SampleOptions& options = {});
    /// As above, from given normal noise [N,C,H,W]; the seed is that of the noise that eta adds.
    std::vector<float> sample_from(std::span<const float> noise, std::span<const std::int32_t> classes,
                                   const SampleOptions& options = {});

    /// The configuration, its traits, the schedule, and the underlying compiled graph.
    const DenoiserConfig& config() const noexcept { return config_; }
    const DenoiserTraits& traits() const noexcept { return traits_; }
    const NoiseSchedule& schedule() const noexcept { return schedule_; }
    CompiledGraph& compiled() noexcept { return compiled_; }
    /// Options for all runs: stop, progress, profile.
    RunOptions run_options;

private:
    Diffusion(DenoiserConfig config, NoiseSchedule schedule, const ImageSizes& sizes, CompiledGraph compiled);
    struct Extent;
    Extent extent_of(std::int64_t height, std::int64_t width) const;
    std::vector<float> draw(std::vector<float> noise, std::span<const std::int32_t> classes,
                            const SampleOptions& options, NormalGenerator& generator);
    void run_rows(std::span<const std::int32_t> classes, double guidance, const Extent& extent,
                  std::span<float> predictions);

    DenoiserConfig config_;
    DenoiserTraits traits_;
    NoiseSchedule schedule_;
    ImageSizes sizes_;
    CompiledGraph compiled_;
    std::vector<float> images_, times_;
    std::vector<std::int32_t> classes_;
};

}  // namespace cairn::inline v0::models
