#include "fuse/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace cairn::inline v0::fuse {
namespace {

using ir::NodeId;

constexpr std::size_t most_numbers = 16;

// The number a program meant that holds a float: 1e-05, where 9.999999747378752e-06 is stored.
double as_written(double value) {
    const auto narrow = static_cast<float>(value);
    if (static_cast<double>(narrow) != value) return value;
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, narrow).ptr;
    double result = value;
    std::from_chars(text, end, result);
    return result;
}

void add_number(std::vector<double>& numbers, double value) {
    if (std::isnan(value)) return;
    const auto known = [&](double other) { return Canon::close(other, value); };
    if (numbers.size() < most_numbers && std::none_of(numbers.begin(), numbers.end(), known)) numbers.push_back(as_written(value));
}

const std::vector<double>* values_of(const ir::GraphData& graph, NodeId id) {
    const ir::Node& node = graph.node(id);
    return node.op == ir::Op::constant ? node.values.get() : nullptr;
}

bool holds_sentinel(const Pattern& pattern, NodeId entry, double sentinel) {
    const std::vector<NodeId>& nodes = pattern.regions->from(entry).nodes;
    return std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) {
        const auto* values = values_of(*pattern.skeleton.graph, id);
        return values != nullptr && values->size() == 1 && Canon::close(values->front(), sentinel);
    });
}

void add_numbers_under(Matcher& matcher, NodeId entry, std::vector<double>& numbers) {
    const std::vector<NodeId>& nodes = matcher.regions().from(entry).nodes;
    for (const NodeId id : nodes) {
        const auto* values = values_of(matcher.graph(), id);
        if (values != nullptr && values->size() == 1) add_number(numbers, values->front());
    }
    for (const NodeId id : nodes) add_number(numbers, matcher.forms()[id].factor);
    add_number(numbers, 1);
    for (const NodeId id : nodes) {
        const auto* values = values_of(matcher.graph(), id);
        if (values != nullptr && values->size() == 1 && values->front() != 0) add_number(numbers, 1 / values->front());
    }
}

using Table = std::shared_ptr<const std::vector<double>>;

std::vector<Table> tables_of(const ir::GraphData& graph) {
    std::vector<Table> tables;
    for (const ir::Node& node : graph.nodes())
        if (node.op == ir::Op::constant && node.values->size() > 1) tables.push_back(node.values);
    return tables;
}

}  // namespace

std::vector<std::vector<double>> numbers_for(Matcher& matcher, const Pattern& pattern, std::span<const Overlay> overlays) {
    std::vector<std::vector<double>> numbers;
    for (const Hole& hole : pattern.holes) {
        numbers.emplace_back();
        for (const Overlay& overlay : overlays)
            if (holds_sentinel(pattern, overlay.skeleton, hole.sentinel)) add_numbers_under(matcher, overlay.graph, numbers.back());
    }
    return numbers;
}

void add_table_numbers(Matcher& matcher, const Pattern& pattern, std::span<const Overlay> overlays,
                       std::span<const TensorDesc> operands, std::vector<std::vector<double>>& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (!numbers[i].empty()) continue;
        const auto& instance = matcher.instances().of(*pattern.definition, operands, pattern.problem.attributes);
        if (!instance) return;
        const double sentinel = std::log(pattern.holes[i].sentinel);
        for (const Table& made : tables_of(*instance->graph))
            for (const Overlay& overlay : overlays)
                for (const NodeId id : matcher.regions().from(overlay.graph).nodes) {
                    const auto* there = values_of(matcher.graph(), id);
                    if (there == nullptr || there->size() != made->size()) continue;
                    // The element with the largest exponent tells most exactly.
                    const auto far = std::max_element(made->begin(), made->end(), [](double a, double b) {
                        return std::fabs(std::log(std::fabs(a))) < std::fabs(std::log(std::fabs(b)));
                    });
                    const double exponent = std::log(*far) / sentinel;
                    const double base = std::exp(std::log((*there)[static_cast<std::size_t>(far - made->begin())]) / exponent);
                    const double rounded = std::round(base * 1e4) / 1e4;
                    add_number(numbers[i], std::fabs(rounded - base) < 1e-5 * base ? rounded : base);
                }
    }
}

}  // namespace cairn::inline v0::fuse
