#include "kernels/cpu/panel/conv.hpp"

#include "kernels/cpu/panel/table.hpp"
#include "kernels/cpu/panel/tile.hpp"
#include "kernels/cpu/simd/image_band.hpp"

#include <algorithm>

/// Convolutions over an image, or over windows that are views: filters times the windows of a few places at a time,
/// gathered into a panel that stays in the cache (im2col of one block: Chellapilla et al., 2006), by the register tiles
/// of the packed product. Padding is no memory: the panel has it where taps see it. Few filters that see one channel go
/// over the rows of its plane.
namespace CAIRN_LEVEL {
namespace {

/// out[b, g, o, p, q] = sum over c, j, k of w[g, o, c, j, k] x[b, g, c, p, q, j, k], + bias[g, o].
template <typename Element>
struct Conv {
    const Element *x, *w, *bias = nullptr;
    Element* out;
    std::int64_t batch = 1, groups = 1, filters, channels, p = 1, q, j = 1, k = 1;
    std::int64_t x_batch = 0, x_channel, x_p = 0, x_q, x_j = 0, x_k = 0, w_filter;
    std::int64_t out_batch = 0, out_filter, out_p = 0;
    // Of an image: its size and which windows. Places are then those of windows that begin in it; all else is as said.
    std::int64_t height = 0, width = 0;
    Slide rows, columns;
    bool is_image = false;

    Conv(const Args& args, const ConvPlan& plan) {
        const TensorArg &left = args.inputs[0], &right = args.inputs[1], &result = args.outputs[0];
        out = reinterpret_cast<Element*>(result.data);
        if (plan.has_bias) bias = reinterpret_cast<const Element*>(args.inputs[2].data);
        if (plan.reads == ConvReads::matrix)
            set_product(left, right, result);
        else
            set_filters(left, right, result, plan);
    }

    std::int64_t taps() const { return channels * j * k; }
    std::int64_t places() const { return batch * p * q; }
    float bias_of(std::int64_t filter) const { return bias != nullptr ? widened(bias[filter]) : 0.0f; }

private:
    // Places are the columns of the right side.
    void set_product(const TensorArg& left, const TensorArg& right, const TensorArg& result) {
        w = reinterpret_cast<const Element*>(left.data);
        x = reinterpret_cast<const Element*>(right.data);
        const int row = right.rank - 2, column = right.rank - 1;
        for (int axis = 0; axis < row; ++axis) {
            batch *= right.shape[axis];
            if (right.shape[axis] != 1) x_batch = right.strides[axis], out_batch = result.strides[axis];
        }
        channels = right.shape[row], x_channel = right.strides[row];
        q = right.shape[column], x_q = right.strides[column];
        filters = left.shape[row], w_filter = left.strides[row];
        out_filter = result.strides[row];
    }
    void set_filters(const TensorArg& image, const TensorArg& weights, const TensorArg& result, const ConvPlan& plan) {
        x = reinterpret_cast<const Element*>(image.data);
        w = reinterpret_cast<const Element*>(weights.data);
        batch = image.shape[0], p = result.shape[2], q = result.shape[3];
        channels = weights.shape[1], j = weights.shape[2], k = weights.shape[3];
        groups = channels > 0 ? image.shape[1] / channels : 1;
        filters = weights.shape[0] / (groups > 0 ? groups : 1);
        x_batch = image.strides[0], x_channel = image.strides[1], w_filter = weights.strides[0];
        out_batch = result.strides[0], out_filter = result.strides[1], out_p = result.strides[2];
        is_image = plan.reads == ConvReads::image;
        if (!is_image) {
            x_p = image.strides[2], x_q = image.strides[3], x_j = image.strides[4], x_k = image.strides[5];
            return;
        }
        rows = plan.image.rows, columns = plan.image.columns;
        height = image.shape[2], width = image.shape[3];
        x_p = image.strides[2] * rows.stride, x_j = image.strides[2] * rows.dilation;
        x_q = columns.stride, x_k = columns.dilation;
        x -= rows.before * image.strides[2] + columns.before;
    }
};

/// Places that lie behind one another in a row of x and of the result; of an image, where the window of the first
/// begins.
template <typename Element>
struct PlaceRun {
    const Element* x;
    Element* out;
    std::int64_t first, count, row, column;
};

template <typename Element>
struct PlaceRuns {
    int count = 0;
    std::int64_t places;
    PlaceRun<Element> run[places_at_once];

