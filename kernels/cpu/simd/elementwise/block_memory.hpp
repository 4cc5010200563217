#pragma once

#include "kernels/cpu/simd/elementwise/block_program.hpp"
#include "kernels/cpu/simd/vector/half.hpp"

/// Loads and stores between memory of any dtype and stride and the dense blocks of block_program.hpp.
namespace CAIRN_LEVEL {

template <typename Memory, typename Value, typename Convert>
CAIRN_INLINE void load_each(Value* to, const Memory* from, std::int64_t stride, std::int64_t n, Convert convert) {
    if (stride == 1) {
        for (std::int64_t i = 0; i < n; ++i) to[i] = convert(from[i]);
    } else if (stride == 0) {
        const Value value = convert(*from);
        for (std::int64_t i = 0; i < n; ++i) to[i] = value;
    } else {
        for (std::int64_t i = 0; i < n; ++i) to[i] = convert(from[i * stride]);
    }
}
template <typename Memory, typename Value, typename Convert>
CAIRN_INLINE void store_each(Memory* to, const Value* from, std::int64_t stride, std::int64_t n, Convert convert) {
    if (stride == 1) {
        for (std::int64_t i = 0; i < n; ++i) to[i] = convert(from[i]);
    } else {
        for (std::int64_t i = 0; i < n; ++i) to[i * stride] = convert(from[i]);
    }
}

template <typename T>
CAIRN_INLINE void load_same(void* to, const std::byte* from, std::int64_t stride, std::int64_t n) {
    load_each(static_cast<T*>(to), reinterpret_cast<const T*>(from), stride, n, [](T x) { return x; });
}
template <typename T>
CAIRN_INLINE void load_small(void* to, const std::byte* from, std::int64_t stride, std::int64_t n) {
    load_each(static_cast<std::int32_t*>(to), reinterpret_cast<const T*>(from), stride, n,
              [](T x) { return static_cast<std::int32_t>(x); });
}
template <typename T>
CAIRN_INLINE void store_same(std::byte* to, const void* from, std::int64_t stride, std::int64_t n) {
    store_each(reinterpret_cast<T*>(to), static_cast<const T*>(from), stride, n, [](T x) { return x; });
}
template <typename T>
CAIRN_INLINE void store_small(std::byte* to, const void* from, std::int64_t stride, std::int64_t n) {
    store_each(reinterpret_cast<T*>(to), static_cast<const std::int32_t*>(from), stride, n,
               [](std::int32_t x) { return static_cast<T>(x); });
}
/// Loads elements without conversion.
[[gnu::noinline]] inline void load_bits(std::int64_t bytes, std::byte* to, const std::byte* from, std::int64_t stride,
                                        std::int64_t n) {
    switch (bytes) {
        case 1: return load_same<std::uint8_t>(to, from, stride, n);
        case 2: return load_same<std::uint16_t>(to, from, stride, n);
        case 4: return load_same<std::uint32_t>(to, from, stride, n);
        default: return load_same<std::uint64_t>(to, from, stride, n);
    }
}
/// Stores elements of one or two bytes without conversion.
[[gnu::noinline]] inline void store_bits(std::int64_t bytes, std::byte* to, const std::byte* from, std::int64_t stride,
                                         std::int64_t n) {
    if (bytes == 1)
        store_same<std::uint8_t>(to, from, stride, n);
    else
        store_same<std::uint16_t>(to, from, stride, n);
}

/// Loads n elements of `dtype` and the given stride into a block of its BlockType.
[[gnu::noinline]] inline void load_run(DType dtype, void* to, const std::byte* from, std::int64_t stride,
                                       std::int64_t n) {
    switch (dtype) {
        case DType::f32: load_same<float>(to, from, stride, n); break;
        case DType::f64: load_same<double>(to, from, stride, n); break;
        case DType::i32: load_same<std::int32_t>(to, from, stride, n); break;
        case DType::i64: load_same<std::int64_t>(to, from, stride, n); break;
        case DType::i8: load_small<std::int8_t>(to, from, stride, n); break;
        case DType::u8: load_small<std::uint8_t>(to, from, stride, n); break;
        case DType::boolean: load_same<std::uint8_t>(to, from, stride, n); break;
        case DType::bf16:
            if (stride == 1) {
                floats_of_bf16(static_cast<float*>(to), reinterpret_cast<const std::uint16_t*>(from), n);
            } else {
                load_each(static_cast<float*>(to), reinterpret_cast<const std::uint16_t*>(from), stride, n,
                          types::bf16_to_f32);
            }
            break;
        case DType::f16:
            if (stride == 1) {
                floats_of_f16(static_cast<float*>(to), reinterpret_cast<const std::uint16_t*>(from), n);
            } else {
                load_each(static_cast<float*>(to), reinterpret_cast<const std::uint16_t*>(from), stride, n,
                          types::f16_to_f32);
            }
            break;
    }
}

/// Stores n elements of a block to memory.
[[gnu::noinline]] inline void store_run(DType dtype, std::byte* to, const void* from, std::int64_t stride,
                                        std::int64_t n) {
    switch (dtype) {
        case DType::f32: store_same<float>(to, from, stride, n); break;
        case DType::f64: store_same<double>(to, from, stride, n); break;
        case DType::i32: store_same<std::int32_t>(to, from, stride, n); break;
        case DType::i64: store_same<std::int64_t>(to, from, stride, n); break;
        case DType::i8: store_small<std::int8_t>(to, from, stride, n); break;
        case DType::u8: store_small<std::uint8_t>(to, from, stride, n); break;
        case DType::boolean: store_same<std::uint8_t>(to, from, stride, n); break;
        case DType::bf16:
            if (stride == 1) {
                bf16_of_floats(reinterpret_cast<std::uint16_t*>(to), static_cast<const float*>(from), n);
            } else {
                store_each(reinterpret_cast<std::uint16_t*>(to), static_cast<const float*>(from), stride, n,
                           types::f32_to_bf16);
            }
            break;
        case DType::f16:
            if (stride == 1) {
                f16_of_floats(reinterpret_cast<std::uint16_t*>(to), static_cast<const float*>(from), n);
            } else {
                store_each(reinterpret_cast<std::uint16_t*>(to), static_cast<const float*>(from), stride, n,
                           types::f32_to_f16);
            }
            break;
    }
}

/// Fills a block with a constant.
inline void fill_block(const BlockConstant& constant, std::byte* to) {
    for (int i = 0; i < block_size; ++i) {
        switch (constant.slot) {
            case BlockType::f32: reinterpret_cast<float*>(to)[i] = static_cast<float>(constant.number); break;
            case BlockType::f64: reinterpret_cast<double*>(to)[i] = constant.number; break;
            case BlockType::i32:
                reinterpret_cast<std::int32_t*>(to)[i] = static_cast<std::int32_t>(constant.number);
                break;
            case BlockType::i64:
                reinterpret_cast<std::int64_t*>(to)[i] = static_cast<std::int64_t>(constant.number);
                break;
            default: reinterpret_cast<std::uint8_t*>(to)[i] = static_cast<std::uint8_t>(constant.number); break;
        }
    }
}

/// Bytes of one element in memory.
CAIRN_INLINE std::int64_t bytes_of(DType dtype) {
    switch (dtype) {
        case DType::f64:
        case DType::i64: return 8;
        case DType::f32:
        case DType::i32: return 4;
        case DType::f16:
        case DType::bf16: return 2;
        default: return 1;
    }
}
/// Bytes of one element in a block of the dtype's BlockType.
CAIRN_INLINE std::int64_t block_bytes_of(DType dtype) {
    const std::int64_t bytes = bytes_of(dtype);
    return dtype == DType::boolean || bytes > 4 ? bytes : 4;
}

}  // namespace CAIRN_LEVEL
