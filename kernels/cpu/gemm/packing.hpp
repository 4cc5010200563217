#pragma once

#include "kernels/cpu/gemm/tile.hpp"
#include "kernels/cpu/simd/elementwise/block_memory.hpp"
#include "kernels/cpu/simd/vector/lane_shuffles.hpp"
#include "kernels/cpu/simd/vector/typed_vector.hpp"

#include <type_traits>

/// Packing: copies blocks of matrices of any dtype and strides into rows of the computing type.
namespace CAIRN_LEVEL {

/// A matrix in memory, strides in elements.
struct StridedMatrix {
    const std::byte* data;
    DType dtype;
    std::int64_t row_stride, column_stride;

    const std::byte* at(std::int64_t row, std::int64_t column) const {
        return data + (row * row_stride + column * column_stride) * bytes_of(dtype);
    }
    StridedMatrix transposed() const { return {data, dtype, column_stride, row_stride}; }
};

/// True if elements of the dtype are of type T in memory, without conversion.
template <typename T>
CAIRN_INLINE bool is_native(DType dtype) {
    return bytes_of(dtype) == sizeof(T);
}
/// True if narrower dtypes are converted to T: f16 and bf16 to f32, bytes to u16.
template <typename T>
inline constexpr bool has_narrower = std::is_same_v<T, float> || std::is_same_v<T, std::uint16_t>;

template <typename T, typename Byte>
CAIRN_INLINE void read_bytes(T* to, const std::byte* from, std::int64_t stride, std::int64_t count) {
    load_each(to, reinterpret_cast<const Byte*>(from), stride, count, [](Byte x) { return static_cast<T>(x); });
}
/// Reads `count` elements of the given stride and converts them to T.
template <typename T>
CAIRN_INLINE void read_run(T* to, DType dtype, const std::byte* from, std::int64_t stride, std::int64_t count) {
    if constexpr (sizeof(T) > 2) {
        if (!has_narrower<T> || dtype == DType::f32)
            load_same<T>(to, from, stride, count);
        else if (dtype == DType::f16)
            load_run(DType::f16, to, from, stride, count);
        else
            load_run(DType::bf16, to, from, stride, count);
    } else if (dtype == DType::i8)
        read_bytes<T, std::int8_t>(to, from, stride, count);
    else
        read_bytes<T, std::uint8_t>(to, from, stride, count);
}
template <typename T>
CAIRN_INLINE void write_run(std::byte* to, DType dtype, const T* from, std::int64_t stride, std::int64_t count) {
    if constexpr (std::is_same_v<T, float>)
        store_run(dtype, to, from, stride, count);
    else if constexpr (sizeof(T) > 2)
        store_same<T>(to, from, stride, count);
    else
        store_each(reinterpret_cast<std::uint8_t*>(to), from, stride, count,
                   [](T x) { return static_cast<std::uint8_t>(x); });
}

/// Transposes a square block: to[i * to_stride + j] = from[i, j] for a column-major `from`.
template <typename T>
[[gnu::noinline]] void pack_square(T* to, std::int64_t to_stride, const StridedMatrix& from, const std::byte* corner) {
    constexpr int count = vec_lanes<T>;
    const std::int64_t step = from.column_stride * bytes_of(from.dtype);
    const bool is_unconverted = !has_narrower<T> || is_native<T>(from.dtype);
    transpose_square<Vec<T>>(
        [&](int i) {
            if (is_unconverted) return vec_load(reinterpret_cast<const T*>(corner + i * step));
            T column[count];
            read_run(column, from.dtype, corner + i * step, 1, count);
            return vec_load(column);
        },
        [&](int i, Vec<T> row) { vec_store(to + i * to_stride, row); });
}

/// to[i * to_stride + j] = from[row + i, column + j] for rows x columns, and zeros up to `width` columns.
template <typename T>
void pack_block(T* to, std::int64_t to_stride, const StridedMatrix& from, std::int64_t row, std::int64_t column,
                std::int64_t rows, std::int64_t columns, std::int64_t width) noexcept {
    constexpr std::int64_t square = vec_lanes<T>;
    std::int64_t i = 0;
    if (from.row_stride == 1 && from.column_stride != 1) {
        for (; i + square <= rows; i += square) {
            std::int64_t j = 0;
            for (; j + square <= columns; j += square)
                pack_square(to + i * to_stride + j, to_stride, from, from.at(row + i, column + j));
            for (std::int64_t s = 0; s < square && j < columns; ++s)
                read_run(to + (i + s) * to_stride + j, from.dtype, from.at(row + i + s, column + j), from.column_stride,
                         columns - j);
        }
    }
    const bool is_unconverted = is_native<T>(from.dtype) && from.column_stride == 1;
    if (is_unconverted && columns == width && columns % square == 0) {
        for (; i < rows; ++i) {
            const T* row_of = reinterpret_cast<const T*>(from.at(row + i, column));
            for (std::int64_t j = 0; j < columns; j += square) vec_store(to + i * to_stride + j, vec_load(row_of + j));
        }
    }
    for (; i < rows; ++i)
        read_run(to + i * to_stride, from.dtype, from.at(row + i, column), from.column_stride, columns);
    for (i = 0; i < rows && columns < width; ++i)
        for (std::int64_t j = columns; j < width; ++j) to[i * to_stride + j] = T{};
}

}  // namespace CAIRN_LEVEL