    PlaceRuns(const Conv<Element>& c, std::int64_t group, std::int64_t begin)
        : places(std::min(places_at_once, c.places() - begin)) {
        for (std::int64_t at = 0; at < places;) {
            const std::int64_t place = begin + at, q = place % c.q, row = place / c.q, p = row % c.p, b = row / c.p;
            const std::int64_t n = std::min(c.q - q, places - at);
            run[count++] = {c.x + b * c.x_batch + group * c.channels * c.x_channel + p * c.x_p + q * c.x_q,
                            c.out + b * c.out_batch + group * c.filters * c.out_filter + p * c.out_p + q,
                            at,
                            n,
                            p * c.rows.stride - c.rows.before,
                            q * c.columns.stride - c.columns.before};
            at += n;
        }
    }
};

/// How a row of the panel is made of what a tap sees, whichever channel it is: vectors in the order of their places,
/// each of which also clears what the next ones do not write.
template <typename Element>
class SeenPlaces {
public:
    SeenPlaces(const Conv<Element>& c, const PlaceRuns<Element>& runs, std::int64_t j, std::int64_t k)
        : stride_(c.x_q) {
        for (int i = 0; i < runs.count; ++i) {
            const PlaceRun<Element>& run = runs.run[i];
            std::int64_t first = 0, last = run.count;
            if (c.is_image) {
                const std::int64_t row = run.row + j * c.rows.dilation;
                const Inside inside(run.column + k * c.columns.dilation, c.columns.stride, run.count, c.width);
                first = inside.first, last = row >= 0 && row < c.height ? inside.last : first;
            }
            for (; first < last; first += lanes) {
                clear(run.first + first);
                add(run.first + first, (run.x - c.x) + j * c.x_j + k * c.x_k + first * c.x_q,
                    std::min<std::int64_t>(last - first, lanes));
            }
        }
        clear(places_at_once);
    }

    /// x: the origin of a channel.
    CAIRN_INLINE void copy(float* to, const Element* x) const {
        for (int i = 0; i < count_; ++i) {
            const Part& part = parts_[i];
            const F32 places = load_places(x + part.from, stride_, part.count);
            const std::int64_t room = places_at_once - part.to;
            if (room >= lanes)
                store(to + part.to, places);
            else
                store_part(to + part.to, places, room);
        }
    }

private:
    struct Part {
        std::int64_t to, from, count;
    };
    void add(std::int64_t to, std::int64_t from, std::int64_t count) {
        parts_[count_++] = {to, from, count};
        written_ = std::min(to + lanes, places_at_once);
    }
    // What no vector has written up to a place.
    void clear(std::int64_t end) {
        while (written_ < end) add(written_, 0, 0);
    }

    std::int64_t stride_, written_ = 0;
    int count_ = 0;
    Part parts_[2 * places_at_once];
};

/// panel[t - begin][place] = what tap t sees there, for taps [begin, end).
template <typename Element>
void gather(const Conv<Element>& c, const PlaceRuns<Element>& runs, std::int64_t begin, std::int64_t end,
            float* panel) {
    const std::int64_t taps = c.j * c.k;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
        const SeenPlaces<Element> seen(c, runs, tap / c.k, tap % c.k);
        std::int64_t channel = begin > tap ? (begin - tap + taps - 1) / taps : 0;
        for (std::int64_t t = channel * taps + tap; t < end; t += taps, ++channel)
            seen.copy(panel + (t - begin) * places_at_once, c.x + channel * c.x_channel);
    }
}

static_assert(tile_height <= most_tile_height);
constexpr auto filter_tiles = tiles<float, group_vectors, 0>(std::make_integer_sequence<int, tile_height>());

/// sums[filter][place] of `height` filters from tap `first` on, `depth` taps; goes on with those that are there.
/// Filters of 16 bits are widened into `wide`.
template <typename Element>
void run_tile(const Conv<Element>& c, const Element* w, int height, const float* panel, std::int64_t depth,
              std::int64_t places, bool goes_on, float* sums, float* wide) {
    const float* left = wide;
    std::int64_t stride = depth;
    if constexpr (sizeof(Element) == 4)
        left = w, stride = c.w_filter;
    else
        for (int row = 0; row < height; ++row) copy_places(wide + row * depth, w + row * c.w_filter, 1, depth);
    for (int group = 0; group < panel_vectors && group * lanes < places; group += group_vectors)
        filter_tiles[static_cast<std::size_t>(height - 1)](
            {left, stride, panel + group * lanes, depth, panel, 0, goes_on}, sums + group * lanes);
}

template <typename Element>
void finish(const Conv<Element>& c, const PlaceRuns<Element>& runs, std::int64_t group, std::int64_t filter, int height,
            float* sums) {
    for (int row = 0; row < height; ++row, sums += places_at_once) {
        const F32 bias = splat(c.bias_of(group * c.filters + filter + row));
        if constexpr (sizeof(Element) != 4)
            for (std::int64_t at = 0; at < places_at_once; at += lanes) store(sums + at, load(sums + at) + bias);
        for (int i = 0; i < runs.count; ++i) {
            const PlaceRun<Element>& run = runs.run[i];
            const float* const from = sums + run.first;
            Element* const to = run.out + (filter + row) * c.out_filter;
            if constexpr (sizeof(Element) == 4)
                map_row(to, run.count, [&](auto at) { return at(from) + bias; });
            else
                store_row(to, from, run.count);
        }
    }
}

/// Filters [begin, end) of a group at a block of places; `scratch` holds a panel, a tile of widened filters, then sums
/// for all these filters.
template <typename Element>
void run_block(const Conv<Element>& c, std::int64_t group, std::int64_t place, std::int64_t begin, std::int64_t end,
               float* scratch) {
    const PlaceRuns<Element> runs(c, group, place);
    float *const panel = scratch, *const wide = panel + taps_at_once * places_at_once,
                 *const sums = wide + taps_at_once * most_tile_height;
    const Element* const w = c.w + group * c.filters * c.w_filter;
    const std::int64_t taps = c.taps(), parts = std::max<std::int64_t>((taps + taps_at_once - 1) / taps_at_once, 1);
    const std::int64_t count = (end - begin + tile_height - 1) / tile_height;
    for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t first = taps * part / parts, depth = taps * (part + 1) / parts - first;
        gather(c, runs, first, first + depth, panel);
        for (std::int64_t tile = 0; tile < count; ++tile) {
            const std::int64_t filter = begin + (end - begin) * tile / count;
            const int height = static_cast<int>(begin + (end - begin) * (tile + 1) / count - filter);
            float* const of_tile = sums + (filter - begin) * places_at_once;
            run_tile(c, w + filter * c.w_filter + first, height, panel, depth, runs.places, part > 0, of_tile, wide);
            if (part + 1 == parts) finish(c, runs, group, filter, height, of_tile);
        }
    }
}

