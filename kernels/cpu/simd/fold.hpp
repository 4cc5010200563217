#pragma once

#include "kernels/cpu/simd/half.hpp"
#include "kernels/cpu/simd/joined_lanes.hpp"

#include <bit>
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
        if constexpr (!std::is_floating_point_v<T>)
            return a > b ? a : b;
        else if constexpr (std::is_same_v<V, T>)
            return a > b || a != a ? a : b;
        else
            return a == a ? quick_max(a, b) : a;
    }
};

constexpr int most_columns = 512;

/// Elements side by side in memory: T, or f16 and bf16, which become floats as they are loaded.
enum class Lies : std::uint8_t { as_it_is, f16, bf16 };

/// f(a pointer to the elements, of their type).
template <typename T, typename F>
CAIRN_INLINE void as_it_lies(Lies lies, const T* x, F f) {
    if constexpr (std::is_same_v<T, float>) {
        if (widens_in_registers<F16> && lies == Lies::f16) return f(reinterpret_cast<const F16*>(x));
        if (lies == Lies::bf16) return f(reinterpret_cast<const BF16*>(x));
    }
    f(x);
}
/// One number out of many, by a function that joins two in any order.
template <typename Op>
struct Folding {
    using Element = typename Op::Element;
    using Result = Element;
    using Out = Element;  ///< of a Result, what is stored
    using V = Wide<Element>;
    static constexpr int n = wide_lanes<Element>;

    static Result join(Result a, Result b) { return Op::join(a, b); }
    static Out out(Result x) { return x; }

    /// Of a column in each lane.
    struct Lanes {
        V all = wide_splat(Op::none);

        CAIRN_INLINE void take(V x, std::int64_t) { all = Op::join(all, x); }
        CAIRN_INLINE void join(const Lanes& later) { all = Op::join(all, later.all); }
        CAIRN_INLINE V result() const { return all; }
    };

    /// What a block comes to in each lane: four run side by side, which hides the latency of one.
    template <typename Memory>
    CAIRN_INLINE static V lanes_of(const Memory* x, std::int64_t count) {
        V a = wide_splat(Op::none), b = a, c = a, d = a;
        std::int64_t i = 0;
        for (; i + 4 * n <= count; i += 4 * n) {
            a = Op::join(a, vector_at(x + i));
            b = Op::join(b, vector_at(x + i + n));
            c = Op::join(c, vector_at(x + i + 2 * n));
            d = Op::join(d, vector_at(x + i + 3 * n));
        }
        for (; i + n <= count; i += n) a = Op::join(a, vector_at(x + i));
        if (i < count)
            b = Op::join(b, count < n ? vector_at(x, count, wide_splat(Op::none))
                                      : last_lanes_of<Element>(vector_at(x + count - n), count - i, Op::none));
        return Op::join(Op::join(a, b), Op::join(c, d));
    }
    CAIRN_INLINE static V lanes_of(Lies lies, const Element* x, std::int64_t count) {
        V all;
        as_it_lies(lies, x, [&](const auto* p) { all = lanes_of(p, count); });
        return all;
    }

    /// Blocks are joined one after another, which keeps small terms from drowning in a large sum.
    struct Row {
        V total = wide_splat(Op::none);

        explicit Row(std::int64_t) {}
        CAIRN_INLINE void take(Lies lies, const Element* x, std::int64_t, std::int64_t count) {
            total = Op::join(total, lanes_of(lies, x, count));
        }
        template <typename Read>
        Result result(Lies, Read) const {
            return join_lanes<Element>(total, [](V x, V y) { return Op::join(x, y); });
        }
    };

    /// Whether rows so long take less by fold_rows than as columns of what is transposed.
    static bool are_rows(std::int64_t length) {
        return length % n == 0 || length * static_cast<std::int64_t>(sizeof(Element)) >= 96;
    }
    /// results[k] of the row at x + k * step, for as many rows as there are lanes: what Row comes to, whose lanes are
    /// joined at once.
    static void fold_rows(Lies lies, const Element* x, std::int64_t step, std::int64_t length, Out* results) {
        const auto join = [](V a, V b) __attribute__((always_inline)) { return Op::join(a, b); };
        V rows[n];
        as_it_lies(lies, x, [&](const auto* memory) {
            for (int k = 0; k < n; ++k) rows[k] = join(wide_splat(Op::none), lanes_of(memory + k * step, length));
        });
        wide_store(results, join_in_order<Element>(rows, join));
    }

