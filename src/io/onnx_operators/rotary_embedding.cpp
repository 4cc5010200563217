#include "io/onnx_operators/attention.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::onnx {
namespace {

/// Cosines or sines as [B,S,D/2].
Tensor rotations(const Node& node, std::size_t input) {
    Tensor table = node.tensor(input);
    if (!node.has(3)) return table;
    if (table.rank() != 2) node.refuse(fmt::format("with position_ids, input {} has rank {}", input, table.rank()));
    return gather(table, node.tensor(3), 0);
}

}  // namespace

Tensor rotated_pairs(const Tensor& x, const Tensor& cosines, const Tensor& sines, bool is_interleaved) {
    const Dim half = cosines.dim(-1);
    Shape pairs = x.shape();
    pairs.back() = is_interleaved ? half : Dim(2);
    pairs.push_back(is_interleaved ? Dim(2) : half);
    const int axis = is_interleaved ? -1 : -2;
    const Tensor paired = reshape(x, pairs);
    const Tensor a = squeeze(slice(paired, axis, 0, 1), axis), b = squeeze(slice(paired, axis, 1, 2), axis);
    return reshape(stack({a * cosines - b * sines, a * sines + b * cosines}, axis), x.shape());
}

void make_rotary_embedding(Node& node) {
    const DType given = node.dtype(0), dtype = attention_dtype({given});
    const Shape shape = node.shape(0);
    const bool is_packed = shape.size() == 3;
    if (!is_packed && shape.size() != 4) node.refuse(fmt::format("its input has rank {}", shape.size()));
    Tensor x = cast(node.tensor(0), dtype);
    if (is_packed) x = split_heads(node, x, node.integer("num_heads"));

    Tensor cosines = cast(rotations(node, 1), dtype), sines = cast(rotations(node, 2), dtype);
    if (cosines.rank() != 3 || sines.rank() != 3) node.refuse("its caches have not the rank that position_ids ask for");
    const std::int64_t given_size = node.integer("rotary_embedding_dim", 0);
    const Dim size = x.dim(3), half = cosines.dim(2), rotates = given_size != 0 ? Dim(given_size) : size;
    if (!(half * 2 == rotates) || !(sines.dim(2) == half))
        node.refuse(fmt::format("its caches have {} and {} columns for {} elements to rotate", cairn::to_string(half),
                                cairn::to_string(sines.dim(2)), cairn::to_string(rotates)));
    const int heads = is_packed ? 2 : 1;
    cosines = unsqueeze(cosines, heads);
    sines = unsqueeze(sines, heads);

    const bool is_interleaved = node.integer("interleaved", 0) != 0, is_whole = rotates == size;
    if (!is_whole && !provably_le(rotates, size))
        node.refuse(fmt::format("it rotates {} of {} elements", cairn::to_string(rotates), cairn::to_string(size)));
    Tensor y = rotated_pairs(is_whole ? x : slice(x, 3, 0, rotates), cosines, sines, is_interleaved);
    if (!is_whole) y = concat({y, slice(x, 3, rotates, size)}, 3);
    node.set(0, cast(reshape(y, shape), given));
}

}  // namespace cairn::inline v0::onnx
