#pragma once

#include "kernels/cpu/simd/elementwise/block_program.hpp"
#include "kernels/cpu/simd/pooling/window_plan.hpp"

#include <algorithm>
#include <cstdint>

/// The plan that conv_registration.cpp passes to conv.cpp.
namespace cairn::kernels::cpu {

/// What the filters read: an image; windows of any strides; or the columns of a plain product w @ x, each a window of
/// one position.
enum class ConvReads : std::uint8_t { image, windows, matrix };

/// Workspace of a team member for a cached image, in floats: planes of `channels` channels, offsets of taps, filters of
/// a tile, sums.
struct ImageFloats {
    std::int64_t channels = 0, planes = 0, offsets = 0, filters = 0, sums = 0;

    std::int64_t all() const { return planes + offsets + filters + sums; }
};

/// An epilogue of at most scale, bias and relu per filter: indices of the inputs after image and filters, -1 for none.
struct ScaleBiasRelu {
    bool is_all = false;
    int factor = -1, term = -1;
    bool has_relu = false;
};

struct ConvPlan {
    ConvReads reads;
    bool is_single_channel;  ///< few filters, each over one channel of an image
    bool is_pointwise;       ///< windows of one element, at each element of the image
    bool has_epilogue;       ///< the epilogue does more than store the sums
    ScaleBiasRelu tail;
    std::int64_t channels;  ///< per filter; 0 for a matrix
    int columns;            ///< number of trailing result axes that are spatial
    WindowPlan image;       ///< without an image only the dtype is set
    ImageFloats floats;
    BlockProgram body;  ///< the epilogue; its first input is the sums
};

/// Block sizes of a gathered panel: taps of one pass, output positions of a tile, filters of a tile at most, filters
/// whose sums are held beside the panel.
inline constexpr std::int64_t taps_per_pass = 1024, positions_per_tile = 32, max_tile_height = 12,
                              filters_per_block = 2048;

/// Workspace of a team member for gathered windows, in floats: a panel, a tile of filters, the sums of some filters of
/// a group.
template <typename Size>
Size block_floats(const Size& filters) {
    using std::min;
    return min(filters, Size(filters_per_block)) * Size(positions_per_tile) +
           Size(taps_per_pass * (positions_per_tile + max_tile_height));
}

/// Cache blocking of a convolution that reads a cached image: `taps` bounds the depth of one pass, so that the planes
/// stay in the second-level cache and the filters of a tile in the first; `positions` output positions and `tiles`
/// tiles of filters make a block. A remainder of at most half a vector of positions is computed one position at a time,
/// each from a row that holds the elements its taps read.
struct ImageBlocks {
    static constexpr std::int64_t taps = 512, positions = 256, max_columns = 272, tiles = 8, vector = 16;
    static constexpr std::int64_t plane_gap = vector, single_rows = vector / 2;
    /// Upper bound of the floats of cached planes for each team member, independent of the operands' sizes. Planes that
    /// exceed it are cached some channels at a time, once for each block of filters.
    static constexpr std::int64_t max_planes = std::int64_t{5} << 16;
    /// Output positions of a band: `positions`, halved until the planes for them fit into `max_planes`.
    static std::int64_t positions_of(const WindowPlan& image) {
        std::int64_t count = positions;
        while (count > vector && widest_plane(image, count) > max_planes) count /= 2;
        return count;
    }
    /// Upper bound of the floats of a plane for `count` output positions: that of one row, padded by a vector.
    static std::int64_t widest_plane(const WindowPlan& image, std::int64_t count) {
        return plane_rows(image, std::int64_t{1}) * band_pitch(image, count + vector);
    }
    /// Upper bound of the taps of a channel; output rows for which the storage of image rows is decided.
    static constexpr std::int64_t max_taps = 4096, usual_rows = 4;

    /// Channels per pass, equal for all parts.
    static std::int64_t channels(const WindowPlan& image, std::int64_t all) {
        const std::int64_t most = std::max<std::int64_t>(taps / image.taps(), 1);
        const std::int64_t parts = std::max<std::int64_t>((all + most - 1) / most, 1);
        return std::max<std::int64_t>((all + parts - 1) / parts, 1);
    }
    /// Channels cached at a time: all, or as many whole parts as fit into `floats` floats, at least one.
    static std::int64_t cached_channels(const WindowPlan& image, std::int64_t all, std::int64_t plane,
                                        std::int64_t floats) {
        if (planes(image, all, plane) <= floats) return all;
        const std::int64_t at_once = channels(image, all);
        return std::max<std::int64_t>(floats / planes(image, at_once, plane), 1) * at_once;
    }
    /// Floats of the planes; the rows of remainder positions follow them.
    static std::int64_t singles(std::int64_t channels, std::int64_t plane) {
        return whole_vectors(channels * (plane + plane_gap)) + 2 * band_slack;
    }
    /// Floats of planes and rows of remainder positions.
    static std::int64_t planes(const WindowPlan& image, std::int64_t channels, std::int64_t plane) {
        return singles(channels, plane) + single_rows * whole_vectors(channels * image.taps());
    }
};

/// The bands of output positions that members claim one by one: all columns of some rows, or some columns of one row.
///
///     56 x 56, 3 x 3: 4 rows, 224 places, of which no vector is partly empty
struct ImageBands {
    std::int64_t rows, columns;  ///< of output positions, maximal

    ImageBands(const WindowPlan& image, std::int64_t p, std::int64_t q) : rows(1), columns(q) {
        constexpr std::int64_t vector = ImageBlocks::vector;
        const std::int64_t positions = ImageBlocks::positions_of(image);
        if (q > positions + vector) {
            const std::int64_t count = (q + positions - 1) / positions;
            columns = whole_vectors((q + count - 1) / count);
            return;
        }
        const std::int64_t pitch = band_pitch(image, q);
        const auto lanes_of = [&](std::int64_t some) {
            const std::int64_t count = some == 0 ? 0 : (some - 1) * pitch + q, rest = count % vector;
            return count - rest + (2 * rest <= vector ? rest + rest / 2 : vector);
        };
        const auto all_lanes = [&](std::int64_t of_band) {
            return p / of_band * lanes_of(of_band) + lanes_of(p % of_band);
        };
        for (std::int64_t more = 2; more <= std::min(p, positions / std::max<std::int64_t>(pitch, 1)); ++more)
            if (all_lanes(more) <= all_lanes(rows)) rows = more;
    }
};

/// Workspace of a team member in bytes, a multiple of 8, for results of p rows of q positions.
template <typename Size>
Size member_bytes(const ConvPlan& plan, const Size& filters, const Size& p, const Size& q) {
    using std::min;
    Size rest = block_floats(filters) * Size(4);
    if (plan.reads == ConvReads::image) rest = Size(plan.floats.all() * 4);
    if (plan.is_single_channel) {
        // A tile has fewer positions than its band has floats.
        const Size positions = min(min(p, Size(band_rows)) * q, Size(max_band_floats));
        rest = band_bytes(plan.image, p, q) + (whole_vectors(positions) + Size(block_size)) * Size(4);
    }
    return rest + Size(plan.body.bytes_per_member());
}

}  // namespace cairn::kernels::cpu
