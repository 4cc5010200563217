#include "kernels/cuda/generate/body_text.hpp"

#include "kernels/cuda/generate/kernel_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace cairn::kernels::cuda {
namespace {

enum class Takes { floats, numbers, booleans, integers, any };

/// How a step is printed: a function element_<name>, or an operator between two operands.
struct StepRule {
    std::string_view name;
    int operands;
    Takes takes;
    std::string_view symbol;  ///< of an operator; empty: a function
    bool is_truth;            ///< the result is boolean
    bool is_definition;       ///< of f32, rounded to the dtype
};

constexpr std::array rules{
    StepRule{"neg", 1, Takes::numbers, "", false, false},
    StepRule{"abs", 1, Takes::numbers, "", false, false},
    StepRule{"exp", 1, Takes::floats, "", false, false},
    StepRule{"log", 1, Takes::floats, "", false, false},
    StepRule{"sqrt", 1, Takes::floats, "", false, false},
    StepRule{"rsqrt", 1, Takes::floats, "", false, false},
    StepRule{"sin", 1, Takes::floats, "", false, false},
    StepRule{"cos", 1, Takes::floats, "", false, false},
    StepRule{"tanh", 1, Takes::floats, "", false, false},
    StepRule{"erf", 1, Takes::floats, "", false, false},
    StepRule{"floor", 1, Takes::floats, "", false, false},
    StepRule{"add", 2, Takes::numbers, "", false, false},
    StepRule{"sub", 2, Takes::numbers, "", false, false},
    StepRule{"mul", 2, Takes::numbers, "", false, false},
    StepRule{"div", 2, Takes::numbers, "", false, false},
    StepRule{"min", 2, Takes::numbers, "", false, false},
    StepRule{"max", 2, Takes::numbers, "", false, false},
    StepRule{"pow", 2, Takes::floats, "", false, false},
    StepRule{"eq", 2, Takes::any, "==", true, false},
    StepRule{"ne", 2, Takes::any, "!=", true, false},
    StepRule{"lt", 2, Takes::numbers, "<", true, false},
    StepRule{"le", 2, Takes::numbers, "<=", true, false},
    StepRule{"gt", 2, Takes::numbers, ">", true, false},
    StepRule{"ge", 2, Takes::numbers, ">=", true, false},
    StepRule{"logical_and", 2, Takes::booleans, "&&", true, false},
    StepRule{"logical_or", 2, Takes::booleans, "||", true, false},
    StepRule{"logical_xor", 2, Takes::booleans, "!=", true, false},
    StepRule{"logical_not", 1, Takes::booleans, "!", true, false},
    StepRule{"bitwise_and", 2, Takes::integers, "&", false, false},
    StepRule{"relu", 1, Takes::floats, "", false, true},
    StepRule{"sigmoid", 1, Takes::floats, "", false, true},
    StepRule{"silu", 1, Takes::floats, "", false, true},
    StepRule{"gelu", 1, Takes::floats, "", false, true},
    StepRule{"gelu_tanh", 1, Takes::floats, "", false, true},
};

const StepRule* rule_of(std::string_view op) {
    const auto found = std::find_if(rules.begin(), rules.end(), [&](const StepRule& rule) { return rule.name == op; });
    return found == rules.end() ? nullptr : &*found;
}

bool takes(Takes what, DType dtype) {
    switch (what) {
        case Takes::floats: return is_float(dtype);
        case Takes::numbers: return dtype != DType::boolean;
        case Takes::booleans: return dtype == DType::boolean;
        case Takes::integers: return is_integer(dtype);
        default: return true;
    }
}

bool is_narrow(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

std::string rounded(DType dtype, const std::string& value) {
    return is_narrow(dtype) ? fmt::format("rounded_to_{}({})", to_string(dtype), value) : value;
}

std::string cast_text(DType from, DType to, const std::string& value) {
    if (from == to) return value;
    if (!is_narrow(to)) return fmt::format("element_cast<{}>({})", register_type(to), value);
    return rounded(to, fmt::format("to_odd_float({})", value));
}

// A number as the interpreter converts it: rounded for floats, truncated and saturated for integers.
std::string constant_text(double number, DType dtype) {
    if (dtype == DType::f32) return float_text(static_cast<float>(number));
    const std::string exact =
        fmt::format("__longlong_as_double(i64({:#018x}ull))", std::bit_cast<std::uint64_t>(number));
    return cast_text(DType::f64, dtype, exact);
}

std::string step_text(const Body& body, const Step& step) {
    const auto operand = [&](std::size_t i) { return fmt::format("v{}", step.operands[i]); };
    if (step.op == "const") return constant_text(step.number, step.dtype);
    if (step.op == "cast") return cast_text(body.dtype(step.operands[0]), step.dtype, operand(0));
    if (step.op == "where") return fmt::format("{} ? {} : {}", operand(0), operand(1), operand(2));
    const StepRule& rule = *rule_of(step.op);
    if (!rule.symbol.empty()) {
        if (rule.operands == 1) return fmt::format("{}{}", rule.symbol, operand(0));
        const std::string text = fmt::format("{} {} {}", operand(0), rule.symbol, operand(1));
        return rule.is_truth ? text : fmt::format("{}({})", register_type(step.dtype), text);
    }
    std::string text = fmt::format("element_{}({}", step.op, operand(0));
    for (std::size_t i = 1; i < step.operands.size(); ++i) text += ", " + operand(i);
    text += ")";
    return rule.is_definition ? rounded(step.dtype, text) : text;
}

Refusal step_refusal(const Body& body, const Step& step, int place) {
    for (const int operand : step.operands)
        if (operand < 0 || operand >= place)
            return "the step " + step.op + " reads a value that does not come before it";
    const std::size_t count = step.operands.size();
    if (step.op == "const") return count == 0 ? Refusal() : "a const has no operands";
    if (step.op == "cast") return count == 1 ? Refusal() : "a cast has one operand";
    if (step.op == "where") return count == 3 ? Refusal() : "where has three operands";
    const StepRule* rule = rule_of(step.op);
    if (rule == nullptr) return "unknown elementwise op " + step.op;
    if (count != static_cast<std::size_t>(rule->operands))
        return "the step " + step.op + " has the wrong number of operands";
    const DType dtype = body.dtype(step.operands[0]);
    if (!takes(rule->takes, dtype)) return step.op + " is not defined for " + std::string(to_string(dtype));
    if (dtype == DType::f64 && (rule->is_definition || step.op == "sin" || step.op == "cos"))
        return "has no " + step.op + " of f64";
    return {};
}

}  // namespace

DType Body::dtype(int value) const {
    const auto at = static_cast<std::size_t>(value);
    return at < inputs.size() ? inputs[at] : steps.at(at - inputs.size()).dtype;
}

Body body_of(const Problem& problem) {
    Body body;
    for (const TensorDesc& input : problem.inputs) body.inputs.push_back(input.dtype);
    if (problem.definition == "elementwise") {
        body.steps = problem.body;
        body.results = problem.results;
        return body;
    }
    const auto count = static_cast<int>(problem.inputs.size());
    Step step{problem.definition, {}, problem.outputs.empty() ? DType::f32 : problem.outputs[0].dtype, 0};
    for (int i = 0; i < count; ++i) step.operands.push_back(i);
    body.steps = {std::move(step)};
    body.results = {count};
    return body;
}

Refusal body_refusal(const Body& body, std::span<const TensorDesc> outputs) {
    auto place = static_cast<int>(body.inputs.size());
    for (const Step& step : body.steps)
        if (Refusal no = step_refusal(body, step, place++); !no.empty()) return no;
    if (body.results.size() != outputs.size()) return "needs a result for each output";
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (body.results[i] < 0 || body.results[i] >= place) return "has a result that is no value";
        if (body.dtype(body.results[i]) != outputs[i].dtype) return "needs outputs of the dtypes of the results";
    }
    return {};
}