/// Blocks of places times parts of the filters, so many that there are some to share out.
template <typename Element>
void run_blocks(const Conv<Element>& c, const Args& args, Team& team) {
    constexpr std::int64_t enough = 16, least_filters = 48;
    const std::int64_t blocks = (c.places() + places_at_once - 1) / places_at_once;
    const std::int64_t wanted = blocks * c.groups < enough ? enough / std::max<std::int64_t>(blocks * c.groups, 1) : 1;
    const std::int64_t parts = std::clamp<std::int64_t>(c.filters / least_filters, 1, wanted);
    float* const scratch = reinterpret_cast<float*>(args.workspace) + block_floats(c.filters) * team.rank();
    const std::int64_t count = blocks * c.groups * parts;
    for (std::int64_t chunk = team.next_chunk(); chunk < count; chunk = team.next_chunk()) {
        const std::int64_t part = chunk % parts, block = chunk / parts % blocks, group = chunk / parts / blocks;
        run_block(c, group, block * places_at_once, c.filters * part / parts, c.filters * (part + 1) / parts, scratch);
    }
}

/// What a tap of one filter does, and its bias.
template <typename Element>
struct FilterOfOneChannel {
    static constexpr float none = 0;
    const Element* w;
    F32 bias;

    CAIRN_INLINE F32 factor(std::int64_t tap) const { return splat(widened(w[tap])); }
    CAIRN_INLINE static void take(F32& sum, F32 factor, F32 x) { multiply_add(sum, factor, x); }
    CAIRN_INLINE F32 finish(F32 sum) const { return sum + bias; }
};

template <typename Element>
void conv_as(const Args& args, Team& team) {
    const ConvPlan& plan = *static_cast<const ConvPlan*>(args.prepared);
    const Conv<Element> c(args, plan);
    if (c.filters == 0 || c.places() == 0) return;
    if (!plan.is_of_rows) return run_blocks(c, args, team);
    fold_windows<Element>(plan.image, args.inputs[0], args.outputs[0], c.filters, team, args.workspace,
                          [&](std::int64_t channel, std::int64_t i) {
                              const std::int64_t filter = channel * c.filters + i;
                              return FilterOfOneChannel<Element>{c.w + filter * c.w_filter, splat(c.bias_of(filter))};
                          });
}

}  // namespace

void conv2d(const Args& args, Team& team) {
    with_element(static_cast<const ConvPlan*>(args.prepared)->image.dtype,
                 [&](auto element) { conv_as<decltype(element)>(args, team); });
}

}  // namespace CAIRN_LEVEL
