#include "fuse/numbers.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace cairn::inline v0::fuse {
namespace {

using ir::NodeId;

constexpr std::size_t most_numbers = 16;

double number_in(std::string_view text) {
    double result = 0;
    std::from_chars(text.data(), text.data() + text.size(), result);
    return result;
}

// The number of fewest digits that differs no more than two roundings do.
double of_fewest_digits(double value, DType dtype) {
    const double grain = dtype == DType::f64 ? 0x1p-52 : 0x1p-23;
    char text[32];
    for (int digits = 0; digits < 16 && std::isfinite(value); ++digits) {
        const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, digits).ptr;
        const double shorter = number_in({text, end});
        if (std::fabs(shorter - value) <= grain * std::fabs(value)) return shorter;
    }
    return value;
}

// Integers are not rounded. Layers hold the same numbers, so each is looked for once.
double rounded(Matcher& matcher, double value, DType dtype) {
    if (!is_float(dtype)) return value;
    const auto [known, is_new] = matcher.rounded(dtype).try_emplace(std::bit_cast<std::uint64_t>(value), 0);
    if (is_new) known->second = of_fewest_digits(value, dtype);
    return known->second;
}

void add_number(std::vector<double>& numbers, double value, DType dtype) {
    if (std::isnan(value)) return;
    const auto known = [&](double other) { return Canon::close(other, value, dtype); };
    if (numbers.size() < most_numbers && std::none_of(numbers.begin(), numbers.end(), known)) numbers.push_back(value);
}

const std::vector<double>* values_of(const ir::GraphData& graph, NodeId id) {
    const ir::Node& node = graph.node(id);
    return node.op == ir::Op::constant ? node.values.get() : nullptr;
}

bool holds_sentinel(const Pattern& pattern, NodeId entry, double sentinel) {
    const std::span<const NodeId> nodes = pattern.regions->from(entry).nodes;
    return std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) {
        const auto* values = values_of(*pattern.skeleton.graph, id);
        return values != nullptr && values->size() == 1 && Canon::close(values->front(), sentinel);
    });
}

// Those of most nodes are the same few: each is rounded once.
void add_numbers_under(Matcher& matcher, NodeId entry, std::vector<double>& numbers) {
    const std::span<const NodeId> nodes = matcher.region_from(entry).nodes;
    const auto dtype = [&](NodeId id) { return matcher.graph().node(id).dtype; };
    const auto scalar = [&](NodeId id) {
        const auto* values = values_of(matcher.graph(), id);
        return values != nullptr && values->size() == 1 ? values : nullptr;
    };
    std::vector<std::pair<double, DType>> seen;
    const auto add_rounded = [&](double value, DType type) {
        if (std::find(seen.begin(), seen.end(), std::pair(value, type)) != seen.end()) return;
        seen.emplace_back(value, type);
        add_number(numbers, rounded(matcher, value, type), type);
    };
    for (const NodeId id : nodes)
        if (const auto* values = scalar(id)) add_number(numbers, as_written(values->front(), dtype(id)), dtype(id));
    for (const NodeId id : nodes) add_rounded(matcher.forms()[id].factor, dtype(id));
    add_number(numbers, 1, DType::f64);
    for (const NodeId id : nodes)
        if (const auto* values = scalar(id); values != nullptr && values->front() != 0)
            add_rounded(1 / values->front(), dtype(id));
}

using Table = std::shared_ptr<const std::vector<double>>;

std::vector<Table> tables_of(const ir::GraphData& graph) {
    std::vector<Table> tables;
    for (const ir::Node& node : graph.nodes())
        if (node.op == ir::Op::constant && node.values->size() > 1) tables.push_back(node.values);
    return tables;
}

// The base b of a table of powers b^e, from one made with the base exp(`log_base`). The element with the largest
// exponent tells most exactly.
double base_of(const std::vector<double>& table, const std::vector<double>& made, double log_base, DType dtype) {
    const auto far = std::max_element(made.begin(), made.end(), [](double a, double b) {
        return std::fabs(std::log(std::fabs(a))) < std::fabs(std::log(std::fabs(b)));
    });
    const double exponent = std::log(*far) / log_base;
    const double base = std::exp(std::log(table[static_cast<std::size_t>(far - made.begin())]) / exponent);
    const double grain = std::pow(10, std::floor(std::log10(base)) - 5);
    const double six_digits = std::round(base / grain) * grain;
    return Canon::close(six_digits, base, dtype) ? six_digits : base;
}

}  // namespace

double as_written(double value, DType dtype) {
    const bool is_rounded =
        is_float(dtype) && dtype != DType::f64 && std::fabs(value) <= std::numeric_limits<float>::max();
    const bool is_whole = std::trunc(value) == value && std::fabs(value) < 0x1p63;
    if (!is_rounded || is_whole) return value;
    const auto narrow = static_cast<float>(value);
    if (static_cast<double>(narrow) != value) return value;
    char text[32];
    return number_in({text, std::to_chars(text, text + sizeof text, narrow).ptr});
}

std::vector<std::vector<double>> numbers_for(Matcher& matcher, const Pattern& pattern,
                                             std::span<const Overlay> overlays) {
    std::vector<std::vector<double>> numbers;
    for (const Hole& hole : pattern.holes) {
        numbers.emplace_back();
        for (const Overlay& overlay : overlays)
            if (holds_sentinel(pattern, overlay.skeleton, hole.sentinel))
                add_numbers_under(matcher, overlay.graph, numbers.back());
        // An eps of 0 leaves no trace.
        if (pattern.holes.size() == 1 && !numbers.back().empty()) numbers.back().push_back(0);
    }
    return numbers;
}

void add_table_numbers(Matcher& matcher, const Pattern& pattern, std::span<const Overlay> overlays,
                       std::span<const TensorDesc> operands, std::vector<std::vector<double>>& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (!numbers[i].empty()) continue;
        const auto& instance = matcher.instances().of(*pattern.definition, operands, pattern.problem.attributes);
        if (!instance) return;
        const double log_base = std::log(pattern.holes[i].sentinel);
        for (const Table& made : tables_of(*instance->graph))
            for (const Overlay& overlay : overlays)
                for (const NodeId id : matcher.region_from(overlay.graph).nodes) {
                    const auto* there = values_of(matcher.graph(), id);
                    if (there == nullptr || there->size() != made->size()) continue;
                    const DType dtype = matcher.graph().node(id).dtype;
                    add_number(numbers[i], base_of(*there, *made, log_base, dtype), dtype);
                }
    }
}

}  // namespace cairn::inline v0::fuse
