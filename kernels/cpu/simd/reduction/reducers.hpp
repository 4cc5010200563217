#pragma once

#include "kernels/cpu/simd/vector/half.hpp"
#include "kernels/cpu/simd/vector/horizontal_reduction.hpp"

#include <bit>
#include <limits>
#include <type_traits>

/// The reduction operations on loaded elements: along rows and across columns.
namespace CAIRN_LEVEL {

template <typename T>
struct Sum {
    using Element = T;
    static constexpr T identity = 0;
    template <typename V>
    CAIRN_INLINE static V combine(V a, V b) {
        return a + b;
    }
};

template <typename T>
constexpr T lowest_value() {
    if constexpr (std::is_floating_point_v<T>)
        return -std::numeric_limits<T>::infinity();
    else
        return std::numeric_limits<T>::lowest();
}

/// NaN if any element is NaN.
template <typename T>
struct Max {
    using Element = T;
    static constexpr T identity = lowest_value<T>();
    template <typename V>
    CAIRN_INLINE static V combine(V a, V b) {
        if constexpr (!std::is_floating_point_v<T>)
            return a > b ? a : b;
        else if constexpr (std::is_same_v<V, T>)
            return a > b || a != a ? a : b;
        else
            return a == a ? quick_max(a, b) : a;
    }
};

constexpr int max_columns = 512;

/// How contiguous elements are stored: as T, or as f16 or bf16, which are widened as they are loaded.
enum class StorageType : std::uint8_t { unconverted, f16, bf16 };

/// Calls f(x) with x as a pointer to the stored element type.
template <typename T, typename F>
CAIRN_INLINE void with_storage_type(StorageType lies, const T* x, F f) {
    if constexpr (std::is_same_v<T, float>) {
        if (widens_in_registers<F16> && lies == StorageType::f16) return f(reinterpret_cast<const F16*>(x));
        if (lies == StorageType::bf16) return f(reinterpret_cast<const BF16*>(x));
    }
    f(x);
}
/// Reduction to a number by an associative and commutative operation.
template <typename Op>
struct Reducer {
    using Element = typename Op::Element;
    using Result = Element;
    using Out = Element;  ///< the stored form of a Result
    using V = Vec<Element>;
    static constexpr int n = vec_lanes<Element>;

    static Result combine(Result a, Result b) { return Op::combine(a, b); }
    static Out out(Result x) { return x; }

    /// Reduces one column in each lane.
    struct LaneAccumulator {
        V all = vec_splat(Op::identity);

        CAIRN_INLINE void accumulate(V x, std::int64_t) { all = Op::combine(all, x); }
        CAIRN_INLINE void combine(const LaneAccumulator& later) { all = Op::combine(all, later.all); }
        CAIRN_INLINE V result() const { return all; }
    };

    /// Reduces a block lane by lane, with four independent accumulators to hide latency.
    template <typename Memory>
    CAIRN_INLINE static V lanes_of(const Memory* x, std::int64_t count) {
        V a = vec_splat(Op::identity), b = a, c = a, d = a;
        std::int64_t i = 0;
        for (; i + 4 * n <= count; i += 4 * n) {
            a = Op::combine(a, vector_at(x + i));
            b = Op::combine(b, vector_at(x + i + n));
            c = Op::combine(c, vector_at(x + i + 2 * n));
            d = Op::combine(d, vector_at(x + i + 3 * n));
        }
        for (; i + n <= count; i += n) a = Op::combine(a, vector_at(x + i));
        if (i < count)
            b = Op::combine(b, count < n ? vector_at(x, count, vec_splat(Op::identity))
                                         : last_lanes_of<Element>(vector_at(x + count - n), count - i, Op::identity));
        return Op::combine(Op::combine(a, b), Op::combine(c, d));
    }
    CAIRN_INLINE static V lanes_of(StorageType lies, const Element* x, std::int64_t count) {
        V all;
        with_storage_type(lies, x, [&](const auto* p) { all = lanes_of(p, count); });
        return all;
    }

    /// Blocks are combined one after another, so that small terms are not lost in a large sum.
    struct RowAccumulator {
        V total = vec_splat(Op::identity);

        explicit RowAccumulator(std::int64_t) {}
        CAIRN_INLINE void accumulate(StorageType lies, const Element* x, std::int64_t, std::int64_t count) {
            total = Op::combine(total, lanes_of(lies, x, count));
        }
        template <typename Read>
        Result result(StorageType, Read) const {
            return reduce_lanes(total, [](V x, V y) { return Op::combine(x, y); });
        }
    };