    struct Columns {
        void start(std::int64_t count) {
            for (std::int64_t j = 0; j < count; j += n) wide_store(results + j, wide_splat(Op::none));
        }
        /// Rows of `count` columns, the first being number `step`, beside those before where it is not the first of
        /// all; `ahead` elements further lies what is read next.
        CAIRN_INLINE void take(Lies lies, const Element* const* runs, int rows, std::int64_t, std::int64_t count,
                               std::int64_t ahead, bool are_first) {
            as_it_lies(lies, runs[0], [&](const auto* memory) {
                using Memory = std::remove_cvref_t<decltype(*memory)>;
                if (rows == 8) return fold<8, Memory>(runs, count, ahead, are_first);
                const Element* const* at = runs;
                const auto rest = [&]<int some>(std::integral_constant<int, some>) {
                    if ((rows & some) == 0) return;
                    fold<some, Memory>(at, count, ahead, are_first && at == runs);
                    at += some;
                };
                rest(std::integral_constant<int, 4>());
                rest(std::integral_constant<int, 2>());
                rest(std::integral_constant<int, 1>());
            });
        }

        Result at(std::int64_t j) const { return results[j]; }
        const Out* out() const { return results; }
        /// `count` results of `window` columns each, which begin `step` apart: one or two, or as many.
        const Out* windows(std::int64_t count, std::int64_t window, std::int64_t step) {
            if (step > 2) {
                for (std::int64_t j = 0; j < count; ++j)
                    joined_windows[j] = join_lanes<Element>(lanes_of(results + j * step, window),
                                                            [](V x, V y) { return Op::join(x, y); });
                return joined_windows;
            }
            for (std::int64_t j = 0; j < count; j += n) {
                const Element* at = results + j * step;
                // What was just stored is loaded as it was: what lies across two stores would be waited for.
                V all = wide_load(at);
                if (step == 2) all = joined_pairs(all, wide_load(at + n), std::make_integer_sequence<int, n>());
                for (std::int64_t k = step; k < window; ++k)
                    all = Op::join(all, step == 1 ? wide_load(at + k) : load_every_second(at + k));
                wide_store(joined_windows + j, all);
            }
            return joined_windows;
        }

        /// `count` results of columns that lie `groups` times side by side.
        const Out* joined_groups(std::int64_t count, std::int64_t groups) {
            for (std::int64_t j = 0; j < count; j += n) {
                V all = wide_load(results + j);
                for (std::int64_t k = 1; k < groups; ++k) all = Op::join(all, wide_load(results + k * count + j));
                wide_store(joined_windows + j, all);
            }
            return joined_windows;
        }

    private:
        template <int... i>
        CAIRN_INLINE static V joined_pairs(V a, V b, std::integer_sequence<int, i...>) {
            return Op::join(__builtin_shufflevector(a, b, (2 * i)...), __builtin_shufflevector(a, b, (2 * i + 1)...));
        }
        // Vectors may reach behind the last column.
        alignas(64) Element results[most_columns + 3 * n], joined_windows[most_columns];

