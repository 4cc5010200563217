#include "kernels/cpu/panel/conv.hpp"

#include "kernels/cpu/panel/table.hpp"
#include "kernels/cpu/panel/tile.hpp"
#include "kernels/cpu/simd/row_walk.hpp"
#include "kernels/cpu/simd/wide.hpp"

#include <algorithm>

/// Convolutions over windows that are views: filters times the windows of a few places at a time, gathered into a panel
/// that stays in the cache (im2col of one block: Chellapilla et al., 2006), by the register tiles of the packed
/// product. A filter that sees one channel is run straight over the rows of x.
namespace CAIRN_LEVEL {
namespace {

/// out[b, g, o, p, q] = sum over c, j, k of w[g, o, c, j, k] x[b, g, c, p, q, j, k], + bias[g, o].
struct Conv {
    const float *x, *w, *bias = nullptr;
    float* out;
    std::int64_t batch = 1, groups = 1, filters, channels, p = 1, q, j = 1, k = 1;
    std::int64_t x_batch = 0, x_channel, x_p = 0, x_q, x_j = 0, x_k = 0, w_filter;
    std::int64_t out_batch = 0, out_filter, out_p = 0;

    std::int64_t taps() const { return channels * j * k; }
    std::int64_t places() const { return batch * p * q; }
    float bias_of(std::int64_t filter) const { return bias != nullptr ? bias[filter] : 0.0f; }
};

const float* floats_of(const TensorArg& arg) { return reinterpret_cast<const float*>(arg.data); }

Conv conv_of(const Args& args, const ConvPlan& plan) {
    Conv c;
    const TensorArg &x = args.inputs[plan.is_product ? 1 : 0], &w = args.inputs[plan.is_product ? 0 : 1];
    const TensorArg& out = args.outputs[0];
    c.x = floats_of(x);
    c.w = floats_of(w);
    c.out = reinterpret_cast<float*>(out.data);
    if (plan.has_bias) c.bias = floats_of(args.inputs[2]);
    if (plan.is_product) {
        const int rows = x.rank - 2, columns = x.rank - 1;
        for (int axis = 0; axis < rows; ++axis) {
            c.batch *= x.shape[axis];
            if (x.shape[axis] != 1) c.x_batch = x.strides[axis], c.out_batch = out.strides[axis];
        }
        c.channels = x.shape[rows], c.x_channel = x.strides[rows];
        c.q = x.shape[columns], c.x_q = x.strides[columns];
        c.filters = w.shape[rows], c.w_filter = w.strides[rows];
        c.out_filter = out.strides[rows];
        return c;
    }
    c.batch = x.shape[0], c.p = x.shape[2], c.q = x.shape[3], c.j = x.shape[4], c.k = x.shape[5];
    c.channels = w.shape[1];
    c.groups = c.channels > 0 ? x.shape[1] / c.channels : 1;
    c.filters = w.shape[0] / (c.groups > 0 ? c.groups : 1);
    c.x_batch = x.strides[0], c.x_channel = x.strides[1], c.x_p = x.strides[2], c.x_q = x.strides[3];
    c.x_j = x.strides[4], c.x_k = x.strides[5], c.w_filter = w.strides[0];
    c.out_batch = out.strides[0], c.out_filter = out.strides[1], c.out_p = out.strides[2];
    return c;
}

/// Places that lie behind one another in a row of x and of the result.
struct PlaceRun {
    const float* x;
    float* out;
    std::int64_t first, count;
};

struct PlaceRuns {
    int count = 0;
    std::int64_t places;
    PlaceRun run[places_at_once];

