// Times matrix products over every number of rows, or of columns or depths around round sizes, with weights not in
// cache. Prints the share of the roofline limit: the larger of the multiply-adds at the peak and the weights at the
// read bandwidth, both calibrated here, divided by the measured time. sweep_report.py writes a page from it.
//
//     build/release/bench/sweep_products --shape 768x2304 [--axis columns --rows 128] [--json]
#include "cairn/tuning.hpp"
#include "examples/support.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <optional>

namespace {

using Json = nlohmann::json;

struct Options {
    std::string shape = "768x2304", axis = "rows";
    std::vector<std::string> families = {"panel", "gemm"};
    std::int64_t first = 1, last = 300, step = 1, rows = 128;
    double seconds = 0.03;
    bool is_transposed = false, is_json = false;
};

struct Sizes {
    std::int64_t rows, depth, columns;
};

struct Measurement {
    double seconds, limit_seconds, share_of_peak;
};

/// Times the first kernel of the family that accepts the product, as selected without timings; nullopt if none does.
std::optional<Measurement> measured(const cairn::Context& context, const cairn::Calibration& machine,
                                    const std::string& family, Sizes sizes, const Options& options) {
    const auto [m, k, n] = sizes;
    const std::string weight_layout = family == "panel"       ? "@panel32"
                                      : options.is_transposed ? fmt::format(":(1,{})", k)
                                                              : "";
    const std::string text =
        fmt::format("matmul | f32[{},{}] f32[{},{}]{}! -> f32[{},{}]", m, k, k, n, weight_layout, m, n);
    auto symbols = cairn::Symbols::create();
    const cairn::Problem problem = cairn::parse_problem(text, *symbols);
    for (const cairn::Kernel& kernel : context.kernels().kernels) {
        if (!kernel.id.starts_with("cpu." + family + "_") || kernel.definition != "matmul" ||
            !context.features().includes(kernel.needs) || !kernel.accepts(problem).empty())
            continue;
        const double seconds =
            cairn::measure(problem, kernel.id, context, {.blocks = 5, .max_seconds = options.seconds}).min;
        const auto operations = 2.0 * static_cast<double>(m * k) * static_cast<double>(n);
        const double bytes = 4.0 * static_cast<double>(k * n), at_peak = operations / machine.flops;
        return Measurement{seconds, std::max(at_peak, bytes / machine.bandwidth), at_peak / seconds};
    }
    return std::nullopt;
}

void print(const std::string& title, const std::string& family, std::int64_t size, const Measurement& found,
           const cairn::Calibration& machine, bool is_json) {
    if (is_json)
        fmt::print("{}\n", Json{{"title", title},
                                {"family", family},
                                {"size", size},
                                {"seconds", found.seconds},
                                {"limit_seconds", found.limit_seconds},
                                {"share_of_peak", found.share_of_peak},
                                {"peak_flops_per_second", machine.flops},
                                {"read_bytes_per_second", machine.bandwidth}}
                               .dump());
    else
        fmt::print("{} {} {:4}: {:9.1f} us, {:.2f} of the peak, {:.2f} of the limit\n", title, family, size,
                   1e6 * found.seconds, found.share_of_peak, found.limit_seconds / found.seconds);
}

void sweep(const Options& options) {
    Sizes sizes{options.rows, 0, 0};
    if (std::sscanf(options.shape.c_str(), "%ldx%ld", &sizes.depth, &sizes.columns) != 2)
        throw CLI::ValidationError("--shape", "is not KxN");
    const cairn::Context context({.threads = cairn::usable_cpus()});
    const cairn::Calibration machine = cairn::calibrate(context);
    const std::string title = (options.axis == "rows" ? "" : options.axis + " ") + options.shape +
                              (options.is_transposed ? " transposed" : "");
    fmt::print(stderr, "{}: peak {:.0f} GFLOP/s, read limit {:.1f} GB/s\n", title, machine.flops / 1e9,
               machine.bandwidth / 1e9);
    for (std::int64_t size = options.first; size <= options.last; size += options.step)
        for (const std::string& family : options.families) {
            (options.axis == "rows" ? sizes.rows : options.axis == "depth" ? sizes.depth : sizes.columns) = size;
            if (const auto found = measured(context, machine, family, sizes, options))
                print(title, family, size, *found, machine, options.is_json);
        }
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Sweeps products over their sizes");
    app.add_option("--shape", options.shape, "depth x columns")->capture_default_str();
    app.add_option("--axis", options.axis, "what is swept")
        ->check(CLI::IsMember({"rows", "depth", "columns"}))
        ->capture_default_str();
    app.add_option("--rows", options.rows, "where another axis is swept")->capture_default_str();
    app.add_option("--first", options.first)->capture_default_str();
    app.add_option("--last", options.last)->capture_default_str();
    app.add_option("--step", options.step)->capture_default_str();
    app.add_option("--families", options.families, "of kernels")->delimiter(',')->capture_default_str();
    app.add_option("--seconds", options.seconds, "for one size of one family at most")->capture_default_str();
    app.add_flag("--transposed", options.is_transposed, "unpacked weights are stored column by column");
    app.add_flag("--json", options.is_json, "one line a size");
    return support::guarded(app, argc, argv, [&] { sweep(options); });
}
