#include "fuse/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cairn::inline v0::fuse {
namespace {

// Exact in every float dtype, and no number that a definition would hold of itself.
double sentinel_of(std::size_t hole) { return (129.0 + 2 * static_cast<double>(hole)) / 16384; }

// Sizes for a definition that wants to know them (a table that depends on the head size): even, and different for each symbol.
std::vector<Dim> sample_sizes(std::size_t count) {
    std::vector<Dim> sizes;
    for (std::size_t i = 0; i < count; ++i) sizes.emplace_back(static_cast<std::int64_t>(6 + 4 * i));
    return sizes;
}

std::optional<Instance> skeleton_of(const Definition& definition, const Pattern& pattern) {
    if (auto made = instantiate(definition, pattern.problem.inputs, pattern.problem.attributes, pattern.symbols)) return made;
    const std::vector<Dim> sizes = sample_sizes(pattern.symbols->list().size());
    std::vector<TensorDesc> operands = pattern.problem.inputs;
    for (TensorDesc& operand : operands)
        for (Dim& dim : operand.shape)
            if (!dim.is_constant()) dim = pattern.symbols->substitute(dim, sizes);
    return instantiate(definition, operands, pattern.problem.attributes, pattern.symbols);
}

// Leading axes may be added to an operand whose first size says nothing about any other axis: [R,D] of a layer norm, not its [D].
std::vector<bool> leading(const Problem& problem) {
    std::vector<bool> result;
    for (const TensorDesc& operand : problem.inputs) {
        bool free = !operand.shape.empty() && !operand.shape[0].symbol().empty();
        for (const TensorDesc& other : problem.inputs)
            for (std::size_t i = 1; i < other.shape.size() && free; ++i) free = !(other.shape[i] == operand.shape[0]);
        result.push_back(free);
    }
    return result;
}

Pattern make_pattern(const Definition& definition, std::string_view text) {
    Pattern pattern;
    pattern.definition = &definition;
    pattern.symbols = Symbols::create();
    pattern.problem = parse_problem(text, *pattern.symbols);
    Attributes& attributes = pattern.problem.attributes;
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        auto* number = std::get_if<double>(&attributes[i].value);
        if (number == nullptr || !std::isnan(*number)) continue;
        *number = sentinel_of(pattern.holes.size());
        pattern.holes.push_back({i, *number});
    }
    auto skeleton = skeleton_of(definition, pattern);
    if (!skeleton || pattern.problem.definition != definition.name)
        throw Error(ErrorKind::argument, "fuse", fmt::format("definition {} does not take its pattern \"{}\"", definition.name, text));
    pattern.skeleton = std::move(*skeleton);
    pattern.forms = std::make_unique<Forms>(*pattern.skeleton.graph);
    pattern.regions = std::make_unique<Regions>(*pattern.skeleton.graph);
    const auto& outputs = pattern.skeleton.outputs;
    pattern.main = static_cast<std::size_t>(std::max_element(outputs.begin(), outputs.end()) - outputs.begin());
    pattern.may_lead = leading(pattern.problem);
    return pattern;
}

}  // namespace

std::optional<std::size_t> Pattern::operand_of(ir::NodeId id) const {
    const auto it = std::find(skeleton.inputs.begin(), skeleton.inputs.end(), id);
    return it == skeleton.inputs.end() ? std::nullopt : std::optional(static_cast<std::size_t>(it - skeleton.inputs.begin()));
}

std::vector<Pattern> make_patterns(std::span<const Definition> definitions) {
    std::vector<Pattern> patterns;
    for (const Definition& definition : definitions)
        for (const std::string& text : definition.patterns) patterns.push_back(make_pattern(definition, text));
    return patterns;
}

}  // namespace cairn::inline v0::fuse