    PlaceRuns(const Conv& c, std::int64_t group, std::int64_t begin)
        : places(std::min(places_at_once, c.places() - begin)) {
        for (std::int64_t at = 0; at < places;) {
            const std::int64_t place = begin + at, q = place % c.q, row = place / c.q, p = row % c.p, b = row / c.p;
            const std::int64_t n = std::min(c.q - q, places - at);
            run[count++] = {c.x + b * c.x_batch + group * c.channels * c.x_channel + p * c.x_p + q * c.x_q,
                            c.out + b * c.out_batch + group * c.filters * c.out_filter + p * c.out_p + q, at, n};
            at += n;
        }
    }
};

CAIRN_INLINE void copy_places(float* to, const float* from, std::int64_t stride, std::int64_t n) {
    std::int64_t i = 0;
    if (stride == 1) {
        for (; i < n; i += lanes)
            store_some(to + i, load_some(from + i, std::min<std::int64_t>(n - i, lanes)),
                       std::min<std::int64_t>(n - i, lanes));
        return;
    }
    if (stride == 2)
        for (; i + lanes <= n; i += lanes) store(to + i, load_every_second(from + 2 * i));
    for (; i < n; ++i) to[i] = from[i * stride];
}

/// panel[t - begin][place] = what tap t sees there, for taps [begin, end).
void gather(const Conv& c, const PlaceRuns& runs, std::int64_t begin, std::int64_t end, float* panel) {
    if (runs.places < places_at_once) std::fill(panel, panel + (end - begin) * places_at_once, 0.0f);
    std::int64_t k = begin % c.k, j = begin / c.k % c.j, channel = begin / (c.k * c.j);
    for (std::int64_t tap = begin; tap < end; ++tap, panel += places_at_once) {
        const std::int64_t offset = channel * c.x_channel + j * c.x_j + k * c.x_k;
        for (int i = 0; i < runs.count; ++i)
            copy_places(panel + runs.run[i].first, runs.run[i].x + offset, c.x_q, runs.run[i].count);
        if (++k < c.k) continue;
        k = 0;
        if (++j < c.j) continue;
        j = 0;
        ++channel;
    }
}

constexpr auto filter_tiles = tiles<float, group_vectors, 0>(std::make_integer_sequence<int, tile_height>());

/// sums[filter][place] of `height` filters; goes on with those that are there.
void run_tile(const Conv& c, const float* w, int height, const float* panel, std::int64_t depth, std::int64_t places,
              bool goes_on, float* sums) {
    for (int group = 0; group < panel_vectors && group * lanes < places; group += group_vectors)
        filter_tiles[static_cast<std::size_t>(height - 1)](
            {w, c.w_filter, panel + group * lanes, depth, panel, 0, goes_on}, sums + group * lanes);
}

void finish(const Conv& c, const PlaceRuns& runs, std::int64_t group, std::int64_t filter, int height,
            const float* sums) {
    for (int row = 0; row < height; ++row) {
        const F32 bias = splat(c.bias_of(group * c.filters + filter + row));
        for (int i = 0; i < runs.count; ++i) {
            const PlaceRun& run = runs.run[i];
            const float* from = sums + row * places_at_once + run.first;
            map_row(run.out + (filter + row) * c.out_filter, run.count, [&](auto at) { return at(from) + bias; });
        }
    }
}

/// Filters [begin, end) of a group at a block of places; `scratch` holds a panel, then sums for all these filters.
void run_block(const Conv& c, std::int64_t group, std::int64_t place, std::int64_t begin, std::int64_t end,
               float* scratch) {
    const PlaceRuns runs(c, group, place);
    float *const panel = scratch, *const sums = scratch + taps_at_once * places_at_once;
    const float* const w = c.w + group * c.filters * c.w_filter;
    const std::int64_t taps = c.taps(), parts = std::max<std::int64_t>((taps + taps_at_once - 1) / taps_at_once, 1);
    const std::int64_t count = (end - begin + tile_height - 1) / tile_height;
    for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t first = taps * part / parts, depth = taps * (part + 1) / parts - first;
        gather(c, runs, first, first + depth, panel);
        for (std::int64_t tile = 0; tile < count; ++tile) {
            const std::int64_t filter = begin + (end - begin) * tile / count;
            const int height = static_cast<int>(begin + (end - begin) * (tile + 1) / count - filter);
            float* const of_tile = sums + (filter - begin) * places_at_once;
            run_tile(c, w + filter * c.w_filter + first, height, panel, depth, runs.places, part > 0, of_tile);
            if (part + 1 == parts) finish(c, runs, group, filter, height, of_tile);
        }
    }
}

/// Blocks of places times parts of the filters, so many that there are some to share out.
void run_blocks(const Conv& c, const Args& args, Team& team) {
    constexpr std::int64_t enough = 16, least_filters = 48;
    const std::int64_t blocks = (c.places() + places_at_once - 1) / places_at_once;
    const std::int64_t wanted = blocks * c.groups < enough ? enough / std::max<std::int64_t>(blocks * c.groups, 1) : 1;
    const std::int64_t parts = std::clamp<std::int64_t>(c.filters / least_filters, 1, wanted);
    float* const scratch =
        reinterpret_cast<float*>(args.workspace) + (taps_at_once + c.filters) * places_at_once * team.rank();
    const std::int64_t count = blocks * c.groups * parts;
    for (std::int64_t chunk = team.next_chunk(); chunk < count; chunk = team.next_chunk()) {
        const std::int64_t part = chunk % parts, block = chunk / parts % blocks, group = chunk / parts / blocks;
        run_block(c, group, block * places_at_once, c.filters * part / parts, c.filters * (part + 1) / parts, scratch);
    }
}

/// Vectors of a row's places whose sums run side by side.
constexpr int vectors_at_once = 4;

/// `vectors` whole vectors of places from x on.
template <int vectors, bool second>
CAIRN_INLINE void run_row_part(const Conv& c, const float* x, const float* w, float bias, float* out) {
    F32 sum[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sum[v] = F32{};
    for (std::int64_t j = 0; j < c.j; ++j)
        for (std::int64_t k = 0; k < c.k; ++k) {
            const F32 factor = splat(*w++);
            const float* from = x + j * c.x_j + k * c.x_k;
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) {
                F32 value;
                if constexpr (second)
                    value = load_every_second(from + 2 * v * lanes);
                else
                    value = load(from + v * lanes);
                multiply_add(sum[v], factor, value);
            }
        }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) store(out + v * lanes, sum[v] + bias);
}