    /// True if rows of this length are faster by reduce_adjacent_rows than transposed to columns.
    static bool are_rows(std::int64_t length) {
        return length % n == 0 || length * static_cast<std::int64_t>(sizeof(Element)) >= 96;
    }
    /// results[k] = the reduction of the row at x + k * step, for as many rows as there are lanes. Equals
    /// RowAccumulator, but the horizontal reductions are done together.
    static void reduce_adjacent_rows(StorageType lies, const Element* x, std::int64_t step, std::int64_t length,
                                     Out* results) {
        const auto combine = [](V a, V b) __attribute__((always_inline)) { return Op::combine(a, b); };
        V rows[n];
        with_storage_type(lies, x, [&](const auto* memory) {
            for (int k = 0; k < n; ++k) rows[k] = combine(vec_splat(Op::identity), lanes_of(memory + k * step, length));
        });
        vec_store(results, reduce_vectors_in_order(rows, combine));
    }

    struct ColumnAccumulator {
        void start(std::int64_t count) {
            for (std::int64_t j = 0; j < count; j += n) vec_store(results + j, vec_splat(Op::identity));
        }
        /// Accumulates rows of `count` columns, the first being row `step`; `are_first`: there are no rows before them.
        /// `ahead`: distance in elements to the rows read next.
        CAIRN_INLINE void accumulate(StorageType lies, const Element* const* runs, int rows, std::int64_t,
                                     std::int64_t count, std::int64_t ahead, bool are_first) {
            with_storage_type(lies, runs[0], [&](const auto* memory) {
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
        /// Combines `window` columns for each of `count` results; windows begin `step` apart: one or two, or `window`.
        const Out* windows(std::int64_t count, std::int64_t window, std::int64_t step) {
            if (step > 2) {
                for (std::int64_t j = 0; j < count; ++j)
                    combined_windows[j] =
                        reduce_lanes(lanes_of(results + j * step, window), [](V x, V y) { return Op::combine(x, y); });
                return combined_windows;
            }
            for (std::int64_t j = 0; j < count; j += n) {
                const Element* at = results + j * step;
                // Loads the vectors as they were just stored: a load across two stores would defeat store forwarding.
                V all = vec_load(at);
                if (step == 2) all = combine_pairs(all, vec_load(at + n));
                for (std::int64_t k = step; k < window; ++k)
                    all = Op::combine(all, step == 1 ? vec_load(at + k) : load_every_second(at + k));
                vec_store(combined_windows + j, all);
            }
            return combined_windows;
        }

        /// Combines the `groups` repetitions of `count` adjacent columns.
        const Out* combine_groups(std::int64_t count, std::int64_t groups) {
            for (std::int64_t j = 0; j < count; j += n) {
                V all = vec_load(results + j);
                for (std::int64_t k = 1; k < groups; ++k) all = Op::combine(all, vec_load(results + k * count + j));
                vec_store(combined_windows + j, all);
            }
            return combined_windows;
        }

    private:
        CAIRN_INLINE static V combine_pairs(V a, V b) {
            return Op::combine(every_second<0, 1>(a, b), every_second<1, 1>(a, b));
        }
        // Vectors may extend past the last column.
        alignas(64) Element results[max_columns + 3 * n], combined_windows[max_columns];

        template <int rows, typename Load>
        CAIRN_INLINE static V joined(const Element* const* runs, Load load) {
            if constexpr (rows == 1)
                return load(runs[0]);
            else
                return Op::combine(joined<rows / 2>(runs, load), joined<rows / 2>(runs + rows / 2, load));
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
                vec_store(results + j, are_first ? all : Op::combine(vec_load(results + j), all));
            }
            if (j == count) return;
            const V rest = joined<rows>(
                runs, [&](const Element* run) __attribute__((always_inline)) {
                    return vector_at(memory(run) + j, count - j, vec_splat(Op::identity));
                });
            vec_store(results + j, are_first ? rest : Op::combine(vec_load(results + j), rest));
        }
    };
};

/// Argmax: the index of the first largest element, or of the first NaN.
template <typename T>
struct ArgMax {
    using Element = T;
    using V = Vec<T>;
    using Index = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    using P = Vec<Index>;
    static constexpr int n = vec_lanes<T>;

    struct Result {
        T value;
        Index index;
    };
    using Out = Index;

