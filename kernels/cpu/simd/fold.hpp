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

    /// Four run side by side, which hides the latency of one; they are joined after each block, which keeps small terms
    /// from drowning in a large sum.
    struct Row {
        V total = wide_splat(Op::none);

        explicit Row(std::int64_t) {}
        CAIRN_INLINE void take(const Element* x, std::int64_t, std::int64_t count) {
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
            total = Op::join(total, Op::join(Op::join(a, b), Op::join(c, d)));
        }
        Result result() const {
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

    struct Row {
        static constexpr int sets = 4;
        V best[sets];
        P place[sets];

        explicit Row(std::int64_t begin) {
            for (int s = 0; s < sets; ++s) {
                best[s] = wide_splat(least_of<T>());
                for (int i = 0; i < n; ++i) place[s][i] = static_cast<Place>(begin + s * n + i);
            }
        }
        CAIRN_INLINE void take(const T* x, std::int64_t first, std::int64_t count) {
            P lane;
            for (int i = 0; i < n; ++i) lane[i] = static_cast<Place>(i);
            std::int64_t i = 0;
            for (; i + sets * n <= count; i += sets * n) {
#pragma GCC unroll 4
                for (int s = 0; s < sets; ++s)
                    look(best[s], place[s], wide_load(x + i + s * n), lane + static_cast<Place>(first + i + s * n));
            }
            for (; i + n <= count; i += n)
                look(best[0], place[0], wide_load(x + i), lane + static_cast<Place>(first + i));
            if (i < count)
                look(best[1], place[1], wide_load_part(x + i, count - i, least_of<T>()),
                     lane + static_cast<Place>(first + i));
        }
        Result result() const {
            Result result{best[0][0], place[0][0]};
            for (int s = 0; s < sets; ++s)
                for (int i = 0; i < n; ++i) result = join(result, {best[s][i], place[s][i]});
            return result;
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
