#pragma once

#include "kernels/cpu/panel/conv_operands.hpp"
#include "kernels/cpu/panel/conv_remainder.hpp"
#include "kernels/cpu/panel/conv_tile.hpp"
#include "kernels/cpu/simd/elementwise/tile_epilogue.hpp"
#include "kernels/cpu/simd/pooling/window_band.hpp"

#include <algorithm>
#include <cstring>

/// Direct convolution over an image. Its planes are copied into the cache with their padding; elements one stride apart
/// become adjacent. Register tiles read each tap from there at its own offset. Output positions form one run over all
/// rows. With few channels each plane is stored once, and the positions between two output rows are dropped before
/// results are stored. With more channels each column of taps has a plane of its own, and no positions lie between
/// rows. If the planes of all channels exceed the memory bound, those of some channels are cached at a time.
///
/// Members that compute filters of the same positions each cache their own planes: reading lines that another core has
/// written costs more.
namespace CAIRN_LEVEL {

static_assert(filter_height <= max_tile_height);

/// The cached planes of some channels of a group.
struct CachedPlanes {
    BandLayout layout;
    std::int64_t columns, channels, taps;  ///< output positions per row; capacity in channels; taps per channel
    std::int64_t plane;                    ///< plane stride, in floats
    float *planes, *singles;
    std::int64_t block = -1, first = 0;  ///< the block of positions, and the first channel, that are cached

    CachedPlanes(const WindowPlan& image, std::int64_t rows, std::int64_t columns, std::int64_t channels, float* memory)
        : layout(image, rows, columns),
          columns(columns),
          channels(channels),
          taps(image.taps()),
          plane(layout.plane_size() + ImageBlocks::plane_gap),
          planes(memory),
          singles(memory + ImageBlocks::singles(channels, layout.plane_size())) {}

    /// The cached plane of a channel, and the elements that the taps of a single output position read of it.
    float* plane_of(std::int64_t channel) const { return planes + (channel - first) * plane; }
    float* single_of(std::int64_t position, std::int64_t channel) const {
        return singles + (position * channels + channel - first) * taps;
    }
    /// Positions of some rows and columns, including those between rows.
    std::int64_t positions(std::int64_t rows, std::int64_t some) const { return (rows - 1) * layout.pitch() + some; }
    /// The number of trailing positions that are computed one at a time; 0 if they have too few taps for that to pay.
    static std::int64_t single(std::int64_t positions, std::int64_t all_taps) {
        constexpr std::int64_t enough_taps = 8 * lanes;
        const std::int64_t rest = positions % lanes;
        return 2 * rest <= lanes && all_taps >= enough_taps ? rest : 0;
    }
};

template <typename Element>
class DirectConv {
public:
    DirectConv(ConvOperands<Element> conv, const TensorArg& image, const ConvPlan& plan, TileEpilogue& body,
               std::byte* memory)
        : c_(conv), plan_(plan), x_(image, plan.image.axes), body_(body) {
        // For pointwise convolutions, rows without gaps are one row.
        if (plan.is_pointwise && x_.height > 1 && x_.row_stride == x_.width) {
            x_.width *= x_.height, x_.height = 1;
            c_.q *= c_.p, c_.p = 1;
        }
        planes_ = reinterpret_cast<float*>(memory);
        offsets_ = reinterpret_cast<std::int32_t*>(planes_ + plan.floats.planes);
        wide_ = planes_ + plan.floats.planes + plan.floats.offsets;
        sums_ = wide_ + plan.floats.filters;
    }

