#pragma once

#include "kernels/cpu/panel/conv_operands.hpp"
#include "kernels/cpu/panel/tile.hpp"
#include "kernels/cpu/simd/image_band.hpp"
#include "kernels/cpu/simd/tile_body.hpp"

#include <algorithm>
#include <cstring>

/// Filters over an image: bands of its planes are brought into the cache with their padding, elements a stride apart
/// side by side, and register tiles read what each tap sees straight from there, at an offset of its own. Rows of
/// places are taken in one run with what lies between them, which is dropped before the results are stored.
namespace CAIRN_LEVEL {

static_assert(tile_height <= most_tile_height);
constexpr auto wide_place_tiles = tiles_by_offset<group_vectors>(std::make_integer_sequence<int, tile_height>());
constexpr auto narrow_place_tiles = tiles_by_offset<1>(std::make_integer_sequence<int, tile_height>());

template <typename Element>
class ImageConv {
public:
    ImageConv(const Conv<Element>& conv, const TensorArg& image, const ConvPlan& plan, TileBody& body,
              std::byte* memory)
        : c_(conv),
          x_(image, plan.image.axes),
          body_(body),
          bands_(plan, conv.p, conv.q),
          layout_(plan.image, bands_.rows, bands_.columns) {
        const ImageFloats floats(plan);
        planes_ = reinterpret_cast<float*>(memory);
        offsets_ = reinterpret_cast<std::int32_t*>(planes_ + floats.planes);
        wide_ = planes_ + floats.planes + floats.offsets;
        sums_ = wide_ + floats.filters;
        const std::int64_t taps = c_.j * c_.k, all = std::min(bands_.channels, c_.channels) * taps;
        layout_.set_taps(offsets_);
        for (std::int64_t t = taps; t < all; ++t)
            offsets_[t] = offsets_[t - taps] + static_cast<std::int32_t>(layout_.plane_size());
    }

    /// Bands times parts of the filters, so many that there are some to share out.
    void run(Team& team) {
        const std::int64_t rows = (c_.p + bands_.rows - 1) / bands_.rows;
        const std::int64_t columns = (c_.q + bands_.columns - 1) / bands_.columns;
        const std::int64_t blocks = c_.batch * c_.groups * rows * columns;
        const std::int64_t parts = filter_parts(blocks, c_.filters);
        for (std::int64_t chunk = team.next_chunk(); chunk < blocks * parts; chunk = team.next_chunk()) {
            const std::int64_t part = chunk % parts, column = chunk / parts % columns;
            const std::int64_t row = chunk / parts / columns % rows, image = chunk / parts / columns / rows;
            run_band({image / c_.groups, image % c_.groups, row * bands_.rows, column * bands_.columns},
                     {c_.filters * part / parts, c_.filters * (part + 1) / parts});
        }
    }

private:
    struct Where {
        std::int64_t b, group, p, q;  ///< the first row and column of places
    };
    struct Filters {
        std::int64_t begin, end;
        std::int64_t count() const { return end - begin; }
    };

    void run_band(const Where& at, const Filters& filters) {
        const std::int64_t rows = std::min(bands_.rows, c_.p - at.p), columns = std::min(bands_.columns, c_.q - at.q);
        const std::int64_t places = (rows - 1) * layout_.pitch() + columns;
        const std::int64_t parts = (c_.channels + bands_.channels - 1) / bands_.channels;
        const std::int64_t tiles = (filters.count() + tile_height - 1) / tile_height;
        for (std::int64_t part = 0; part < parts; ++part) {
            const std::int64_t first = c_.channels * part / parts, last = c_.channels * (part + 1) / parts;
            fill(at, first, last);
            for (std::int64_t tile = 0; tile < tiles; ++tile) {
                const Filters some{filters.begin + filters.count() * tile / tiles,
                                   filters.begin + filters.count() * (tile + 1) / tiles};
                const std::int64_t depth = (last - first) * c_.j * c_.k;
                TileSource<float> source = filters_of(at, some, first, depth);
                source.goes_on = part > 0;
                for (std::int64_t place = 0; place < places; place += places_at_once) {
                    const std::int64_t count = std::min(places_at_once, places - place);
                    // Of all filters one chunk of places after another, where more channels follow.
                    float* const sums =
                        parts == 1 ? sums_
                                   : sums_ + place * filters.count() + (some.begin - filters.begin) * places_at_once;
                    run_tile(source, static_cast<int>(some.count()), place, count, sums);
                    if (part + 1 == parts) finish(at, some, place, count, sums);
                }
            }
        }
    }

    void fill(const Where& at, std::int64_t first, std::int64_t last) {
        for (std::int64_t channel = first; channel < last; ++channel)
            layout_.fill(planes_ + (channel - first) * layout_.plane_size(),
                         x_.at(at.b, at.group * c_.channels + channel, 0), x_.height, x_.width, x_.row_stride, at.p,
                         at.q);
    }

    /// Filters of 16 bits are widened.
    TileSource<float> filters_of(const Where& at, const Filters& some, std::int64_t channel, std::int64_t depth) {
        const Element* const w = c_.w + (at.group * c_.filters + some.begin) * c_.w_filter + channel * c_.j * c_.k;
        if constexpr (sizeof(Element) == 4) {
            return {w, c_.w_filter, planes_, depth, planes_, 0, false, offsets_};
        } else {
            for (std::int64_t row = 0; row < some.count(); ++row)
                copy_places(wide_ + row * depth, w + row * c_.w_filter, 1, depth);
            return {wide_, depth, planes_, depth, planes_, 0, false, offsets_};
        }
    }

    void run_tile(TileSource<float> source, int height, std::int64_t place, std::int64_t count, float* sums) const {
        const auto row = static_cast<std::size_t>(height - 1);
        for (std::int64_t at = 0; at < count; at += group_vectors * lanes) {
            source.panel = planes_ + place + at;
            (count - at > lanes ? wide_place_tiles : narrow_place_tiles)[row](source, sums + at);
        }
    }

    /// Brings places together, without what lies between their rows, and does what follows.
    void finish(const Where& at, const Filters& some, std::int64_t place, std::int64_t count, float* sums) {
        const std::int64_t pitch = layout_.pitch();
        std::int64_t row = place / pitch, column = place % pitch, kept = 0;
        if (column >= bands_.columns) ++row, column = 0;
        const std::int64_t first = (at.p + row) * c_.q + at.q + column;
        for (std::int64_t from = row * pitch + column - place; from < count; from = ++row * pitch - place, column = 0) {
            const std::int64_t width = std::min(bands_.columns - column, count - from);
            for (std::int64_t i = 0; from != kept && i < some.count(); ++i)
                std::memmove(sums + i * places_at_once + kept, sums + i * places_at_once + from,
                             static_cast<std::size_t>(width) * sizeof(float));
            kept += width;
        }
        if (kept == 0) return;
        void* const blocks[] = {sums};
        body_.run({(at.b * c_.groups + at.group) * c_.filters + some.begin, some.count(), first, kept, places_at_once},
                  blocks);
    }

    const Conv<Element>& c_;
    Planes<const Element> x_;
    TileBody& body_;
    ImageBands bands_;
    BandLayout layout_;
    float *planes_, *wide_, *sums_;
    std::int32_t* offsets_;
};

}  // namespace CAIRN_LEVEL
