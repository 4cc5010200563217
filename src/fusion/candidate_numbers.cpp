#include "fusion/candidate_numbers.hpp"

#include "fusion/position_comparison.hpp"
#include "graph/ir/scalar_cast.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace cairn::fusion {
namespace {

using ir::NodeId;

constexpr std::size_t max_numbers = 16;

double number_in(std::string_view text) {
    double result = 0;
    std::from_chars(text.data(), text.data() + text.size(), result);
    return result;
}

// The shortest decimal within two roundings of `value`.
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

void add_number(std::vector<double>& numbers, double value, DType dtype) {
    if (std::isnan(value)) return;
    const auto known = [&](double other) { return Normalizer::close(other, value, dtype); };
    if (numbers.size() < max_numbers && std::none_of(numbers.begin(), numbers.end(), known)) numbers.push_back(value);
}

const std::vector<double>* values_of(const ir::GraphData& graph, NodeId id) {
    const ir::Node& node = graph.node(id);
    return node.op == ir::Op::constant ? node.values.get() : nullptr;
}

// The constant that holds the sentinel in a region of the skeleton.
std::optional<NodeId> holder_of(const Pattern& pattern, NodeId entry, double sentinel) {
    for (const NodeId id : pattern.regions->from(entry).nodes) {
        const auto* values = values_of(*pattern.skeleton.graph, id);
        if (values != nullptr && values->size() == 1 && Normalizer::close(values->front(), sentinel)) return id;
    }
    return std::nullopt;
}

// Adds the numbers in a region of float nodes (`are_floats`) or of other nodes. Most nodes share a few numbers; each is
// rounded once.
void add_numbers_under(Matcher& matcher, NodeId entry, bool are_floats, std::vector<double>& numbers) {
    std::vector<NodeId> nodes;
    for (const NodeId id : matcher.region_from(entry).nodes)
        if (is_float(matcher.graph().node(id).dtype) == are_floats) nodes.push_back(id);
    const auto dtype = [&](NodeId id) { return matcher.graph().node(id).dtype; };
    const auto scalar = [&](NodeId id) {
        const auto* values = values_of(matcher.graph(), id);
        return values != nullptr && values->size() == 1 ? values : nullptr;
    };
    std::vector<std::pair<double, DType>> seen;
    const auto add_rounded = [&](double value, DType type) {
        if (std::find(seen.begin(), seen.end(), std::pair(value, type)) != seen.end()) return;
        seen.emplace_back(value, type);
        add_number(numbers, shortest_within_rounding(matcher, value, type), type);
    };
    for (const NodeId id : nodes)
        if (const auto* values = scalar(id))
            add_number(numbers, shortest_decimal(values->front(), dtype(id)), dtype(id));
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

// The base b of a table of powers b^e, from a table made with the base exp(`log_base`). It is computed from the element
// with the largest exponent, which is the most precise.
double base_of(const std::vector<double>& table, const std::vector<double>& made, double log_base, DType dtype) {
    const auto far = std::max_element(made.begin(), made.end(), [](double a, double b) {
        return std::fabs(std::log(std::fabs(a))) < std::fabs(std::log(std::fabs(b)));
    });
    const double exponent = std::log(*far) / log_base;
    const double base = std::exp(std::log(table[static_cast<std::size_t>(far - made.begin())]) / exponent);
    const double grain = std::pow(10, std::floor(std::log10(base)) - 5);
    const double six_digits = std::round(base / grain) * grain;
    return Normalizer::close(six_digits, base, dtype) ? six_digits : base;
}

// The comparisons of positions in a definition that depend on no operand.
std::vector<PositionComparison> comparisons_in(Normalizer& normalizer, const DefinitionInstance& instance) {
    std::vector<PositionComparison> result;
    std::vector<ScaledTerm> made(instance.graph->nodes().size());
    for (NodeId id = 0; id < made.size(); ++id) {
        if ((instance.reads[id] & ~number_bit) != 0) continue;
        const ir::Node& node = instance.graph->node(id);
        std::vector<ScaledTerm> operands;
        for (const NodeId operand : node.operands) operands.push_back(made[operand]);
        made[id] = normalizer.of(node, id, operands);
        if (auto found = comparison_of(normalizer, made[id].core)) result.push_back(*std::move(found));
    }
    return result;
}

std::vector<PositionComparison> comparisons_under(Matcher& matcher, std::span<const RegionPair> region_pairs) {
    std::vector<PositionComparison> result;
    std::vector<TermId> seen;
    for (const RegionPair& region_pair : region_pairs)
        for (const NodeId id : matcher.region_from(region_pair.graph).nodes) {
            const ScaledTerm& form = matcher.forms()[id];
            if (std::find(seen.begin(), seen.end(), form.core) != seen.end()) continue;
            seen.push_back(form.core);
            if (auto found = comparison_of(matcher.normalizer(), form.core)) result.push_back(*std::move(found));
        }
    return result;
}

}  // namespace

namespace {

template <typename Test>
bool adds_constant(const Pattern& pattern, const Test& test) {
    const Normalizer& normalizer = pattern.forms->normalizer();
    for (TermId id = 0; id < normalizer.size(); ++id) {
        const Term& term = normalizer.term(id);
        if (term.kind == TermKind::sum &&
            std::any_of(term.parts.begin(), term.parts.end(), [&](const ScaledTerm& part) {
                return normalizer.term(part.core).kind == TermKind::one && test(part.factor);
            }))
            return true;
    }
    return false;
}

}  // namespace

bool adds_constant(const Pattern& pattern) {
    return adds_constant(pattern, [](double) { return true; });
}

bool adds_free_constant(const Pattern& pattern) {
    return adds_constant(pattern, [&](double number) {
        return std::any_of(pattern.holes.begin(), pattern.holes.end(), [&](const Hole& hole) {
            const double times = number / hole.sentinel, whole = std::round(times);
            return whole != 0 && std::fabs(times - whole) <= 1e-9 * std::fabs(times);
        });
    });
}

// Cached: the layers of a model contain the same numbers.
double shortest_within_rounding(Matcher& matcher, double value, DType dtype) {
    if (!is_float(dtype)) return value;
    const auto [known, is_new] = matcher.rounded(dtype).try_emplace(std::bit_cast<std::uint64_t>(value), 0);
    if (is_new) known->second = of_fewest_digits(value, dtype);
    return known->second;
}

double shortest_decimal(double value, DType dtype) {
    const bool is_rounded = is_float(dtype) && dtype != DType::f64 && std::isfinite(value);
    const bool is_whole = std::trunc(value) == value && std::fabs(value) < 0x1p63;
    if (!is_rounded || is_whole || ir::round_to(dtype, value) != value) return value;
    char text[32];
    if (dtype == DType::f32)
        return number_in({text, std::to_chars(text, text + sizeof text, static_cast<float>(value)).ptr});
    for (int digits = 0; digits < 16; ++digits) {
        const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, digits).ptr;
        const double shorter = number_in({text, end});
        if (ir::round_to(dtype, shorter) == value) return shorter;
    }
    return value;
}