    /// Splits the work into bands times parts of the filters, with enough chunks for the team.
    void run(Team& team) {
        const ImageBands bands(plan_.image, c_.p, c_.q);
        CachedPlanes kept(plan_.image, bands.rows, bands.columns, plan_.floats.channels, planes_);
        set_offsets(kept);
        const std::int64_t rows = (c_.p + bands.rows - 1) / bands.rows;
        const std::int64_t columns = (c_.q + bands.columns - 1) / bands.columns;
        const std::int64_t blocks = c_.batch * c_.groups * rows * columns;
        const std::int64_t parts = parts_of(blocks, team.size());
        for (std::int64_t chunk = team.next_chunk(); chunk < blocks * parts; chunk = team.next_chunk()) {
            const std::int64_t block = chunk / parts, row = block / columns, image = row / rows;
            const Where at{image / c_.groups, image % c_.groups, row % rows * bands.rows,
                           block % columns * bands.columns};
            const std::int64_t positions =
                kept.positions(std::min(bands.rows, c_.p - at.p), std::min(bands.columns, c_.q - at.q));
            run_filters(kept, block, at, positions, Range{0, c_.filters}.part(chunk % parts, parts));
        }
    }

private:
    struct Where {
        std::int64_t b, group, p, q;  ///< the first row and column of output positions
    };
    struct Range {
        std::int64_t begin, end;
        std::int64_t count() const { return end - begin; }
        Range part(std::int64_t i, std::int64_t of) const {
            return {begin + count() * i / of, begin + count() * (i + 1) / of};
        }
    };

    /// Number of parts into which the filters of each of `blocks` blocks are split: some chunks per member, equally
    /// many for each if possible.
    std::int64_t parts_of(std::int64_t blocks, std::int64_t members) const {
        constexpr std::int64_t chunks_of_member = 4, min_filters = 24;
        const std::int64_t wanted = (chunks_of_member * members + blocks - 1) / blocks;
        const std::int64_t most = std::min(wanted, std::max<std::int64_t>(c_.filters / min_filters, 1));
        for (std::int64_t parts = most; parts > 1; --parts)
            if (blocks * parts % members == 0) return parts;
        return blocks % members == 0 ? 1 : most;
    }

    std::int64_t channels_at_once() const { return ImageBlocks::channels(plan_.image, c_.channels); }

    /// Sets the offsets at which the taps of some channels read the first position.
    void set_offsets(const CachedPlanes& kept) {
        kept.layout.set_taps(offsets_, std::min(channels_at_once(), c_.channels), kept.plane);
    }

    std::int64_t single(std::int64_t positions) const { return CachedPlanes::single(positions, c_.taps()); }

    void fill(const CachedPlanes& kept, const Where& at, std::int64_t positions, std::int64_t end) {
        const std::int64_t count = single(positions);
        for (std::int64_t channel = kept.first; channel < end; ++channel) {
            float* const plane = kept.plane_of(channel);
            kept.layout.fill(plane, x_.at(at.b, at.group * c_.channels + channel, 0, 0), x_.height, x_.width,
                             x_.row_stride, at.p, at.q);
            for (std::int64_t i = 0; i < count; ++i)
                for (std::int64_t t = 0; t < kept.taps; ++t)
                    kept.single_of(i, channel)[t] = plane[offsets_[t] + positions - count + i];
        }
    }

    /// Processes some filter tiles at once, so that their sums stay in L2.
    void run_filters(CachedPlanes& kept, std::int64_t block, const Where& at, std::int64_t positions,
                     const Range& filters) {
        constexpr std::int64_t most = ImageBlocks::tiles * filter_height;
        const std::int64_t pieces = (filters.count() + most - 1) / most;
        const std::int64_t parts = (c_.channels + channels_at_once() - 1) / channels_at_once();
        const std::int64_t cached = kept.channels == c_.channels ? parts : kept.channels / channels_at_once();
        const auto channels = [&](std::int64_t part) { return Range{0, c_.channels}.part(part, parts); };
        for (std::int64_t piece = 0; piece < pieces; ++piece)
            for (std::int64_t part = 0; part < parts; ++part) {
                if (const std::int64_t begin = channels(part / cached * cached).begin;
                    kept.block != block || kept.first != begin) {
                    kept.block = block, kept.first = begin;
                    fill(kept, at, positions, channels(std::min(part / cached * cached + cached, parts) - 1).end);
                }
                run_block(kept, at, positions, filters.part(piece, pieces), channels(part));
            }
    }

