#pragma once

#include "kernels/cpu/simd/wide.hpp"

#include <limits>
#include <type_traits>

/// What reductions do with elements that have been read: along rows and across columns.
namespace CAIRN_LEVEL {

template <typename T>
struct Sum {
    using Element = T;
    static constexpr T none = 0;
    template <typename V>
    CAIRN_INLINE static V join(V a, V b) {
        return a + b;
    }
    static T finish(T x, std::int64_t) { return x; }
};

template <typename T>
struct Mean : Sum<T> {
    static T finish(T x, std::int64_t terms) { return static_cast<T>(x / static_cast<T>(terms)); }
};

template <typename T>
constexpr T least_of() {
    if constexpr (std::is_floating_point_v<T>)
        return -std::numeric_limits<T>::infinity();
    else
        return std::numeric_limits<T>::lowest();
}

/// NaN if any is.
template <typename T>
struct Largest {
    using Element = T;
    static constexpr T none = least_of<T>();
    template <typename V>
    CAIRN_INLINE static V join(V a, V b) {
        const V larger = a > b ? a : b;
        if constexpr (std::is_floating_point_v<T>)
            return a == a ? larger : a;
        else
            return larger;
    }
    static T finish(T x, std::int64_t) { return x; }
};

constexpr int most_columns = 512;

/// One number out of many, by a function that joins two in any order.
template <typename Op>
struct Folding {
    using Element = typename Op::Element;
    using Result = Element;
    using Stored = Element;
    using V = Wide<Element>;
    static constexpr int n = wide_lanes<Element>;

    static Result join(Result a, Result b) { return Op::join(a, b); }
    static Stored finish(Result x, std::int64_t terms) { return Op::finish(x, terms); }

    /// What a block comes to in each lane: four run side by side, which hides the latency of one.
    CAIRN_INLINE static V lanes_of(const Element* x, std::int64_t count) {
        V a = wide_splat(Op::none), b = a, c = a, d = a;
        std::int64_t i = 0;
        for (; i + 4 * n <= count; i += 4 * n) {
            a = Op::join(a, wide_load(x + i));
            b = Op::join(b, wide_load(x + i + n));
            c = Op::join(c, wide_load(x + i + 2 * n));
            d = Op::join(d, wide_load(x + i + 3 * n));
        }
        for (; i + n <= count; i += n) a = Op::join(a, wide_load(x + i));
        if (i < count) b = Op::join(b, wide_load_part(x + i, count - i, Op::none));
        return Op::join(Op::join(a, b), Op::join(c, d));
    }

    /// Blocks are joined one after another, which keeps small terms from drowning in a large sum.
    struct Row {
        V total = wide_splat(Op::none);

        explicit Row(std::int64_t) {}
        CAIRN_INLINE void take(const Element* x, std::int64_t, std::int64_t count) {
            total = Op::join(total, lanes_of(x, count));
        }
        template <typename Read>
        Result result(Read) const {
            return join_lanes<Element>(total, [](V x, V y) { return Op::join(x, y); });
        }
    };

    struct Columns {
        void start(std::int64_t count) {
            for (std::int64_t j = 0; j < count; j += n) wide_store(results + j, wide_splat(Op::none));
        }
        /// Rows of `count` columns, the first being number `step`; `ahead` elements further lies what is read next.
        CAIRN_INLINE void take(const Element* const* runs, int rows, std::int64_t, std::int64_t count,
                               std::int64_t ahead) {
            if (rows == 8) return fold<8>(runs, count, ahead);
            if ((rows & 4) != 0) fold<4>(runs, count, ahead), runs += 4;
            if ((rows & 2) != 0) fold<2>(runs, count, ahead), runs += 2;
            if ((rows & 1) != 0) fold<1>(runs, count, ahead);
        }

        Result at(std::int64_t j) const { return results[j]; }

    private:
        alignas(64) Element results[most_columns];

        template <int rows, typename Load>
        CAIRN_INLINE static V joined(const Element* const* runs, Load load) {
            if constexpr (rows == 1)
                return load(runs[0]);
            else
                return Op::join(joined<rows / 2>(runs, load), joined<rows / 2>(runs + rows / 2, load));
        }
        template <int rows>
        void fold(const Element* const* runs, std::int64_t count, std::int64_t ahead) {
            std::int64_t j = 0;
            for (; j + n <= count; j += n) {
                if (ahead != 0)
                    for (int k = 0; k < rows; ++k) __builtin_prefetch(runs[k] + ahead + j, 0, 2);
                const V all = joined<rows>(
                    runs, [&](const Element* run) __attribute__((always_inline)) { return wide_load(run + j); });
                wide_store(results + j, Op::join(wide_load(results + j), all));
            }
            if (j == count) return;
            const V rest = joined<rows>(
                runs, [&](const Element* run)
                          __attribute__((always_inline)) { return wide_load_part(run + j, count - j, Op::none); });
            wide_store(results + j, Op::join(wide_load(results + j), rest));
        }
    };
};

/// The place of the first element that is the largest, or of the first NaN.
template <typename T>
struct PlaceOfLargest {
    using Element = T;
    using V = Wide<T>;
    using Place = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    using P = Wide<Place>;
    static constexpr int n = wide_lanes<T>;