        template <int rows, typename Load>
        CAIRN_INLINE static V joined(const Element* const* runs, Load load) {
            if constexpr (rows == 1)
                return load(runs[0]);
            else
                return Op::join(joined<rows / 2>(runs, load), joined<rows / 2>(runs + rows / 2, load));
        }
        template <int rows, typename Memory>
        void fold(const Element* const* runs, std::int64_t count, std::int64_t ahead, bool are_first) {
            const auto memory = [](const Element* run) __attribute__((always_inline)) {
                return reinterpret_cast<const Memory*>(run);
            };
            std::int64_t j = 0;
            for (; j + n <= count; j += n) {
                if (ahead != 0)
                    for (int k = 0; k < rows; ++k) __builtin_prefetch(memory(runs[k]) + ahead + j, 0, 2);
                const V all = joined<rows>(
                    runs, [&](const Element* run)
                              __attribute__((always_inline)) { return vector_at(memory(run) + j); });
                wide_store(results + j, are_first ? all : Op::join(wide_load(results + j), all));
            }
            if (j == count) return;
            const V rest = joined<rows>(
                runs, [&](const Element* run) __attribute__((always_inline)) {
                    return vector_at(memory(run) + j, count - j, wide_splat(Op::none));
                });
            wide_store(results + j, are_first ? rest : Op::join(wide_load(results + j), rest));
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
    using Out = Place;

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
    static Result join(Result a, Result b) {
        const bool is_tie = a.value == b.value || (a.value != a.value && b.value != b.value);
        if (is_tie) return a.place < b.place ? a : b;
        return !(b.value <= a.value) && a.value == a.value ? b : a;
    }
    static Out out(Result x) { return x.place; }

    struct Lanes {
        V best = wide_splat(least_of<T>());
        P place{};

        CAIRN_INLINE void take(V x, std::int64_t i) { look(best, place, x, wide_splat(static_cast<Place>(i))); }
        CAIRN_INLINE void join(const Lanes& later) { look(best, place, later.best, later.place); }
        CAIRN_INLINE P result() const { return place; }
    };

    /// Each lane knows its largest element and in which block that was; the place is looked for once, at the end.
    struct Row {
        V best = wide_splat(least_of<T>());
        P block;
        std::int64_t begin, last;  ///< of the row, of its last block

        explicit Row(std::int64_t first) : block(wide_splat(static_cast<Place>(first))), begin(first), last(first) {}
        CAIRN_INLINE void take(Lies lies, const T* x, std::int64_t first, std::int64_t count) {
            look(best, block, Folding<Largest<T>>::lanes_of(lies, x, count), wide_splat(static_cast<Place>(first)));
            last = first;
        }
        /// read(first): the block that began there, once more, lying as those did.
        template <typename Read>
        Result result(Lies lies, Read read) const {
            const T largest = join_lanes<T>(best, [](V a, V b) { return Largest<T>::join(a, b); });
            return largest == largest ? found<false>(largest, lies, read) : found<true>(largest, lies, read);
        }

    private:
        /// The least place of the lanes where `is_there`.
        CAIRN_INLINE static Place least_lane(P is_there, P places) {
            const P none = wide_splat(std::numeric_limits<Place>::max());
            return join_lanes<Place>(is_there != 0 ? places : none, [](P a, P b) { return a < b ? a : b; });
        }
        template <bool is_nan, typename Read>
        CAIRN_INLINE Result found(T largest, Lies lies, Read read) const {
            const Place first =
                last == begin ? static_cast<Place>(begin) : least_lane(is_it<is_nan>(best, wide_splat(largest)), block);
            const auto [x, count] = read(first);
            Place place = first;
            as_it_lies(lies, x, [&](const auto* memory) { place += first_place<is_nan>(memory, count, largest); });
            return {largest, place};
        }
    };

    static bool are_rows(std::int64_t length) { return length * static_cast<std::int64_t>(sizeof(T)) >= 128; }
    /// As Folding does: what is largest in each row is looked for then.
    static void fold_rows(Lies lies, const T* x, std::int64_t step, std::int64_t length, Out* results) {
        alignas(64) T largest[n];
        Folding<Largest<T>>::fold_rows(lies, x, step, length, largest);
        as_it_lies(lies, x, [&](const auto* memory) {
            for (int k = 0; k < n; ++k) {
                const auto* const row = memory + k * step;
                results[k] = largest[k] == largest[k] ? first_place<false>(row, length, largest[k])
                                                      : first_place<true>(row, length, largest[k]);
            }
        });
    }

    struct Columns {
        // Vectors may reach behind the last column.
        void start(std::int64_t count) {
            for (std::int64_t j = 0; j < count; j += n) {
                wide_store(best + j, wide_splat(least_of<T>()));
                wide_store(place + j, P{});
            }
        }
        Result at(std::int64_t j) const { return {best[j], place[j]}; }
        const Out* out() const { return place; }
        const Out* windows(std::int64_t, std::int64_t, std::int64_t) const { return place; }
        const Out* joined_groups(std::int64_t, std::int64_t) const { return place; }
        void take(Lies lies, const T* const* runs, int rows, std::int64_t step, std::int64_t count, std::int64_t ahead,
                  bool are_first) {
            if (are_first) start(count);
            as_it_lies(lies, runs[0], [&](const auto* memory) {
                using Memory = std::remove_cvref_t<decltype(*memory)>;
                const auto look_down = [&](std::int64_t j, auto load) __attribute__((always_inline)) {
                    V b = wide_load(best + j);
                    P p = wide_load(place + j);
                    for (int k = 0; k < rows; ++k)
                        look(b, p, load(reinterpret_cast<const Memory*>(runs[k]) + j),
                             wide_splat(static_cast<Place>(step + k)));
                    wide_store(best + j, b);
                    wide_store(place + j, p);
                };
                std::int64_t j = 0;
                for (; j + n <= count; j += n)
                    look_down(
                        j, [&](const Memory* run) __attribute__((always_inline)) {
                            __builtin_prefetch(run + ahead, 0, 2);
                            return vector_at(run);
                        });
                if (j < count)
                    look_down(
                        j, [&](const Memory* run) __attribute__((always_inline)) {
                            return vector_at(run, count - j, wide_splat(least_of<T>()));
                        });
            });
        }

    private:
        alignas(64) T best[most_columns];
        alignas(64) Place place[most_columns];
    };

private:
    /// True where x is `wanted`, or NaN as that is.
    template <bool is_nan>
    CAIRN_INLINE static P is_it(V x, V wanted) {
        if constexpr (is_nan)
            return x != x;
        else
            return x == wanted;
    }
    /// Of the first element that is `wanted`, which is one of them: some vectors are looked at before it is asked
    /// whether it was there, which processors cannot foresee.
    template <bool is_nan, typename Memory>
    CAIRN_INLINE static Place first_place(const Memory* x, std::int64_t count, T wanted) {
        constexpr std::int64_t bits_each = sizeof(T) / 4, together = 64 / bits_each;
        const V all = wide_splat(wanted);
        const auto lanes_at = [&](V at) __attribute__((always_inline)) {
            return std::uint64_t{true_lanes(std::bit_cast<I32>(is_it<is_nan>(at, all)))};
        };
        for (std::int64_t begin = 0; begin < count; begin += together) {
            const std::int64_t left = count - begin, end = left < together ? left : together;
            const Memory* const from = x + begin;
            std::uint64_t found = 0;
            std::int64_t i = 0;
            for (; i + n <= end; i += n) found |= lanes_at(vector_at(from + i)) << (i * bits_each);
            if (i < end) {
                // The last vector lies over the one before, where there is one.
                const std::int64_t over = i > 0 ? n - (end - i) : 0;
                const V rest = i > 0 ? vector_at(from + i - over) : vector_at(from, end, wide_splat(least_of<T>()));
                found |= lanes_at(rest) << ((i - over) * bits_each);
            }
            if (found != 0) return static_cast<Place>(begin + std::countr_zero(found) / bits_each);
        }
        return 0;
    }
};

/// The same of bytes along a row: the largest of each block is compared with those before, and looked for once.
template <typename T>
struct PlaceOfLargestByte {
    static_assert(sizeof(T) == 1);
    using Element = T;
    using Out = std::int32_t;
    using Result = Out;
    static constexpr int n = wide_lanes<T>;

    static Out out(Result x) { return x; }

    struct Row {
        int best = -1000;
        std::int64_t block = 0;

        explicit Row(std::int64_t begin) : block(begin) {}
        CAIRN_INLINE void take(Lies, const T* x, std::int64_t first, std::int64_t count) {
            const int largest =
                join_lanes<T>(Folding<Largest<T>>::lanes_of(x, count), Largest<T>::template join<Wide<T>>);
            if (largest > best) best = largest, block = first;
        }
        template <typename Read>
        Result result(Lies, Read read) const {
            const auto [x, count] = read(block);
            std::int64_t i = 0;
            for (; i + n <= count; i += n) {
                const auto found = wide_load(x + i) == wide_splat(static_cast<T>(best));
                if (is_any_true(std::bit_cast<I32>(found) != 0)) break;
            }
            while (x[i] != static_cast<T>(best)) ++i;
            return static_cast<Result>(block + i);
        }
    };
};

}  // namespace CAIRN_LEVEL
