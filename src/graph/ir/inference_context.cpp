#include "graph/ir/inference_context.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

namespace cairn::ir {
namespace {

std::string operand_name(Op op, std::size_t index) {
    std::string_view names = info(op).operands;
    if (names == "#") return fmt::format("#{}", index);
    for (; index > 0 && names.find(' ') != names.npos; --index) names.remove_prefix(names.find(' ') + 1);
    return std::string(names.substr(0, names.find(' ')));
}

}  // namespace

std::string InferenceContext::text() const {
    std::string text;
    for (std::size_t i = 0; i < size(); ++i)
        text += fmt::format("{}{} {}", i == 0 ? "" : ", ", operand_name(op_, i), to_string(node(i).dtype, shape(i)));
    return text;
}

std::vector<Dim>& InferenceContext::dims(std::string_view name) const {
    for (Attribute& attribute : attributes_)
        if (attribute.name == name)
            if (auto* list = std::get_if<std::vector<Dim>>(&attribute.value)) return *list;
    fail(fmt::format("attribute {} is missing or no list", name));
}

double InferenceContext::number(std::string_view name) const {
    for (const Attribute& attribute : attributes_)
        if (attribute.name == name)
            if (const auto* number = std::get_if<double>(&attribute.value)) return *number;
    fail(fmt::format("attribute {} is missing or no number", name));
}

Dim& InferenceContext::dim(std::string_view name) const {
    std::vector<Dim>& list = dims(name);
    if (list.size() != 1) fail(fmt::format("attribute {} has {} entries, one is needed", name, list.size()));
    return list[0];
}

std::int64_t InferenceContext::integer(std::string_view name) const {
    const Dim& value = dim(name);
    if (!value.is_constant()) fail(fmt::format("attribute {} must be a constant, got {}", name, to_string(value)));
    return value.constant();
}

std::int64_t InferenceContext::axis(std::int64_t axis, std::int64_t rank) const {
    if (axis < -rank || axis >= rank) fail(fmt::format("axis {} is out of range for {}", axis, text()));
    return axis < 0 ? axis : axis - rank;
}

std::size_t InferenceContext::axis_of_first() const {
    const std::int64_t negative = axis(integer("axis"), rank(0));
    dim("axis") = negative;
    return static_cast<std::size_t>(rank(0) + negative);
}

DType InferenceContext::dtype() const {
    const std::int64_t number = integer("dtype");
    if (number < 0 || number > static_cast<std::int64_t>(DType::boolean))
        fail(fmt::format("there is no dtype number {}", number));
    return static_cast<DType>(number);
}

void InferenceContext::need_i32_indices(std::size_t axis) const {
    if (!provably_le(shape(0)[axis], std::numeric_limits<std::int32_t>::max()))
        fail(fmt::format("axis {} may be too long for indices of 32 bits: {}", axis, text()));
}

void InferenceContext::same_dtypes(std::size_t first, std::size_t last) const {
    for (std::size_t i = first + 1; i < last; ++i)
        if (node(i).dtype != node(first).dtype) fail("dtypes differ, cast one of them: " + text());
}

void InferenceContext::accepted_dtype(const Node& node) const {
    switch (info(op_).accepts) {
        case DTypeSet::any: return;
        case DTypeSet::floats:
            if (!is_float(node.dtype)) fail("needs a float dtype: " + text());
            return;
        case DTypeSet::numbers:
            if (node.dtype == DType::boolean) fail("needs numbers, not booleans: " + text());
            return;
        case DTypeSet::booleans:
            if (node.dtype != DType::boolean) fail("needs booleans: " + text());
            return;
        case DTypeSet::integers:
            if (!is_integer(node.dtype)) fail("needs an integer dtype: " + text());
            return;
    }
}

}  // namespace cairn::ir