    struct Result {
        T value;
        Place place;
    };
    using Stored = std::int32_t;

    /// x, which comes later, takes the place of what it beats; nothing beats a NaN. Each comparison is told where it is
    /// used: as a value it would be a vector, and compared again.
    CAIRN_INLINE static void look(V& best, P& place, V x, P at) {
        if constexpr (std::is_floating_point_v<T>) {
            const P later = x <= best ? place : at;
            const V larger = x <= best ? best : x;
            place = best == best ? later : place;
            best = best == best ? larger : best;
        } else {
            place = x > best ? at : place;
            best = x > best ? x : best;
        }
    }
    static bool beats(T x, T best) { return !(x <= best) && best == best; }
    static Result join(Result a, Result b) {
        const bool is_tie = a.value == b.value || (a.value != a.value && b.value != b.value);
        if (is_tie) return a.place < b.place ? a : b;
        return beats(b.value, a.value) ? b : a;
    }
    static Stored finish(Result x, std::int64_t) { return static_cast<Stored>(x.place); }

    /// Each lane knows its largest element and in which block that was; the place is looked for once, at the end.
    struct Row {
        V best = wide_splat(least_of<T>());
        P block;

        explicit Row(std::int64_t begin) : block(wide_splat(static_cast<Place>(begin))) {}
        CAIRN_INLINE void take(const T* x, std::int64_t first, std::int64_t count) {
            look(best, block, Folding<Largest<T>>::lanes_of(x, count), wide_splat(static_cast<Place>(first)));
        }
        /// read(first): the block that began there, once more.
        template <typename Read>
        Result result(Read read) const {
            const T largest = join_lanes<T>(best, [](V a, V b) { return Largest<T>::join(a, b); });
            return largest == largest ? found<false>(largest, read) : found<true>(largest, read);
        }

    private:
        /// `at` where x is `wanted`, or NaN as that is.
        template <bool is_nan>
        CAIRN_INLINE static P chosen(V x, V wanted, P at, P otherwise) {
            if constexpr (is_nan)
                return x == x ? otherwise : at;
            else
                return x == wanted ? at : otherwise;
        }
        /// Of the lanes whose element is the largest the first block.
        template <bool is_nan>
        Place first_block(T largest) const {
            const P none = wide_splat(std::numeric_limits<Place>::max());
            return least_lane(chosen<is_nan>(best, wide_splat(largest), block, none));
        }
        /// Of the first element that is `wanted`, which is one of them: from the last to the first.
        template <bool is_nan>
        static Place first_place(const T* x, std::int64_t count, T wanted) {
            const V all = wide_splat(wanted);
            P lane, place = wide_splat(std::numeric_limits<Place>::max());
            for (int i = 0; i < n; ++i) lane[i] = static_cast<Place>(i);
            std::int64_t i = count / n * n;
            if (i < count) {
                const V rest = wide_load_part(x + i, count - i, least_of<T>());
                place = chosen<is_nan>(rest, all, lane + static_cast<Place>(i), place);
            }
            while (i > 0) {
                i -= n;
                place = chosen<is_nan>(wide_load(x + i), all, lane + static_cast<Place>(i), place);
            }
            return least_lane(place);
        }
        CAIRN_INLINE static Place least_lane(P places) {
            return join_lanes<Place>(places, [](P a, P b) { return a < b ? a : b; });
        }
        template <bool is_nan, typename Read>
        CAIRN_INLINE Result found(T largest, Read read) const {
            const Place first = first_block<is_nan>(largest);
            const auto [x, count] = read(first);
            return {largest, static_cast<Place>(first + first_place<is_nan>(x, count, largest))};
        }
    };

    struct Columns {
        void start(std::int64_t count) {
            for (std::int64_t j = 0; j < count; ++j) best[j] = least_of<T>(), place[j] = 0;
        }
        Result at(std::int64_t j) const { return {best[j], place[j]}; }
        void take(const T* const* runs, int rows, std::int64_t step, std::int64_t count, std::int64_t ahead) {
            std::int64_t j = 0;
            for (; j + n <= count; j += n) {
                V b = wide_load(best + j);
                P p = wide_load(place + j);
                for (int k = 0; k < rows; ++k) {
                    __builtin_prefetch(runs[k] + ahead + j, 0, 2);
                    const V x = wide_load(runs[k] + j);
                    look(b, p, x, wide_splat(static_cast<Place>(step + k)));
                }
                wide_store(best + j, b);
                wide_store(place + j, p);
            }
            for (; j < count; ++j)
                for (int k = 0; k < rows; ++k)
                    if (beats(runs[k][j], best[j])) best[j] = runs[k][j], place[j] = static_cast<Place>(step + k);
        }

    private:
        alignas(64) T best[most_columns];
        alignas(64) Place place[most_columns];
    };
};

}  // namespace CAIRN_LEVEL
