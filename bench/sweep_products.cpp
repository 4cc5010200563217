// Products over every number of rows, or of columns or of depth around round sizes: what the machine allows
// (multiply-adds at the peak or reading at the read limit, whichever takes longer, both measured here) by what they
// take, with weights out of cache; and the sizes that fall off from the nearest round one.
//
//     build/release/bench/sweep_products --shape 768x2304 --json >> sweep.jsonl
//     build/release/bench/sweep_products --plot sweep.svg < sweep.jsonl
#include "bench/sweep_plot.hpp"
#include "cairn/tuning.hpp"
#include "examples/host.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iostream>
#include <optional>

namespace {

using cairn::bench::SweepLine;
using cairn::bench::SweepPoint;
using Json = nlohmann::json;

struct Options {
    std::string shape = "768x2304", axis = "rows", plot;
    std::vector<std::string> families = {"panel", "gemm"};
    std::int64_t first = 1, last = 300, step = 1, rows = 128;
    double seconds = 0.03;
    bool is_transposed = false, is_json = false;
};

/// Sizes of which the nearest one is what others are compared with.
constexpr std::int64_t round_to = 16;
constexpr double cliff = 1.1;

struct Sizes {
    std::int64_t rows, depth, columns;
};

std::optional<SweepPoint> measured(const cairn::Context& context, const cairn::Calibration& machine,
                                   const std::string& family, Sizes sizes, std::int64_t size, const Options& options) {
    const auto [m, k, n] = sizes;
    const std::string lies = family == "panel" ? "@panel32" : options.is_transposed ? fmt::format(":(1,{})", k) : "";
    const std::string text = fmt::format("matmul | f32[{},{}] f32[{},{}]{}! -> f32[{},{}]", m, k, k, n, lies, m, n);
    auto symbols = cairn::Symbols::create();
    const cairn::Problem problem = cairn::parse_problem(text, *symbols);
    for (const cairn::Kernel& kernel : context.kernels().kernels) {
        if (!kernel.id.starts_with("cpu." + family + "_") || kernel.definition != "matmul" ||
            !context.features().includes(kernel.needs) || !kernel.accepts(problem).empty())
            continue;
        const double found =
            cairn::measure(problem, kernel.id, context, {.blocks = 5, .max_seconds = options.seconds}).min;
        const auto operations = 2.0 * static_cast<double>(m * k) * static_cast<double>(n);
        const double bytes = 4.0 * static_cast<double>(k * n);
        return SweepPoint{size, found, std::max(operations / machine.flops, bytes / machine.bandwidth)};
    }
    return std::nullopt;
}

void tell_cliffs(const std::vector<SweepLine>& lines) {
    for (const SweepLine& line : lines) {
        const auto at = [&](std::int64_t size) {
            return std::find_if(line.points.begin(), line.points.end(),
                                [&](const SweepPoint& point) { return point.size == size; });
        };
        std::string cliffs;
        for (const SweepPoint& point : line.points) {
            const auto round = at(std::max<std::int64_t>((point.size + round_to / 2) / round_to, 1) * round_to);
            if (round != line.points.end() && point.share() * cliff < round->share())
                cliffs +=
                    fmt::format(" {} ({:.2f}, {:.2f} at {})", point.size, point.share(), round->share(), round->size);
        }
        fmt::print(stderr, "{} {}: cliffs:{}\n", line.title, line.family, cliffs.empty() ? " none" : cliffs);
    }
}

void sweep(const Options& options) {
    Sizes shape{options.rows, 0, 0};
    if (std::sscanf(options.shape.c_str(), "%ldx%ld", &shape.depth, &shape.columns) != 2)
        throw CLI::ValidationError("--shape", "is not KxN");
    const cairn::Context context({.threads = cairn::usable_cpus()});
    const cairn::Calibration machine = cairn::calibrate(context);
    std::vector<SweepLine> lines;
    const std::string title = (options.axis == "rows" ? "" : options.axis + " ") + options.shape +
                              (options.is_transposed ? " transposed" : "");
    fmt::print(stderr, "{}: peak {:.0f} GFLOP/s, read limit {:.1f} GB/s\n", title, machine.flops / 1e9,
               machine.bandwidth / 1e9);
    for (const std::string& family : options.families) lines.push_back({title, family, {}});
    for (std::int64_t size = options.first; size <= options.last; size += options.step)
        for (SweepLine& line : lines) {
            Sizes sizes = shape;
            (options.axis == "rows" ? sizes.rows : options.axis == "depth" ? sizes.depth : sizes.columns) = size;
            const auto point = measured(context, machine, line.family, sizes, size, options);
            if (!point) continue;
            line.points.push_back(*point);
            const double peak =
                2.0 * static_cast<double>(sizes.rows * sizes.depth * sizes.columns) / point->seconds / machine.flops;
            if (options.is_json)
                fmt::print("{}\n", Json{{"title", line.title},
                                        {"family", line.family},
                                        {"size", size},
                                        {"seconds", point->seconds},
                                        {"limit_seconds", point->limit_seconds},
                                        {"share_of_peak", peak},
                                        {"peak_flops_per_second", machine.flops},
                                        {"read_bytes_per_second", machine.bandwidth}}
                                       .dump());
            else
                fmt::print("{} {} {:4}: {:9.1f} us, {:.2f} of the peak, {:.2f} of the limit\n", line.title, line.family,
                           size, 1e6 * point->seconds, peak, point->share());
        }
    tell_cliffs(lines);
}

void plot(const std::string& path) {
    std::vector<SweepLine> lines;
    for (std::string text; std::getline(std::cin, text);) {
        const Json row = Json::parse(text);
        const std::string title = row.at("title"), family = row.at("family");
        auto line = std::find_if(lines.begin(), lines.end(),
                                 [&](const SweepLine& each) { return each.title == title && each.family == family; });
        if (line == lines.end()) line = lines.insert(line, {title, family, {}});
        line->points.push_back({row.at("size"), row.at("seconds"), row.at("limit_seconds")});
    }
    std::ofstream(path) << cairn::bench::plot_of(lines);
    tell_cliffs(lines);
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
    app.add_flag("--transposed", options.is_transposed, "columns of plain weights lie one behind the other");
    app.add_flag("--json", options.is_json, "one line a size");
    app.add_option("--plot", options.plot, "writes this picture from such lines on standard input");
    return host::guarded(app, argc, argv, [&] { options.plot.empty() ? sweep(options) : plot(options.plot); });
}