    /// Updates the maximum with the later element x; NaN is never replaced. Comparisons are written at each use: stored
    /// in a variable, the mask would become a vector and be compared again.
    CAIRN_INLINE static void update_max(V& best, P& index, V x, P at) {
        if constexpr (std::is_floating_point_v<T>) {
            const P later = x <= best ? index : at;
            const V larger = x <= best ? best : x;
            index = best == best ? later : index;
            best = best == best ? larger : best;
        } else {
            index = x > best ? at : index;
            best = x > best ? x : best;
        }
    }
    static Result combine(Result a, Result b) {
        const bool is_tie = a.value == b.value || (a.value != a.value && b.value != b.value);
        if (is_tie) return a.index < b.index ? a : b;
        return !(b.value <= a.value) && a.value == a.value ? b : a;
    }
    static Out out(Result x) { return x.index; }

    struct LaneAccumulator {
        V best = vec_splat(lowest_value<T>());
        P index{};

        CAIRN_INLINE void accumulate(V x, std::int64_t i) {
            update_max(best, index, x, vec_splat(static_cast<Index>(i)));
        }
        CAIRN_INLINE void combine(const LaneAccumulator& later) { update_max(best, index, later.best, later.index); }
        CAIRN_INLINE P result() const { return index; }
    };

    /// Each lane keeps its maximum and the block of it; the index is searched once, at the end.
    struct RowAccumulator {
        V best = vec_splat(lowest_value<T>());
        P block;
        std::int64_t begin, last;  ///< begin of the row, and of its last block

        explicit RowAccumulator(std::int64_t first)
            : block(vec_splat(static_cast<Index>(first))), begin(first), last(first) {}
        CAIRN_INLINE void accumulate(StorageType lies, const T* x, std::int64_t first, std::int64_t count) {
            update_max(best, block, Reducer<Max<T>>::lanes_of(lies, x, count), vec_splat(static_cast<Index>(first)));
            last = first;
        }
        /// read(first): loads the block that began there again, with the same storage type.
        template <typename Read>
        Result result(StorageType lies, Read read) const {
            const T largest = reduce_lanes(best, [](V a, V b) { return Max<T>::combine(a, b); });
            return largest == largest ? found<false>(largest, lies, read) : found<true>(largest, lies, read);
        }

    private:
        /// The least index among the lanes where `is_there`.
        CAIRN_INLINE static Index least_lane(P is_there, P indices) {
            const P identity = vec_splat(std::numeric_limits<Index>::max());
            return reduce_lanes(is_there != 0 ? indices : identity, [](P a, P b) { return a < b ? a : b; });
        }
        template <bool is_nan, typename Read>
        CAIRN_INLINE Result found(T largest, StorageType lies, Read read) const {
            const Index first = last == begin ? static_cast<Index>(begin)
                                              : least_lane(equals_target<is_nan>(best, vec_splat(largest)), block);
            const auto [x, count] = read(first);
            Index index = first;
            with_storage_type(lies, x,
                              [&](const auto* memory) { index += first_index<is_nan>(memory, count, largest); });
            return {largest, index};
        }
    };

    static bool are_rows(std::int64_t length) { return length * static_cast<std::int64_t>(sizeof(T)) >= 128; }
    /// As Reducer does; the maximum of each row is then searched for.
    static void reduce_adjacent_rows(StorageType lies, const T* x, std::int64_t step, std::int64_t length,
                                     Out* results) {
        alignas(64) T largest[n];
        Reducer<Max<T>>::reduce_adjacent_rows(lies, x, step, length, largest);
        with_storage_type(lies, x, [&](const auto* memory) {
            for (int k = 0; k < n; ++k) {
                const auto* const row = memory + k * step;
                results[k] = largest[k] == largest[k] ? first_index<false>(row, length, largest[k])
                                                      : first_index<true>(row, length, largest[k]);
            }
        });
    }

