#include "graph/composites/sliding_windows.hpp"
#include "graph/composites/typed_name.hpp"

namespace cairn::composites {

void need_tensor(const CompositeScope& scope, std::string_view name, const Operand& operand) {
    if (operand.is_scalar()) scope.fail(std::string(name) + " must be a Tensor, got a number");
    if (operand.tensor().empty()) scope.fail(std::string(name) + " is an empty or moved-from Tensor");
}

void need_channels(const CompositeScope& scope, const Operand& x, std::string_view name, const Operand& row) {
    need_tensor(scope, name, row);
    if (row.tensor().rank() != 1 || !(row.tensor().dim(0) == x.tensor().dim(1)))
        scope.fail(std::string(name) + " must have the channels of x as its only axis: " + typed_name("x", x) + ", " +
                   typed_name(name, row));
}

Numbers per_axis(const CompositeScope& scope, std::string_view name, const IntList& list, std::size_t axes, int least) {
    const std::vector<int>& given = list.values();
    if (given.size() != 1 && given.size() != axes)
        scope.fail(std::string(name) + " takes one number or " + std::to_string(axes) + ", got " +
                   std::to_string(given.size()));
    Numbers numbers;
    for (std::size_t i = 0; i < axes; ++i) {
        const int number = given[given.size() == 1 ? 0 : i];
        if (number < least)
            scope.fail(std::string(name) + " must be at least " + std::to_string(least) + ", got " +
                       std::to_string(number));
        numbers.push_back(number);
    }
    return numbers;
}

Padding padding_of(const CompositeScope& scope, const IntList& list, std::size_t axes) {
    const std::vector<int>& given = list.values();
    if (given.empty()) return {Numbers(axes, 0), Numbers(axes, 0)};
    if (given.size() != 2 * axes) {
        const Numbers both = per_axis(scope, "padding", list, axes, 0);
        return {both, both};
    }
    const auto half = given.begin() + static_cast<std::ptrdiff_t>(axes);
    return {per_axis(scope, "padding", std::vector<int>(given.begin(), half), axes, 0),
            per_axis(scope, "padding", std::vector<int>(half, given.end()), axes, 0)};
}

Tensor windows(const CompositeScope& scope, const Tensor& x, const WindowParams& slide) {
    Tensor result = x;
    for (std::size_t i = 0; i < slide.size.size(); ++i) {
        const int axis = static_cast<int>(i) + 2;
        const std::int64_t extent = slide.dilation[i] * (slide.size[i] - 1) + 1;
        if (!provably_le(extent, x.dim(axis)))
            scope.fail("a kernel that covers " + std::to_string(extent) + " places of axis " + std::to_string(axis) +
                       " may not fit into x with its padding: " + typed_name("x", x));
        result = window(result, axis, slide.size[i], slide.stride[i], slide.dilation[i]);
    }
    return result;
}

}  // namespace cairn::composites