/// The first n <= lanes places, and zeros.
CAIRN_INLINE F32 load_places(const float* from, std::int64_t stride, std::int64_t n) {
    if (stride == 1) return load_some(from, n);
    if (stride == 2) {
        // All up to the last of them, in two vectors that share an element.
        const std::int64_t reach = 2 * n - 1;
        const F32 first = load_some(from, std::min<std::int64_t>(reach, lanes));
        const F32 second = reach < lanes ? F32{} : load_part(from + lanes - 1, reach - (lanes - 1));
        return every_second<float>(first, second, std::make_index_sequence<lanes>());
    }
    alignas(64) float places[lanes] = {};
    copy_places(places, from, stride, n);
    return load(places);
}

/// Places of a row that fill no vector, or lie too far apart.
void run_places(const Conv& c, const float* x, const float* w, float bias, float* out, std::int64_t n) {
    for (std::int64_t q = 0; q < n; q += lanes) {
        const std::int64_t part = std::min<std::int64_t>(n - q, lanes);
        F32 sum{};
        const float* factor = w;
        for (std::int64_t j = 0; j < c.j; ++j)
            for (std::int64_t k = 0; k < c.k; ++k) {
                const F32 places = load_places(x + q * c.x_q + j * c.x_j + k * c.x_k, c.x_q, part);
                multiply_add(sum, splat(*factor++), places);
            }
        store_some(out + q, sum + bias, part);
    }
}

template <bool second>
void run_row(const Conv& c, const float* x, const float* w, float bias, float* out) {
    constexpr std::int64_t step = vectors_at_once * lanes;
    std::int64_t q = 0;
    for (; q + step <= c.q; q += step) run_row_part<vectors_at_once, second>(c, x + q * c.x_q, w, bias, out + q);
    for (; q + lanes <= c.q; q += lanes) run_row_part<1, second>(c, x + q * c.x_q, w, bias, out + q);
    if (q == c.q) return;
    // The last vector covers part of the one before: the same sums in the same order.
    const std::int64_t last = c.q - lanes;
    if (last >= 0) return run_row_part<1, second>(c, x + last * c.x_q, w, bias, out + last);
    run_places(c, x, w, bias, out, c.q);
}

/// Filters of one channel each: a row of the result at a time.
void run_rows(const Conv& c, Team& team) {
    const std::int64_t filters = c.groups * c.filters, rows = c.batch * filters * c.p;
    const std::int64_t cells = std::max<std::int64_t>(c.q * c.j * c.k, 1), at_once = cells < 16384 ? 16384 / cells : 1;
    for (std::int64_t chunk = team.next_chunk(); chunk * at_once < rows; chunk = team.next_chunk()) {
        const std::int64_t end = std::min(rows, (chunk + 1) * at_once);
        std::int64_t row = chunk * at_once, p = row % c.p, filter = row / c.p % filters, b = row / c.p / filters;
        for (; row < end; ++row) {
            const float* const x = c.x + b * c.x_batch + filter / c.filters * c.x_channel + p * c.x_p;
            const float* const w = c.w + filter * c.w_filter;
            float* const out = c.out + b * c.out_batch + filter * c.out_filter + p * c.out_p;
            const float bias = c.bias_of(filter);
            if (c.x_q == 1)
                run_row<false>(c, x, w, bias, out);
            else if (c.x_q == 2)
                run_row<true>(c, x, w, bias, out);
            else
                run_places(c, x, w, bias, out, c.q);
            if (++p < c.p) continue;
            p = 0;
            if (++filter < filters) continue;
            filter = 0;
            ++b;
        }
    }
}

}  // namespace

void conv2d(const Args& args, Team& team) {
    constexpr std::int64_t few_filters = 4;
    const Conv c = conv_of(args, *static_cast<const ConvPlan*>(args.prepared));
    if (c.filters == 0 || c.places() == 0) return;
    if (c.channels == 1 && c.filters < few_filters)
        run_rows(c, team);
    else
        run_blocks(c, args, team);
}

}  // namespace CAIRN_LEVEL
