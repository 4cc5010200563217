#include "io/onnx_operators/attention.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::onnx {
namespace {

/// x modulo `size`, from 0 on.
Tensor wrapped_position(const Tensor& x, const Dim& size) {
    const Tensor positive = (x - x / size * size) + size;  // integers are divided toward zero
    return positive - positive / size * size;
}

}  // namespace

void make_tensor_scatter(Node& node) {
    const Tensor past = node.tensor(0), update = node.tensor(1);
    const int axis = node.axis(node.integer("axis", -2), past.rank());
    if (axis == 0) node.refuse("its axis is that of the batch");
    const std::string mode = node.text("mode", "linear");
    if (mode != "linear" && mode != "circular") node.refuse(fmt::format("its mode is '{}'", mode));
    for (int i = 0; i < past.rank(); ++i)
        if (update.rank() != past.rank() || (i != axis && !(update.dim(i) == past.dim(i))))
            node.refuse(fmt::format("an update of {} does not fit a cache of {}", cairn::to_string(update.shape()),
                                    cairn::to_string(past.shape())));
    const Dim all = past.dim(axis), written = update.dim(axis);
    if (!provably_le(written, all))
        node.refuse(fmt::format("the update has {} positions, which may be more than the {} of the cache",
                                cairn::to_string(written), cairn::to_string(all)));
    if (written == Dim(0)) return node.set(0, past);
    if (!node.has(2)) return node.set(0, concat({update, slice(past, axis, written, all)}, axis));

    Tensor first = node.tensor(2);
    if (first.rank() != 1) node.refuse(fmt::format("write_indices has rank {}", first.rank()));
    if (mode == "circular") first = wrapped_position(first, all);
    if (past.dim(0) == Dim(1)) {
        Tensor positions = first + iota(node.graph(), written, first.dtype());
        if (mode == "circular") positions = where(positions < all, positions, positions - all);
        return node.set(0, scatter(past, positions, update, axis));
    }
    // Each position of the cache reads the update, or keeps what it has.
    Shape batch(past.shape().size(), 1), along(past.shape().size(), 1);
    batch[0] = past.dim(0);
    along[static_cast<std::size_t>(axis)] = all;
    Tensor distance = reshape(iota(node.graph(), all, first.dtype()), along) - reshape(first, batch);
    if (mode == "circular") distance = where(distance < 0, distance + all, distance);
    const Tensor is_written = distance >= 0 && distance < written;
    Shape shape = past.shape();
    const Tensor source = broadcast(where(is_written, distance, 0), shape);
    node.set(0, where(is_written, take_along_axis(update, source, axis), past));
}

}  // namespace cairn::inline v0::onnx
