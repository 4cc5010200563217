#include "io/onnx_operators/signal.hpp"

#include "io/onnx_node/known_index.hpp"
#include "io/onnx_operators/operators.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

namespace cairn::inline v0::onnx {
namespace {

constexpr std::array<Operator, 6> signal_rows{{{"DFT", 17, make_dft},
                                               {"STFT", 17, make_stft},
                                               {"HannWindow", 17, make_hann_window},
                                               {"HammingWindow", 17, make_hamming_window},
                                               {"BlackmanWindow", 17, make_blackman_window},
                                               {"MelWeightMatrix", 17, make_mel_weight_matrix}}};

constexpr std::int64_t longest_table = std::int64_t{1} << 25;

/// a - b cos(t) + c cos(2 t), with t from 0 to 2 pi.
void set_window(Node& node, double a, double b, double c) {
    const std::int64_t size = node.integer(0, "the size");
    if (size < 0 || size > longest_table) node.refuse(fmt::format("its size is {}", size));
    const std::int64_t period = node.integer("periodic", 1) != 0 ? size : size - 1;
    std::vector<double> elements;
    for (std::int64_t i = 0; i < size; ++i) {
        const double t = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(period);
        elements.push_back(c * std::cos(2 * t) - b * std::cos(t) + a);
    }
    set_table(node, {size}, std::move(elements));
}

double mel_of(double hertz) { return 2595 * std::log1p(hertz / 700) / std::numbers::ln10; }
double hertz_of(double mel) { return 700 * std::expm1(mel / 2595 * std::numbers::ln10); }

}  // namespace

void set_table(Node& node, std::vector<std::int64_t> dims, std::vector<double> elements) {
    const ElementType type = node.element_type("output_datatype", ElementType::f32);
    Known table{type, std::move(dims), {}, {}};
    if (table.is_float())
        for (const double element : elements) table.floats.push_back(rounded_to(type, element));
    else if (is_integer_type(type))
        for (const double element : elements) {
            if (!std::isfinite(element)) node.refuse("its elements are NaN, which no integer is");
            table.integers.emplace_back(wrapped_to(type, static_cast<std::int64_t>(element)));
        }
    else
        node.refuse(fmt::format("its output_datatype is {}", to_string(type)));
    if (elements_of(table.dims) <= most_known_elements)
        node.set(0, std::move(table));
    else
        node.set(0, tensor_of(table, node.graph()));
}

void make_hann_window(Node& node) { set_window(node, 0.5, 0.5, 0); }
void make_hamming_window(Node& node) { set_window(node, 25.0 / 46, 21.0 / 46, 0); }
void make_blackman_window(Node& node) { set_window(node, 0.42, 0.5, 0.08); }

/// Triangles that are equally wide on the mel scale, their corners rounded down to bins of the spectrum.
void make_mel_weight_matrix(Node& node) {
    const std::int64_t bands = node.integer(0, "num_mel_bins"), length = node.integer(1, "dft_length"),
                       rate = node.integer(2, "sample_rate"), bins = length / 2 + 1;
    const double low = mel_of(node.number(3, "lower_edge_hertz")), high = mel_of(node.number(4, "upper_edge_hertz"));
    if (bands < 0 || length < 0 || rate <= 0 || bands > longest_table / bins)
        node.refuse(fmt::format("its sizes are {} and {} at a rate of {}", bands, length, rate));
    std::vector<std::int64_t> corners;
    for (std::int64_t i = 0; i < bands + 2; ++i) {
        const double mel = low + static_cast<double>(i) * (high - low) / static_cast<double>(bands + 2);
        const double bin = std::floor(static_cast<double>(length + 1) * hertz_of(mel) / static_cast<double>(rate));
        if (!(bin >= 0 && bin < static_cast<double>(bins)))
            node.refuse(fmt::format("a band ends at bin {} of {}", bin, bins));
        corners.push_back(static_cast<std::int64_t>(bin));
    }
    std::vector<double> elements(static_cast<std::size_t>(bins * bands));
    for (std::int64_t band = 0; band < bands; ++band) {
        const auto at = static_cast<std::size_t>(band);
        const std::int64_t left = corners[at], peak = corners[at + 1], right = corners[at + 2];
        const auto set = [&](std::int64_t bin, std::int64_t part, std::int64_t whole) {
            elements[static_cast<std::size_t>(bin * bands + band)] =
                static_cast<double>(part) / static_cast<double>(whole);
        };
        if (left == peak) set(peak, 1, 1);
        for (std::int64_t bin = left; bin <= peak && left < peak; ++bin) set(bin, bin - left, peak - left);
        for (std::int64_t bin = peak; bin < right; ++bin) set(bin, right - bin, right - peak);
    }
    set_table(node, {bins, bands}, std::move(elements));
}

std::span<const Operator> signal_operators() { return signal_rows; }

}  // namespace cairn::inline v0::onnx
