#pragma once

#include "kernels/cpu/simd/body.hpp"
#include "kernels/cpu/simd/image_plan.hpp"

#include <algorithm>
#include <cstdint>

/// What conv_rows.cpp tells conv.cpp.
namespace cairn::inline v0::kernels::cpu {

/// What the filters see: an image, by windows that are gathered or in bands; windows of any strides; single places of
/// an image; or the columns of a plain product w @ x, each a window of one place.
enum class ConvReads : std::uint8_t { image, bands, windows, places, matrix };

struct ConvPlan {
    ConvReads reads;
    bool is_of_rows;        ///< few filters that see one channel of an image
    bool has_epilogue;      ///< more is done to the sums than that they are stored
    std::int64_t channels;  ///< of a filter; of a matrix 0
    int columns;            ///< how many of the last axes of results are places
    ImagePlan image;        ///< of what is no image the dtype alone
    Body body;              ///< its first input are the sums
};

/// Taps that are summed over at once, places of a tile, filters of a tile at most.
inline constexpr std::int64_t taps_at_once = 1024, places_at_once = 32, most_tile_height = 12;

/// What a member of the team holds where windows are gathered: a panel, a tile of filters, sums of all filters of a
/// group.
template <typename Size>
Size block_floats(const Size& filters) {
    return filters * Size(places_at_once) + Size(taps_at_once * (places_at_once + most_tile_height));
}

/// How filters go over an image: over a band of some rows and columns of places after another, so many channels of it
/// at once.
///
///     56 x 56, 3 x 3: rows of 56 places lie 58 apart, 3 rows at once, 113
///     channels of 5 rows in the cache
struct ImageBands {
    std::int64_t rows,
        columns;            ///< of places at most; all columns, or those of one row
    std::int64_t channels;  ///< at once

    /// Places of a band, with what lies between their rows, and columns of one at most.
    static constexpr std::int64_t places = 256, most_columns = 272;

    ImageBands(const ConvPlan& plan, std::int64_t p, std::int64_t q)
        : rows(1), columns(q), channels(channels_of(plan)) {
        if (q > most_columns) {
            const std::int64_t count = (q + places - 1) / places;
            columns = vectors((q + count - 1) / count) * vector;
            return;
        }
        const std::int64_t pitch = band_pitch(plan.image, q);
        const auto all_vectors = [&](std::int64_t of_band) {
            const auto of_rows = [&](std::int64_t some) { return some == 0 ? 0 : vectors((some - 1) * pitch + q); };
            return p / of_band * of_rows(of_band) + of_rows(p % of_band);
        };
        for (std::int64_t more = 2; more <= std::min(p, places / pitch); ++more)
            if (all_vectors(more) < all_vectors(rows)) rows = more;
    }

    /// Of whole vectors of so many places few stay empty.
    static constexpr std::int64_t vector = 16;
    static std::int64_t vectors(std::int64_t count) { return (count + vector - 1) / vector; }
    /// As many for each part.
    static std::int64_t channels_of(const ConvPlan& plan) {
        const std::int64_t most = std::max<std::int64_t>(taps_at_once / plan.image.taps(), 1);
        const std::int64_t parts = std::max<std::int64_t>((plan.channels + most - 1) / most, 1);
        return std::max<std::int64_t>((plan.channels + parts - 1) / parts, 1);
    }
};

/// What a member holds of an image: planes of a band; offsets of taps; filters of a tile; then sums of a tile, or of
/// all filters where there are more channels.
struct ImageFloats {
    std::int64_t planes, offsets, filters;

    ImageFloats(const ConvPlan& plan) {
        const std::int64_t channels = ImageBands::channels_of(plan), taps = channels * plan.image.taps();
        const Slide &rows = plan.image.rows, &columns = plan.image.columns;
        const std::int64_t pitch = band_pitch(plan.image, ImageBands::most_columns);
        const std::int64_t plane = (1 + rows.reach() / rows.stride) * pitch + ImageBands::places;
        planes = (channels * rows.phases() * columns.phases() * plane + 2 * band_slack + 15) / 16 * 16;
        offsets = (taps + 15) / 16 * 16;
        filters = most_tile_height * offsets;
    }
    template <typename Size>
    Size sums(const ConvPlan& plan, const Size& all_filters) const {
        const bool is_whole = plan.channels <= ImageBands::channels_of(plan);
        const std::int64_t places = band_pitch(plan.image, ImageBands::most_columns) + ImageBands::places;
        return is_whole ? Size(most_tile_height * places_at_once) : all_filters * Size(places + places_at_once);
    }
    template <typename Size>
    Size all(const ConvPlan& plan, const Size& all_filters) const {
        return sums(plan, all_filters) + Size(planes + offsets + filters);
    }
};

/// Bytes a member of the team holds, for results in rows of q places.
template <typename Size>
Size member_bytes(const ConvPlan& plan, const Size& filters, const Size& q) {
    Size rest = block_floats(filters) * Size(4);
    if (plan.reads == ConvReads::bands) rest = ImageFloats(plan).all(plan, filters) * Size(4);
    if (plan.is_of_rows) rest = band_bytes(plan.image, q) + (q * Size(band_rows) + Size(block_size)) * Size(4);
    return rest + Size(plan.body.bytes_per_member());
}

}  // namespace cairn::inline v0::kernels::cpu
