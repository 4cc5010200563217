#include "graph/ir/inference_context.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::ir {
namespace {

// Removes sizes that are on both sides, so that no quotient divides by a size that may be zero.
void cancel(std::vector<Dim>& above, std::vector<Dim>& below) {
    std::erase_if(below, [&](const Dim& size) {
        const auto it = std::find(above.begin(), above.end(), size);
        if (it == above.end()) return false;
        above.erase(it);
        return true;
    });
}

// The size that replaces -1; empty unless an exact quotient is proved.
std::optional<Dim> missing_size(const Shape& from, const Shape& rest) {
    std::vector<Dim> above = from, below = rest;
    cancel(above, below);
    const Dim total = element_count(above), divisor = element_count(below);
    if (divisor == Dim(1)) return total;
    if (!provably_le(1, divisor)) return std::nullopt;
    const Dim quotient = floordiv(total, divisor);
    return quotient * divisor == total ? std::optional(quotient) : std::nullopt;
}

// Sizes of an operand are never negative, even if their Dims do not show it.
bool is_size_of(const Shape& shape, const Dim& size) {
    return std::find(shape.begin(), shape.end(), size) != shape.end();
}

// The quotient of the elements of `from` by the other sizes is not negative either.
bool is_quotient(const Shape& from, const Shape& shape, const Dim& size) {
    Shape rest = shape;
    rest.erase(rest.begin() + (&size - shape.data()));
    return std::find(rest.begin(), rest.end(), Dim(-1)) == rest.end() && missing_size(from, rest) == size;
}

Inferred infer_reshape(const InferenceContext& context) {
    std::vector<Dim>& shape = context.dims("shape");
    const Shape& from = context.shape(0);
    const std::string wanted = to_string(shape);
    Dim* missing = nullptr;
    Shape rest;
    for (Dim& size : shape) {
        if (size == Dim(-1)) {
            if (missing != nullptr) context.fail(fmt::format("more than one -1 in {}", wanted));
            missing = &size;
        } else {
            if (!provably_le(0, size) && !is_size_of(from, size) && !is_quotient(from, shape, size))
                context.fail(fmt::format("size {} may be negative", to_string(size)));
            rest.push_back(size);
        }
    }
    if (missing != nullptr) {
        const auto size = missing_size(from, rest);
        if (!size) context.fail(fmt::format("no size for -1 in {} is sure to fit: {}", wanted, context.text()));
        *missing = *size;
    } else if (!(element_count(shape) == element_count(from))) {
        context.fail(fmt::format("{} has {} elements, {} has {}", context.text(), to_string(element_count(from)),
                                 wanted, to_string(element_count(shape))));
    }
    return {context.node(0).dtype, shape};
}

Inferred infer_transpose(const InferenceContext& context) {
    std::vector<Dim>& permutation = context.dims("permutation");
    const std::string wanted = to_string(permutation);
    const std::int64_t rank = context.rank(0);
    std::vector<bool> seen(static_cast<std::size_t>(rank), false);
    Shape shape;
    for (Dim& entry : permutation) {
        const std::int64_t axis = entry.is_constant() ? entry.constant() : rank;
        const auto index = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
        if (index >= seen.size() || seen[index]) break;
        seen[index] = true;
        shape.push_back(context.shape(0)[index]);
        entry = static_cast<std::int64_t>(index) - rank;
    }
    if (static_cast<std::int64_t>(shape.size()) != rank || permutation.size() != shape.size())
        context.fail(fmt::format("{} is no permutation of the axes of {}", wanted, context.text()));
    return {context.node(0).dtype, std::move(shape)};
}

Inferred infer_broadcast(const InferenceContext& context) {
    const Shape& shape = context.dims("shape");
    for (const Dim& size : shape)
        if (!provably_le(0, size) && !is_size_of(context.shape(0), size))
            context.fail(fmt::format("size {} may be negative", to_string(size)));
    const auto broadcast_shape = broadcast_shapes(context.shape(0), shape);
    if (!broadcast_shape || *broadcast_shape != shape)
        context.fail(fmt::format("{} does not broadcast to {}", context.text(), to_string(shape)));
    return {context.node(0).dtype, shape};
}

Inferred infer_slice(const InferenceContext& context) {
    const std::size_t axis = context.axis_of_first();
    const Dim &start = context.dim("start"), &stop = context.dim("stop"), &size = context.shape(0)[axis];
    const std::int64_t step = context.integer("step");
    if (step < 1) context.fail(fmt::format("step must be at least 1, got {}: {}", step, context.text()));
    const bool all = start == Dim(0) && stop == size;
    if (!all && (!provably_le(0, start) || !provably_le(start, stop) || !provably_le(stop, size)))
        context.fail(fmt::format("0 <= {} <= {} <= {} is not sure to hold on axis {}: {}", to_string(start),
                                 to_string(stop), to_string(size), axis, context.text()));
    Shape shape = context.shape(0);
    shape[axis] = ceildiv(stop - start, step);
    return {context.node(0).dtype, std::move(shape)};
}

Inferred infer_window(const InferenceContext& context) {
    const std::size_t axis = context.axis_of_first();
    const std::int64_t size = context.integer("size"), stride = context.integer("stride"),
                       dilation = context.integer("dilation");
    if (size < 1 || stride < 1 || dilation < 1)
        context.fail(fmt::format("size {}, stride {} and dilation {} must be at least 1", size, stride, dilation));
    const Dim span = (Dim(size) - 1) * dilation + 1;
    Shape shape = context.shape(0);
    if (!provably_le(span, shape[axis]))
        context.fail(fmt::format("a window spans {} elements, axis {} may be shorter: {}", to_string(span), axis,
                                 context.text()));
    shape[axis] = floordiv(shape[axis] - span, stride) + 1;
    shape.push_back(size);
    return {context.node(0).dtype, std::move(shape)};
}

}  // namespace

Inferred infer_movement(const InferenceContext& context) {
    static constexpr auto rules = std::to_array<OpMapEntry<InferenceFunction>>({{Op::reshape, infer_reshape},
                                                                                {Op::transpose, infer_transpose},
                                                                                {Op::broadcast, infer_broadcast},
                                                                                {Op::slice, infer_slice},
                                                                                {Op::window, infer_window}});
    return op_entry(rules, context.op(), "infer")(context);
}

}  // namespace cairn::ir
