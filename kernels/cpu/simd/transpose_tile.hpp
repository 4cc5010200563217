#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

/// Transposing in registers of 16 bytes, which every machine has.
namespace cairn::inline v0::kernels::cpu {

/// As many elements as 16 bytes hold.
template <typename T>
struct Lanes {
    static constexpr int count = 16 / static_cast<int>(sizeof(T));
    typedef T Vector __attribute__((vector_size(16)));
};

/// a[h] b[h] a[h+1] b[h+1] ... from the half that begins at `First`.
template <int First, typename V, int... I>
inline V interleaved(V a, V b, std::integer_sequence<int, I...>) noexcept {
    return __builtin_shufflevector(a, b, (First + I / 2 + I % 2 * static_cast<int>(sizeof...(I)))...);
}

/// A square of rows becomes its columns: interleaving row i with row i + count / 2, as often as 2 halves the count.
template <typename T>
inline void transpose_square(typename Lanes<T>::Vector (&rows)[Lanes<T>::count]) noexcept {
    constexpr int count = Lanes<T>::count;
    using V = typename Lanes<T>::Vector;
    constexpr auto all = std::make_integer_sequence<int, count>();
    for (int step = 1; step < count; step *= 2) {
        V next[count];
        for (int i = 0; i < count / 2; ++i) {
            next[2 * i] = interleaved<0>(rows[i], rows[i + count / 2], all);
            next[2 * i + 1] = interleaved<count / 2>(rows[i], rows[i + count / 2], all);
        }
        for (int i = 0; i < count; ++i) rows[i] = next[i];
    }
}

/// to[i * to_stride + j] = from[i + j * from_stride] for i < rows, j < columns: a tile that stays in the cache. Whole
/// cache lines of `from` are used up at once, because those a large stride apart push each other out.
template <typename T>
void transpose_tile(T* to, std::int64_t to_stride, const T* from, std::int64_t from_stride, std::int64_t rows,
                    std::int64_t columns) noexcept {
    constexpr std::int64_t side = Lanes<T>::count, line = 4 * side;
    const std::int64_t whole_rows = rows / side * side, whole_columns = columns / side * side;
    for (std::int64_t first = 0; first < whole_rows; first += line) {
        const std::int64_t end = first + line < whole_rows ? first + line : whole_rows;
        for (std::int64_t j = 0; j < whole_columns; j += side) {
            for (std::int64_t i = first; i < end; i += side) {
                typename Lanes<T>::Vector square[Lanes<T>::count];
                for (int k = 0; k < side; ++k) std::memcpy(&square[k], from + i + (j + k) * from_stride, 16);
                transpose_square<T>(square);
                for (int k = 0; k < side; ++k) std::memcpy(to + (i + k) * to_stride + j, &square[k], 16);
            }
        }
    }
    for (std::int64_t j = 0; j < columns; ++j) {
        for (std::int64_t i = j < whole_columns ? whole_rows : 0; i < rows; ++i)
            to[i * to_stride + j] = from[i + j * from_stride];
    }
}

}  // namespace cairn::inline v0::kernels::cpu