    struct ColumnAccumulator {
        // Vectors may extend past the last column.
        void start(std::int64_t count) {
            for (std::int64_t j = 0; j < count; j += n) {
                vec_store(best + j, vec_splat(lowest_value<T>()));
                vec_store(index + j, P{});
            }
        }
        Result at(std::int64_t j) const { return {best[j], index[j]}; }
        const Out* out() const { return index; }
        const Out* windows(std::int64_t, std::int64_t, std::int64_t) const { return index; }
        const Out* combine_groups(std::int64_t, std::int64_t) const { return index; }
        void accumulate(StorageType lies, const T* const* runs, int rows, std::int64_t step, std::int64_t count,
                        std::int64_t ahead, bool are_first) {
            if (are_first) start(count);
            with_storage_type(lies, runs[0], [&](const auto* memory) {
                using Memory = std::remove_cvref_t<decltype(*memory)>;
                const auto update_columns = [&](std::int64_t j, auto load) __attribute__((always_inline)) {
                    V b = vec_load(best + j);
                    P p = vec_load(index + j);
                    for (int k = 0; k < rows; ++k)
                        update_max(b, p, load(reinterpret_cast<const Memory*>(runs[k]) + j),
                                   vec_splat(static_cast<Index>(step + k)));
                    vec_store(best + j, b);
                    vec_store(index + j, p);
                };
                std::int64_t j = 0;
                for (; j + n <= count; j += n)
                    update_columns(
                        j, [&](const Memory* run) __attribute__((always_inline)) {
                            __builtin_prefetch(run + ahead, 0, 2);
                            return vector_at(run);
                        });
                if (j < count)
                    update_columns(
                        j, [&](const Memory* run) __attribute__((always_inline)) {
                            return vector_at(run, count - j, vec_splat(lowest_value<T>()));
                        });
            });
        }

    private:
        alignas(64) T best[max_columns];
        alignas(64) Index index[max_columns];
    };

private:
    /// True where x equals `wanted`; with is_nan, where x is NaN.
    template <bool is_nan>
    CAIRN_INLINE static P equals_target(V x, V wanted) {
        if constexpr (is_nan)
            return x != x;
        else
            return x == wanted;
    }
    /// Index of the first element equal to `wanted`, which exists. Several vectors are compared per branch, because the
    /// branch is unpredictable.
    template <bool is_nan, typename Memory>
    CAIRN_INLINE static Index first_index(const Memory* x, std::int64_t count, T wanted) {
        constexpr std::int64_t bits_each = sizeof(T) / 4, together = 64 / bits_each;
        const V all = vec_splat(wanted);
        const auto lanes_at = [&](V at) __attribute__((always_inline)) {
            return std::uint64_t{movemask(std::bit_cast<I32>(equals_target<is_nan>(at, all)))};
        };
        for (std::int64_t begin = 0; begin < count; begin += together) {
            const std::int64_t left = count - begin, end = left < together ? left : together;
            const Memory* const from = x + begin;
            std::uint64_t found = 0;
            std::int64_t i = 0;
            for (; i + n <= end; i += n) found |= lanes_at(vector_at(from + i)) << (i * bits_each);
            if (i < end) {
                // The last vector overlaps the one before, if there is one.
                const std::int64_t over = i > 0 ? n - (end - i) : 0;
                const V rest = i > 0 ? vector_at(from + i - over) : vector_at(from, end, vec_splat(lowest_value<T>()));
                found |= lanes_at(rest) << ((i - over) * bits_each);
            }
            if (found != 0) return static_cast<Index>(begin + std::countr_zero(found) / bits_each);
        }
        return 0;
    }
};

/// Argmax over a row of bytes: the maximum of each block is compared with those before, and searched for once.
template <typename T>
struct ByteArgMax {
    static_assert(sizeof(T) == 1);
    using Element = T;
    using Out = std::int32_t;
    using Result = Out;
    static constexpr int n = vec_lanes<T>;

    static Out out(Result x) { return x; }

    struct RowAccumulator {
        int best = -1000;
        std::int64_t block = 0;

        explicit RowAccumulator(std::int64_t begin) : block(begin) {}
        CAIRN_INLINE void accumulate(StorageType, const T* x, std::int64_t first, std::int64_t count) {
            const int largest = reduce_lanes(Reducer<Max<T>>::lanes_of(x, count), Max<T>::template combine<Vec<T>>);
            if (largest > best) best = largest, block = first;
        }
        template <typename Read>
        Result result(StorageType, Read read) const {
            const auto [x, count] = read(block);
            std::int64_t i = 0;
            for (; i + n <= count; i += n) {
                const auto found = vec_load(x + i) == vec_splat(static_cast<T>(best));
                if (is_any_true(std::bit_cast<I32>(found) != 0)) break;
            }
            while (x[i] != static_cast<T>(best)) ++i;
            return static_cast<Result>(block + i);
        }
    };
};

}  // namespace CAIRN_LEVEL
