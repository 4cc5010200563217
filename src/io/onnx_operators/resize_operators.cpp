#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/resizing.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace cairn::inline v0::onnx {
namespace {

/// Blocks of an image [N, C, H, W], whose elements move to channels or back.
struct SpaceBlocks {
    std::int64_t size;
    bool depth_first;  ///< the place in the block is the outer part of the deep channel's number
};

SpaceBlocks space_blocks(const Node& node) {
    if (node.rank(0) != 4) node.refuse(fmt::format("its input has {} axes instead of four", node.rank(0)));
    const std::int64_t size = node.integer("blocksize");
    if (size < 1) node.refuse(fmt::format("its attribute blocksize is {}", size));
    const std::string mode = node.text("mode", "DCR");
    if (mode != "DCR" && mode != "CRD") node.refuse(fmt::format("its mode is '{}'", mode));
    return {size, mode == "DCR"};
}

/// The size divided by the blocks'.
Dim space_blocks_of(const Node& node, const Dim& size, std::int64_t block) {
    const Dim count = floordiv(size, block);
    if (!(count * block == size))
        node.refuse(fmt::format("the size {} is not sure to be a multiple of {}", to_string(size), block));
    return count;
}

void make_depth_to_space(Node& node) {
    const auto [size, depth_first] = space_blocks(node);
    const Tensor x = node.tensor(0);
    const Dim channels = space_blocks_of(node, x.dim(1), size * size), rows = x.dim(2), columns = x.dim(3);
    const Tensor apart = depth_first ? reshape(x, {x.dim(0), size, size, channels, rows, columns})
                                     : reshape(x, {x.dim(0), channels, size, size, rows, columns});
    const std::vector<int> order =
        depth_first ? std::vector<int>{0, 3, 4, 1, 5, 2} : std::vector<int>{0, 1, 4, 2, 5, 3};
    node.set(0, reshape(transpose(apart, order), {x.dim(0), channels, rows * size, columns * size}));
}

void make_space_to_depth(Node& node) {
    const auto [size, depth_first] = space_blocks(node);
    const Tensor x = node.tensor(0);
    const Dim rows = space_blocks_of(node, x.dim(2), size), columns = space_blocks_of(node, x.dim(3), size);
    const Tensor apart = reshape(x, {x.dim(0), x.dim(1), rows, size, columns, size});
    const std::vector<int> order =
        depth_first ? std::vector<int>{0, 3, 5, 1, 2, 4} : std::vector<int>{0, 1, 3, 5, 2, 4};
    node.set(0, reshape(transpose(apart, order), {x.dim(0), x.dim(1) * (size * size), rows, columns}));
}

constexpr std::array<Operator, 4> resize_rows{{{"Resize", 10, make_resize},
                                               {"Upsample", 7, make_upsample},
                                               {"DepthToSpace", 1, make_depth_to_space},
                                               {"SpaceToDepth", 1, make_space_to_depth}}};

}  // namespace

std::span<const Operator> resize_operators() { return resize_rows; }

}  // namespace cairn::inline v0::onnx