Refusal elementwise_refusal(const Problem& problem) {
    for (const auto* side : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *side)
            if (tensor.shape != problem.outputs[0].shape)
                return "needs inputs of the shape of the outputs (stride 0 repeats)";
    return body_refusal(body_of(problem), problem.outputs);
}

std::string body_text(const Body& body, const std::string& indent) {
    std::string text;
    auto place = body.inputs.size();
    for (const Step& step : body.steps)
        text +=
            fmt::format("{}const {} v{} = {};\n", indent, register_type(step.dtype), place++, step_text(body, step));
    return text;
}

bool is_step(std::string_view op) { return op == "cast" || op == "where" || rule_of(op) != nullptr; }

std::string_view register_type(DType dtype) {
    switch (dtype) {
        case DType::f64: return "double";
        case DType::i64: return "i64";
        case DType::i32: return "i32";
        case DType::i8: return "i8";
        case DType::u8: return "u8";
        case DType::boolean: return "bool";
        default: return "float";
    }
}

std::string_view memory_type(DType dtype) {
    if (is_narrow(dtype)) return "u16";
    return dtype == DType::boolean ? "u8" : register_type(dtype);
}

std::string_view stored_type(DType dtype) {
    return dtype == DType::f32 ? "StoredF32" : dtype == DType::f16 ? "StoredF16" : "StoredBf16";
}

std::string loaded(DType dtype, const std::string& element) {
    if (is_narrow(dtype)) return fmt::format("{}_to_f32({})", to_string(dtype), element);
    return dtype == DType::boolean ? element + " != 0" : element;
}

std::string stored(DType dtype, const std::string& value) {
    if (is_narrow(dtype)) return fmt::format("f32_to_{}({})", to_string(dtype), value);
    return dtype == DType::boolean ? fmt::format("u8({} ? 1 : 0)", value) : value;
}

double operations_of(const Body& body) {
    double count = 1;
    for (const Step& step : body.steps) {
        const StepRule* rule = rule_of(step.op);
        const bool is_function = rule != nullptr && rule->takes == Takes::floats;
        count += is_function || step.op == "div" ? 20 : 1;
    }
    return count;
}

}  // namespace cairn::kernels::cuda