    /// Accumulates the contribution of some channels on the sums.
    void run_block(const CachedPlanes& kept, const Where& at, std::int64_t positions, const Range& filters,
                   const Range& channels) {
        const std::int64_t tiles = (filters.count() + filter_height - 1) / filter_height;
        const std::int64_t whole = positions - single(positions);
        const bool is_all = channels.count() == c_.channels, is_last = channels.end == c_.channels;
        float* sums = sums_;
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
            const Range rows = filters.part(tile, tiles);
            const ConvTileSource source = source_of(kept, at, rows, channels);
            for (std::int64_t position = 0, count = 0; position < positions; position += count) {
                // A single remaining vector is merged with the two before it.
                const std::int64_t in_vectors = (whole - position + lanes - 1) / lanes;
                const bool are_three = in_vectors == 3 && 3 * lanes > positions_per_tile;
                count = are_three ? positions - position : std::min(positions_per_tile, positions - position);
                const std::int64_t pitch = position_pitch(are_three ? 3 : 1);
                run_tile(kept, source, static_cast<int>(rows.count()), channels.begin, {position, position + count},
                         whole, sums, pitch);
                if (is_last) finish(kept, at, rows, {position, position + count}, sums, pitch);
                if (!is_all) sums += filter_height * pitch;
            }
        }
    }

    /// The source of a tile; 16-bit filters are widened.
    ConvTileSource source_of(const CachedPlanes& kept, const Where& at, const Range& rows, const Range& channels) {
        const Element* const w = c_.w + (at.group * c_.filters + rows.begin) * c_.w_filter + channels.begin * kept.taps;
        const std::int64_t depth = channels.count() * kept.taps;
        if constexpr (sizeof(Element) == 4) {
            return {w, c_.w_filter, offsets_, depth, channels.begin > 0};
        } else {
            for (std::int64_t row = 0; row < rows.count(); ++row)
                copy_strided_elements(wide_ + row * depth, w + row * c_.w_filter, 1, depth);
            return {wide_, depth, offsets_, depth, channels.begin > 0};
        }
    }

    /// Positions up to `whole` are computed in vectors, the remainder one by one.
    void run_tile(const CachedPlanes& kept, const ConvTileSource& source, int height, std::int64_t channel,
                  const Range& some, std::int64_t whole, float* sums, std::int64_t pitch) const {
        const std::int64_t in_vectors = std::clamp<std::int64_t>(whole - some.begin, 0, some.count());
        run_conv_tile(source, kept.plane_of(channel) + some.begin, height, (in_vectors + lanes - 1) / lanes, sums);
        if (in_vectors < some.count())
            sum_remainder_positions(source, kept.single_of(some.begin + in_vectors - whole, channel),
                                    kept.channels * kept.taps, some.count() - in_vectors, height, sums + in_vectors,
                                    pitch);
    }

    /// Compacts the positions, dropping those between rows, and runs the epilogue.
    void finish(const CachedPlanes& kept, const Where& at, const Range& filters, const Range& some, float* sums,
                std::int64_t sums_pitch) {
        const std::int64_t pitch = kept.layout.pitch();
        std::int64_t row = some.begin / pitch, column = some.begin % pitch, count = 0;
        if (column >= kept.columns) ++row, column = 0;
        const std::int64_t first = (at.p + row) * c_.q + at.q + column;
        for (std::int64_t from = row * pitch + column - some.begin; from < some.count();
             from = ++row * pitch - some.begin, column = 0) {
            const std::int64_t width = std::min(kept.columns - column, some.count() - from);
            for (std::int64_t i = 0; from != count && i < filters.count(); ++i)
                std::memmove(sums + i * sums_pitch + count, sums + i * sums_pitch + from,
                             static_cast<std::size_t>(width) * sizeof(float));
            count += width;
        }
        const std::int64_t row_of_results = (at.b * c_.groups + at.group) * c_.filters + filters.begin;
        for (std::int64_t i = 0, height = 0; count > 0 && i < filters.count(); i += height) {
            height = std::min(filters.count() - i, block_size / sums_pitch);
            void* const blocks[] = {sums + i * sums_pitch};
            body_.run({row_of_results + i, height, first, count, sums_pitch}, blocks);
        }
    }

    ConvOperands<Element> c_;
    const ConvPlan& plan_;
    Planes<const Element> x_;
    TileEpilogue& body_;
    float *planes_, *wide_, *sums_;
    std::int32_t* offsets_;
};

}  // namespace CAIRN_LEVEL
