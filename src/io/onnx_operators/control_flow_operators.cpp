#include "io/onnx_operators/control_flow.hpp"
#include "io/onnx_operators/operators.hpp"

#include <algorithm>
#include <array>

namespace cairn::inline v0::onnx {
namespace {

constexpr std::array<Operator, 4> control_flow_rows{
    {{"If", 1, make_if}, {"Loop", 1, make_loop}, {"Scan", 8, make_batched_scan}, {"Scan", 9, make_scan}}};

}  // namespace

std::optional<bool> known_condition(const ValuePtr& value) {
    if (value == nullptr || value->kind() != Value::Kind::tensor) return std::nullopt;
    const Known* const known = value->known();
    if (known == nullptr || known->integers.size() != 1 || !known->is_constant()) return std::nullopt;
    return known->integers[0].constant() != 0;
}

bool any_refused(const std::vector<ValuePtr>& values) noexcept {
    return std::ranges::any_of(
        values, [](const ValuePtr& value) { return value != nullptr && value->kind() == Value::Kind::refused; });
}

void set_refused(Node& node) {
    for (std::size_t i = 0; i < node.output_count(); ++i) node.set(i, Value::refused());
}

std::optional<ValuePtr> no_elements(const ValueProto& output, std::int64_t axis) {
    if (output.kind != ValueProto::Kind::tensor || !output.has_shape || !dtype_of(output.type)) return std::nullopt;
    Known none{output.type, {}, {}, {}};
    for (const DimensionProto& dim : output.dims) {
        if (!dim.value || *dim.value < 0) return std::nullopt;
        none.dims.push_back(*dim.value);
    }
    const auto rank = static_cast<std::int64_t>(none.dims.size()) + 1;
    if (axis < -rank || axis >= rank) return std::nullopt;
    none.dims.insert(none.dims.begin() + (axis < 0 ? axis + rank : axis), 0);
    return Value::of(std::move(none));
}

std::span<const Operator> control_flow_operators() { return control_flow_rows; }

}  // namespace cairn::inline v0::onnx