std::vector<std::vector<double>> candidate_numbers(Matcher& matcher, const Pattern& pattern,
                                                   std::span<const RegionPair> region_pairs) {
    std::vector<std::vector<double>> numbers;
    for (const Hole& hole : pattern.holes) {
        numbers.emplace_back();
        if (hole.is_whole) continue;
        for (const RegionPair& region_pair : region_pairs) {
            if (const auto holder = holder_of(pattern, region_pair.skeleton, hole.sentinel))
                add_numbers_under(matcher, region_pair.graph, is_float(pattern.skeleton.graph->node(*holder).dtype),
                                  numbers.back());
        }
        // An eps of 0 leaves no trace in the form.
        const bool may_vanish = pattern.holes.size() == 1 || adds_constant(pattern);
        if (may_vanish && !numbers.back().empty()) numbers.back().push_back(0);
    }
    return numbers;
}

void add_table_numbers(Matcher& matcher, const Pattern& pattern, std::span<const RegionPair> region_pairs,
                       std::span<const TensorDesc> operands, std::vector<std::vector<double>>& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (!numbers[i].empty() || pattern.holes[i].is_whole) continue;
        const auto& instance = matcher.instances().of(*pattern.definition, operands, pattern.problem.attributes);
        if (!instance) return;
        const double log_base = std::log(pattern.holes[i].sentinel);
        for (const Table& made : tables_of(*instance->graph))
            for (const RegionPair& region_pair : region_pairs)
                for (const NodeId id : matcher.region_from(region_pair.graph).nodes) {
                    const auto* node_values = values_of(matcher.graph(), id);
                    if (node_values == nullptr || node_values->size() != made->size()) continue;
                    const DType dtype = matcher.graph().node(id).dtype;
                    add_number(numbers[i], base_of(*node_values, *made, log_base, dtype), dtype);
                }
    }
}

void add_whole_numbers(Matcher& matcher, const Pattern& pattern, std::span<const RegionPair> region_pairs,
                       std::span<const TensorDesc> operands, std::vector<std::vector<double>>& numbers) {
    constexpr double apart = 64;
    const bool are_wanted =
        std::any_of(pattern.holes.begin(), pattern.holes.end(), [](const Hole& hole) { return hole.is_whole; });
    if (!are_wanted) return;
    const std::vector<PositionComparison> under = comparisons_under(matcher, region_pairs);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const Hole& hole = pattern.holes[i];
        if (!hole.is_whole) continue;
        const auto built_with = [&](double number) -> const std::optional<DefinitionInstance>& {
            Attributes attributes = pattern.problem.attributes;
            hole.put(number, attributes);
            return matcher.instances().of(*pattern.definition, operands, attributes);
        };
        const auto &at_sentinel = built_with(hole.sentinel), &shifted = built_with(hole.sentinel + apart);
        if (!at_sentinel || !shifted) return;
        const auto made = comparisons_in(matcher.normalizer(), *at_sentinel),
                   moved = comparisons_in(matcher.normalizer(), *shifted);
        for (std::size_t c = 0; c < std::min(made.size(), moved.size()); ++c) {
            const std::optional<double> step = made[c].distance_to(moved[c]);
            if (!step || *step == 0) continue;
            for (const PositionComparison& comparison : under) {
                const std::optional<double> distance = made[c].distance_to(comparison);
                if (!distance) continue;
                const double number = hole.sentinel + *distance / *step * apart;
                if (std::trunc(number) == number && std::fabs(number) < 0x1p53 && built_with(number))
                    add_number(numbers[i], number, DType::i64);
            }
        }
    }
}

}  // namespace cairn::fusion
