#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/slice.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

/// Pad: more elements at the ends of axes.
namespace cairn::inline v0::onnx {
namespace {

/// What is added before and after each axis; a negative number removes elements.
std::vector<std::pair<Dim, Dim>> pads_of(const Node& node) {
    const auto rank = static_cast<std::size_t>(node.rank(0));
    const auto pads = node.sizes_of(node.has_attribute("paddings") ? "paddings" : "pads", 1);
    if (!pads.has_value()) node.refuse("its pads are missing");
    std::vector<int> axes;
    if (node.has(3))
        axes = node.axes(node.integers(3, "axes"), node.rank(0));
    else
        for (int axis = 0; axis < node.rank(0); ++axis) axes.push_back(axis);
    if (pads->size() != 2 * axes.size())
        node.refuse(fmt::format("it has {} pads for {} axes", pads->size(), axes.size()));
    std::vector<std::pair<Dim, Dim>> result(rank, {0, 0});
    for (std::size_t i = 0; i < axes.size(); ++i)
        result[static_cast<std::size_t>(axes[i])] = {(*pads)[i], (*pads)[i + axes.size()]};
    return result;
}

/// Index of the element that each position of a padded axis repeats.
Tensor repeated_index(Node& node, const std::string& mode, const Dim& size, const Dim& before, const Dim& after) {
    const Tensor position = iota(node.graph(), before + size + after, DType::i64) - before;
    if (mode == "edge") return clamp(position, 0, size - 1);
    const Dim period = mode == "wrap" ? size : 2 * (size - 1);
    if (mode == "reflect" && size == Dim(1)) return position * 0;
    const Tensor rest = position - position / period * period;  // truncated: the sign of the position
    const Tensor wrapped = where(rest < 0, rest + period, rest);
    return mode == "wrap" ? wrapped : (size - 1) - abs(wrapped - (size - 1));
}

void make_pad(Node& node) {
    const std::string mode = node.text("mode", "constant");
    if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
        node.refuse(fmt::format("its mode '{}' is not supported", mode));
    double value = node.real("value", 0);
    if (node.has(2) && mode == "constant") value = node.number(2, "constant_value");
    Tensor x = node.tensor(0);
    const auto pads = pads_of(node);
    // Elements are removed first.
    for (int axis = 0; axis < x.rank(); ++axis) {
        const auto& [before, after] = pads[static_cast<std::size_t>(axis)];
        const Dim start = provably_le(before, 0) ? -before : Dim(0), cut = provably_le(after, 0) ? -after : Dim(0);
        const Dim size = x.dim(axis);
        if (!(start == Dim(0)) || !(cut == Dim(0))) x = slice(x, axis, start, size - cut);
    }
    for (int axis = 0; axis < x.rank(); ++axis) {
        const auto& [given_before, given_after] = pads[static_cast<std::size_t>(axis)];
        const Dim before = provably_le(given_before, 0) ? Dim(0) : given_before;
        const Dim after = provably_le(given_after, 0) ? Dim(0) : given_after;
        if (before == Dim(0) && after == Dim(0)) continue;
        const Dim size = x.dim(axis);
        if (mode == "constant")
            x = pad(x, axis, before, after, value);
        else
            x = gather(x, repeated_index(node, mode, size, before, after), axis);
    }
    node.set(0, x);
}

constexpr std::array<Operator, 1> pad_rows{{{"Pad", 2, make_pad}}};

}  // namespace

std::span<const Operator> pad_operators() { return pad_rows; }

}  // namespace cairn::inline v0::onnx
