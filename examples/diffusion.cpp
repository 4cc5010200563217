// Draws images with a diffusion model in the layout of diffusers: by default, digits of each class. A column of the
// picture is one class.
//
//     diffusion --output digits.png
//     diffusion --classes 4,2 --rows 3 --steps 10 --sampler euler --guidance 3 --seed 7 --output fourtytwo.png
//     diffusion --model examples/models/digits-dit --eta 1 --output digits.png

#include "cairn/models/diffusion.hpp"
#include "examples/png_file.hpp"
#include "examples/support.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>

namespace {

using cairn::models::DenoiserTraits;
using cairn::models::Diffusion;
using cairn::models::DiffusionSampler;

struct Options {
    support::Options support;
    std::string model = CAIRN_EXAMPLES_DIR "/models/digits-unet";
    std::vector<std::int32_t> classes;
    std::int64_t rows = 4, columns = 10, batch = 20, scale = 8;
    std::string sampler = "ddim", output;
    cairn::models::SampleOptions sample{.guidance = 2};
    bool karras = false;
};

void add_options(CLI::App& app, Options& options) {
    app.add_option("--model", options.model,
                   "folder with config.json, diffusion_pytorch_model.safetensors and scheduler_config.json");
    app.add_option("--output", options.output, "PNG file of the images, grey or coloured as the model's are");
    app.add_option("--classes", options.classes, "a class for each column; all classes when not given")
        ->delimiter(',')
        ->default_str("");
    app.add_option("--rows", options.rows, "images of each column")->check(support::at_least(1));
    app.add_option("--columns", options.columns, "columns, if the model has no classes")->check(support::at_least(1));
    app.add_option("--steps", options.sample.steps, "steps from noise to image");
    app.add_option("--sampler", options.sampler, "how the steps are made")->check(CLI::IsMember({"ddim", "euler"}));
    app.add_option("--guidance", options.sample.guidance, "scale of classifier-free guidance; 1 is off");
    app.add_option("--eta", options.sample.eta, "noise that each step of ddim adds: 0 none, 1 as much as DDPM");
    app.add_flag("--karras", options.karras, "noise levels of euler spaced as by Karras et al.");
    app.add_option("--seed", options.sample.seed, "seed of all noise");
    app.add_option("--batch", options.batch, "rows of a run; with guidance an image takes two")
        ->check(support::at_least(1));
    app.add_option("--scale", options.scale, "pixels of the file for each pixel of an image, in each direction")
        ->check(support::at_least(1));
    support::add_options(app, options.support);
}

Diffusion load(const Options& options) {
    const cairn::Context context = support::make_context(options.support);
    support::ProgressDisplay display(options.support.no_progress);
    return Diffusion::load(options.model, context, {.max_batch = options.batch},
                           support::compile_options(options.support, display), support::cache_folder(options.support));
}

/// The model's graph with the dtypes in which the weights are stored.
cairn::Graph graph_of(const Options& options) {
    const auto config = cairn::models::read_denoiser(options.model);
    return cairn::models::denoiser_graph(config, cairn::models::denoiser_weights(config, options.model),
                                         {.max_batch = options.batch});
}

/// The classes of the columns: those given, or all but the null class. None if the model has no classes.
std::vector<std::int32_t> column_classes(const Options& options, const DenoiserTraits& traits) {
    if (!options.classes.empty() || traits.classes == 0) return options.classes;
    std::vector<std::int32_t> classes(static_cast<std::size_t>(traits.classes));
    std::iota(classes.begin(), classes.end(), 0);
    std::erase(classes, static_cast<std::int32_t>(traits.null_class));
    return classes;
}

/// -1..1 as 0..255.
std::uint8_t pixel_of(float value) {
    return static_cast<std::uint8_t>(std::lround((std::clamp(value, -1.0f, 1.0f) + 1) * 127.5f));
}

/// Writes images [N,C,H,W] as rows of `columns` images, with a line of one pixel between them.
void write_grid(const Options& options, std::span<const float> images, const DenoiserTraits& traits,
                std::size_t columns) {
    constexpr std::uint8_t line_pixel = 96;
    const auto side = static_cast<std::size_t>(traits.sample_size),
               channels = static_cast<std::size_t>(traits.channels);
    const auto scale = static_cast<std::size_t>(options.scale), rows = static_cast<std::size_t>(options.rows);
    const std::size_t width = (columns * (side + 1) - 1) * scale, height = (rows * (side + 1) - 1) * scale;
    std::vector<std::uint8_t> pixels;
    for (std::size_t i = 0; i < height * width * channels; ++i) {
        const std::size_t channel = i % channels, x = i / channels % width / scale, y = i / channels / width / scale;
        const std::size_t image = y / (side + 1) * columns + x / (side + 1), row = y % (side + 1),
                          column = x % (side + 1);
        const bool is_line = row == side || column == side;
        pixels.push_back(is_line ? line_pixel
                                 : pixel_of(images[((image * channels + channel) * side + row) * side + column]));
    }
    png_file::write(options.output, pixels, static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height),
                    static_cast<int>(channels));
}

void draw(const Options& options) {
    Diffusion model = load(options);
    const DenoiserTraits& traits = model.traits();
    if (traits.channels != 1 && traits.channels != 3)
        throw cairn::Error(cairn::ErrorKind::unsupported, "diffusion",
                           "images of " + std::to_string(traits.channels) + " channels have no PNG format");
    const std::vector<std::int32_t> classes = column_classes(options, traits);
    const std::size_t columns = traits.classes > 0 ? classes.size() : static_cast<std::size_t>(options.columns);
    std::vector<std::int32_t> all;
    for (std::int64_t row = 0; row < options.rows; ++row) all.insert(all.end(), classes.begin(), classes.end());

    cairn::models::SampleOptions sample = options.sample;
    sample.sampler = options.sampler == "ddim" ? DiffusionSampler::ddim : DiffusionSampler::euler;
    if (options.karras) sample.karras = true;
    const auto count = static_cast<std::int64_t>(columns) * options.rows;
    const std::vector<float> images = traits.classes > 0 ? model.sample(all, sample) : model.sample(count, sample);
    write_grid(options, images, traits, columns);
    std::cout << options.output << ": " << count << " images of " << traits.sample_size << " x " << traits.sample_size
              << ", " << sample.steps << " steps\n";
}

void run(const CLI::App& app, const Options& options) {
    support::refuse_without_effect(app, options.support);
    const bool draws = options.support.save_graph.empty() && !support::explains_selection(options.support);
    if (!draws)
        support::refuse_given(app,
                              {"--output", "--classes", "--rows", "--columns", "--steps", "--sampler", "--guidance",
                               "--eta", "--karras", "--seed", "--scale"},
                              "--save-graph, --explain and --why-not draw nothing");
    if (draws && options.output.empty())
        throw cairn::Error(cairn::ErrorKind::argument, "diffusion", "give the file to write: --output");
    if (!options.support.save_graph.empty()) return support::save_graph(options.support.save_graph, graph_of(options));
    if (draws) return draw(options);
    Diffusion model = load(options);
    support::print_explanation(options.support, model.compiled(), graph_of(options));
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Draws images with a diffusion model");
    support::add_version_and_defaults(app);
    add_options(app, options);
    return support::guarded(app, argc, argv, [&] { run(app, options); });
}
