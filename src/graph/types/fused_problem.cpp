#include "cairn/problem.hpp"

#include <algorithm>
#include <utility>

namespace cairn::inline v0 {
namespace {

constexpr std::string_view matmul = "matmul";

// True for the attributes of a definition, or of a matmul: none, or the first column of each output.
bool are_valid_attributes(const Attributes& attributes, bool is_matmul, std::size_t outputs) {
    if (!is_matmul) return !attributes.has("columns");
    return attributes.empty() || (attributes.size() == 1 && attributes.has("columns") &&
                                  std::holds_alternative<std::vector<Dim>>(attributes[0].value) &&
                                  attributes.dims("columns").size() == outputs);
}

bool is_well_formed(const Problem& problem) {
    if (problem.definition != "fused" || problem.body.empty() || problem.inputs.size() < 2 || problem.outputs.empty() ||
        problem.results.size() != problem.outputs.size())
        return false;
    const std::string& anchor = problem.body[0].op;
    if (!are_valid_attributes(problem.attributes, anchor == matmul, problem.outputs.size())) return false;
    if (problem.attributes.has("columns") && (problem.inputs[0].shape.empty() || problem.inputs[1].shape.empty()))
        return false;
    const auto reads = [](const Step& step, auto is_so) {
        return std::any_of(step.operands.begin(), step.operands.end(), is_so);
    };
    if (problem.body[0].operands != std::vector<int>{0, 1}) return false;
    const auto values = static_cast<int>(problem.inputs.size());
    for (int i = 1; i < static_cast<int>(problem.body.size()); ++i) {
        const Step& step = problem.body[static_cast<std::size_t>(i)];
        if (step.op == anchor || step.op == matmul ||
            reads(step, [&](int value) { return value < 2 || value >= values + i; }))
            return false;
    }
    const auto end = values + static_cast<int>(problem.body.size());
    return std::none_of(problem.results.begin(), problem.results.end(),
                        [&](int value) { return value < 2 || value >= end; });
}

}  // namespace

std::optional<FusedParts> parts_of_fused(const Problem& problem) {
    if (!is_well_formed(problem)) return std::nullopt;
    const int product = static_cast<int>(problem.inputs.size());
    // Numbers without inputs 0 and 1 and with the product before the others.
    const auto renumbered = [&](int value) { return value == product ? 0 : value < product ? value - 1 : value - 2; };
    const auto renumber = [&](std::vector<int>& values) {
        std::transform(values.begin(), values.end(), values.begin(), renumbered);
    };
    FusedParts parts;
    Shape shape = problem.outputs[0].shape;
    const bool has_columns = problem.attributes.has("columns");
    if (has_columns) {
        shape = problem.inputs[0].shape;
        shape.back() = problem.inputs[1].shape.back();
    }
    TensorDesc made = TensorDesc::dense(problem.body[0].dtype, std::move(shape));
    parts.product.definition = problem.body[0].op;
    parts.product.inputs = {problem.inputs[0], problem.inputs[1]};
    parts.product.outputs = {made};
    parts.epilogue.definition = "elementwise";
    (has_columns ? parts.epilogue : parts.product).attributes = problem.attributes;
    parts.epilogue.body.assign(problem.body.begin() + 1, problem.body.end());
    for (Step& step : parts.epilogue.body) renumber(step.operands);
    parts.epilogue.results = problem.results;
    renumber(parts.epilogue.results);
    parts.epilogue.inputs.push_back(std::move(made));
    parts.epilogue.inputs.insert(parts.epilogue.inputs.end(), problem.inputs.begin() + 2, problem.inputs.end());
    parts.epilogue.outputs = problem.outputs;
    return parts;
}

}  // namespace cairn::inline v0
