#include <cmath>

#include "cairn/problem.hpp"
#include "graph/types/text_cursor.hpp"

namespace cairn::inline v0 {

namespace {

std::string text_of(const Attribute& attribute) {
    if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value)) {
        return attribute.name + "=" + types::dims_text(*list, "(", ")");
    }
    const double number = std::get<double>(attribute.value);
    return attribute.name + "=" + (std::isnan(number) ? "?" : types::number_text(number));
}

std::string text_of(const std::vector<int>& numbers) {
    std::string text = "(";
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (i > 0) text += ",";
        text += std::to_string(numbers[i]);
    }
    return text + ")";
}

std::string body_text(const Problem& problem) {
    std::string text = " {";
    for (std::size_t i = 0; i < problem.body.size(); ++i) {
        const Step& step = problem.body[i];
        if (i > 0) text += " ";
        text += std::to_string(problem.inputs.size() + i) + "=" + step.op;
        text += step.op == "const" ? "(" + types::number_text(step.number) + ")" : text_of(step.operands);
        text.append(":").append(to_string(step.dtype));
    }
    return text + "}";
}

void collect(const std::vector<TensorDesc>& tensors, std::vector<Symbols::Symbol>& symbols) {
    for (const auto& tensor : tensors) {
        for (const auto& size : tensor.shape) types::collect_symbols(size, symbols);
        for (const auto& stride : tensor.strides) types::collect_symbols(stride, symbols);
    }
}

std::string where_text(const Problem& problem) {
    std::vector<Symbols::Symbol> symbols;
    for (const auto& attribute : problem.attributes) {
        const auto* list = std::get_if<std::vector<Dim>>(&attribute.value);
        if (list == nullptr) continue;
        for (const auto& dim : *list) types::collect_symbols(dim, symbols);
    }
    collect(problem.inputs, symbols);
    collect(problem.outputs, symbols);
    std::string text;
    for (const auto& symbol : symbols) {
        text += (text.empty() ? " where " : ", ") + symbol.name + " in " + std::to_string(symbol.low) + ".." +
                std::to_string(symbol.high);
    }
    return text;
}

}  // namespace

std::string to_string(const TensorDesc& tensor) {
    std::string text = to_string(tensor.dtype, tensor.shape);
    if (tensor.strides != dense_strides(tensor.shape)) text += ":" + types::dims_text(tensor.strides, "(", ")");
    if (!tensor.layout.empty()) text += "@" + tensor.layout;
    if (tensor.bound) text += "!";
    return text;
}

std::string to_string(const Problem& problem) {
    std::string text = problem.definition;
    for (const auto& attribute : problem.attributes) text += " " + text_of(attribute);
    if (!problem.body.empty() || problem.definition == "elementwise") text += body_text(problem);
    text += " |";
    for (const auto& input : problem.inputs) text += " " + to_string(input);
    if (!problem.outputs.empty()) {
        text += " ->";
        for (const auto& output : problem.outputs) text += " " + to_string(output);
    }
    if (!problem.results.empty()) text += " results " + text_of(problem.results);
    return text + where_text(problem);
}

}  // namespace cairn::inline v0
