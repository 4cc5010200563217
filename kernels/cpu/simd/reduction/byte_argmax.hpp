#pragma once

#include "kernels/cpu/simd/reduction/reducers.hpp"

#include <algorithm>

/// Argmax over each column of bytes. A vector holds four times as many bytes as indices, so a few rows are compared as
/// bytes, and indices are updated only where one of them exceeds all before.
namespace CAIRN_LEVEL {

template <typename T>
struct ColumnByteArgMax {
    static_assert(sizeof(T) == 1);
    using Element = T;
    using V = Vec<T>;
    using Out = std::int32_t;
    struct Result {
        T value;
        Out index;
    };
    static constexpr int n = vec_lanes<T>;
    using Signed = Vec<std::int8_t>;

    static Result combine(Result a, Result b) {
        return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
    }
    static Out out(Result x) { return x.index; }

    struct ColumnAccumulator {
        void start(std::int64_t count) {
            std::fill_n(best, count, lowest_value<T>());
            std::fill_n(index, count, 0);
        }
        Result at(std::int64_t j) const { return {best[j], index[j]}; }
        const Out* out() const { return index; }
        const Out* windows(std::int64_t, std::int64_t, std::int64_t) const { return index; }
        const Out* combine_groups(std::int64_t, std::int64_t) const { return index; }
        void accumulate(StorageType, const T* const* runs, int rows, std::int64_t step, std::int64_t count,
                        std::int64_t ahead, bool are_first) {
            std::int64_t j = 0;
            for (; j + n <= count; j += n)
                update_max(
                    j, rows, step, are_first, [&](int k) __attribute__((always_inline)) {
                        __builtin_prefetch(runs[k] + j + ahead, 0, 2);
                        return vec_load(runs[k] + j);
                    });
            if (j < count)
                update_max(
                    j, rows, step, are_first, [&](int k) __attribute__((always_inline)) {
                        return vec_load_part(runs[k] + j, count - j, lowest_value<T>());
                    });
        }

    private:
        // Vectors may extend past the last column.
        alignas(64) T best[max_columns];
        alignas(64) Out index[max_columns];

        template <typename Load>
        CAIRN_INLINE void update_max(std::int64_t j, int rows, std::int64_t step, bool are_first, Load load) {
            V largest = load(0);
            Signed row{};
            for (int k = 1; k < rows; ++k) {
                const V x = load(k);
                row = x > largest ? vec_splat(static_cast<std::int8_t>(k)) : row;
                largest = x > largest ? x : largest;
            }
            const V before = vec_load(best + j);
            const Signed is_larger = are_first ? Signed{} == 0 : largest > before;
            if (!is_any_true(std::bit_cast<I32>(is_larger) != 0)) return;
            vec_store(best + j, is_larger ? largest : before);
            for (int part = 0; part < n; part += lanes) {
                I8Lanes of, is;
                std::memcpy(&of, reinterpret_cast<const std::byte*>(&row) + part, sizeof of);
                std::memcpy(&is, reinterpret_cast<const std::byte*>(&is_larger) + part, sizeof is);
                const I32 found = from_bytes(of) + static_cast<std::int32_t>(step);
                store(index + j + part, from_bytes(is) != 0 ? found : vec_load(index + j + part));
            }
        }
    };
};

}  // namespace CAIRN_LEVEL
