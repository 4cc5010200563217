#include "kernels/cpu/simd/elementwise/block_ops.hpp"

#include "kernels/cpu/number.hpp"
#include "kernels/cpu/simd/elementwise/memory_format_casts.hpp"
#include "kernels/cpu/simd/vector/activations.hpp"
#include "kernels/cpu/simd/vector/half.hpp"
#include "kernels/cpu/simd/vector/power.hpp"

#include <type_traits>

namespace CAIRN_LEVEL {
namespace {

template <ElementCode code>
struct Formula;
CAIRN_ELEMENT_OPS(CAIRN_FORMULA)

// ---- floats of all widths, whole vectors

/// The computing type of an element: f16 and bf16 are computed as floats, others as they are.
template <typename Element>
using NumberOf = std::conditional_t<std::is_arithmetic_v<Element>, Element, float>;
template <typename Element>
using VectorOf = Vec<NumberOf<Element>>;
template <typename Element>
using MaskOf = std::conditional_t<std::is_same_v<Element, double>, I64, I32>;
template <typename Element>
inline constexpr int lanes_of = vec_lanes<NumberOf<Element>>;

CAIRN_INLINE I32 truth_values(I32 mask) { return mask & 1; }
/// Truth values in the first lanes; the other lanes are unspecified.
CAIRN_INLINE I32 truth_values(I64 mask) {
    const I32 parts = std::bit_cast<I32>(mask & 1);
    constexpr int low = std::endian::native == std::endian::little ? 0 : 1;
    return shuffle<lanes>(parts, parts, [](int i) { return 2 * (i % (lanes / 2)) + low; });
}

/// Stores the first n results of a vector: numbers, or truth values as bytes.
template <typename Element>
CAIRN_INLINE void keep(void* r, std::int64_t i, VectorOf<Element> value, std::int64_t n) {
    Element* const to = static_cast<Element*>(r) + i;
    const bool is_whole = n == lanes_of<Element>;
    if constexpr (std::is_arithmetic_v<Element>)
        is_whole ? vec_store(to, value) : vec_store_part(to, value, n);
    else
        is_whole ? store(to, value) : store_part(to, value, n);
}
template <typename Element>
CAIRN_INLINE void keep(void* r, std::int64_t i, MaskOf<Element> mask, std::int64_t n) {
    std::uint8_t* const to = static_cast<std::uint8_t*>(r) + i;
    store_bytes(to, truth_values(mask), n);
}

template <typename Element, typename F>
void on_lanes(void* r, const void* a, const void*, const void*, std::int64_t n) {
    constexpr int count = lanes_of<Element>;
    const auto* x = static_cast<const Element*>(a);
    std::int64_t i = 0;
    for (; i + count <= n; i += count) keep<Element>(r, i, F{}(vector_at(x + i), VectorOf<Element>{}), count);
    if (i < n) keep<Element>(r, i, F{}(vector_at(x + i, n - i, VectorOf<Element>{}), VectorOf<Element>{}), n - i);
}
template <typename Element, typename F>
void on_pairs_of_lanes(void* r, const void* a, const void* b, const void*, std::int64_t n) {
    constexpr int count = lanes_of<Element>;
    const auto* x = static_cast<const Element*>(a);
    const auto* y = static_cast<const Element*>(b);
    std::int64_t i = 0;
    for (; i + count <= n; i += count) keep<Element>(r, i, F{}(vector_at(x + i), vector_at(y + i)), count);
    if (i < n)
        keep<Element>(r, i,
                      F{}(vector_at(x + i, n - i, VectorOf<Element>{}), vector_at(y + i, n - i, VectorOf<Element>{})),
                      n - i);
}

// ---- integers, element by element (the compiler vectorises the simple ones)

template <typename T>
T plain(Number<T> x) {
    return x.value;
}
inline std::uint8_t plain(bool x) { return x ? 1 : 0; }

template <typename T, typename F>
void on_numbers(void* r, const void* a, const void*, const void*, std::int64_t n) {
    using To = decltype(plain(F{}(Number<T>(T{}), Number<T>(T{}))));
    auto* out = static_cast<To*>(r);
    const auto* x = static_cast<const T*>(a);
    for (std::int64_t i = 0; i < n; ++i) out[i] = plain(F{}(Number<T>(x[i]), Number<T>(T{})));
}
template <typename T, typename F>
void on_pairs_of_numbers(void* r, const void* a, const void* b, const void*, std::int64_t n) {
    using To = decltype(plain(F{}(Number<T>(T{}), Number<T>(T{}))));
    auto* out = static_cast<To*>(r);
    const auto* x = static_cast<const T*>(a);
    const auto* y = static_cast<const T*>(b);
    for (std::int64_t i = 0; i < n; ++i) out[i] = plain(F{}(Number<T>(x[i]), Number<T>(y[i])));
}

template <typename From, typename To, typename F>
void each(void* r, const void* a, const void*, const void*, std::int64_t n) {
    auto* out = static_cast<To*>(r);
    const auto* x = static_cast<const From*>(a);
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<To>(F{}(x[i]));
}

/// Selects elements of the size of T by truth values.
template <typename T>
void where_each(void* r, const void* c, const void* a, const void* b, std::int64_t n) {
    auto* out = static_cast<T*>(r);
    const auto* condition = static_cast<const std::uint8_t*>(c);
    const auto* x = static_cast<const T*>(a);
    const auto* y = static_cast<const T*>(b);
    for (std::int64_t i = 0; i < n; ++i) {
        const T chosen = x[i], other = y[i];
        out[i] = condition[i] != 0 ? chosen : other;
    }
}

template <std::size_t bytes>
void copy(void* r, const void* a, const void*, const void*, std::int64_t n) {
    std::memmove(r, a, static_cast<std::size_t>(n) * bytes);
}

template <void (*round)(float*, const float*, std::int64_t)>
void narrowed(void* r, const void* a, const void*, const void*, std::int64_t n) {
    round(static_cast<float*>(r), static_cast<const float*>(a), n);
}

#define CAIRN_FUNCTOR(name, parameters, expression)             \
    struct name {                                               \
        auto operator() parameters const { return expression; } \
    };

// clang-format off
CAIRN_FUNCTOR(Narrow8, (std::int32_t x), static_cast<std::int8_t>(x))
CAIRN_FUNCTOR(NarrowU8, (std::int32_t x), static_cast<std::uint8_t>(x))
CAIRN_FUNCTOR(IsTrue, (auto x), x != 0 ? 1 : 0)
CAIRN_FUNCTOR(NoMoreThan127, (std::uint8_t x), x < 127 ? x : 127)
CAIRN_FUNCTOR(NoLessThan0, (std::int8_t x), x > 0 ? x : 0)
template <typename T> CAIRN_FUNCTOR(To, (auto x), static_cast<T>(x))
// clang-format on

/// Truncates toward zero and saturates to the range of Limits; NaN gives 0.
template <typename To, typename Limits = To>
struct Saturate {
    template <typename From>
    To operator()(From x) const {
        if constexpr (std::is_floating_point_v<From>) {
            // The upper limit plus one is a power of two, so it is exact in floating point.
            const From above = static_cast<From>(static_cast<std::uint64_t>(std::numeric_limits<Limits>::max()) + 1);
            if (x != x) return 0;
            if (x >= above) return std::numeric_limits<Limits>::max();
            if (x <= static_cast<From>(std::numeric_limits<Limits>::min())) return std::numeric_limits<Limits>::min();
            return static_cast<To>(x);
        } else if constexpr (sizeof(Limits) >= sizeof(From)) {
            return static_cast<To>(x);
        } else {
            constexpr From low = std::numeric_limits<Limits>::min(), high = std::numeric_limits<Limits>::max();
            return static_cast<To>(x < low ? low : x > high ? high : x);
        }
    }
};

/// The functions of an op by BlockType of its operands.
template <ElementCode code>
constexpr BlockFunctionsByType element_row() {
    using F = Formula<code>;
    constexpr const ElementOp& op = element_op(code);
    constexpr bool pair = op.operands == 2;
    BlockFunctionsByType row{};
    const auto set = [&](BlockType slot, BlockFunction function) { row.of[static_cast<int>(slot)] = function; };
    if constexpr (op.on_floats()) {
        set(BlockType::f32, pair ? on_pairs_of_lanes<float, F> : on_lanes<float, F>);
        set(BlockType::f64, pair ? on_pairs_of_lanes<double, F> : on_lanes<double, F>);
    }
    if constexpr (is_cheap_in_memory_format(static_cast<BlockOpcode>(code))) {
        set(BlockType::f16, pair ? on_pairs_of_lanes<F16, F> : on_lanes<F16, F>);
        set(BlockType::bf16, pair ? on_pairs_of_lanes<BF16, F> : on_lanes<BF16, F>);
    }
    if constexpr (op.on_integers()) {
        set(BlockType::i32, pair ? on_pairs_of_numbers<std::int32_t, F> : on_numbers<std::int32_t, F>);
        set(BlockType::i64, pair ? on_pairs_of_numbers<std::int64_t, F> : on_numbers<std::int64_t, F>);
    }
    if constexpr (op.on_booleans())
        set(BlockType::byte, pair ? on_pairs_of_numbers<std::uint8_t, F> : on_numbers<std::uint8_t, F>);
    return row;
}

template <typename F>
constexpr BlockFunctionsByType activation_row(F) {
    return {{on_lanes<float, F>, on_lanes<double, F>}};
}
template <typename F>
constexpr BlockFunctionsByType light_activation_row(F) {
    return {{on_lanes<float, F>, on_lanes<double, F>, nullptr, nullptr, nullptr, on_lanes<F16, F>, on_lanes<BF16, F>}};
}
constexpr BlockFunctionsByType relu_row = light_activation_row([](auto x, auto zero) { return max(x, zero); });
constexpr BlockFunctionsByType sigmoid_row = activation_row([](auto x, auto) { return sigmoid(x); });
constexpr BlockFunctionsByType silu_row = activation_row([](auto x, auto) { return silu(x); });
constexpr BlockFunctionsByType gelu_row = activation_row([](auto x, auto) { return gelu(x); });
constexpr BlockFunctionsByType gelu_tanh_row = activation_row([](auto x, auto) { return gelu_tanh(x); });

constexpr BlockFunctionsByType where_row = {
    {where_each<std::uint32_t>, where_each<std::uint64_t>, where_each<std::uint32_t>, where_each<std::uint64_t>,
     where_each<std::uint8_t>, where_each<std::uint16_t>, where_each<std::uint16_t>}};

template <typename T, typename F>
constexpr BlockFunctionsByType convert_row = {{each<float, T, F>, each<double, T, F>, each<std::int32_t, T, F>,
                                               each<std::int64_t, T, F>, each<std::uint8_t, T, To<T>>}};
constexpr BlockFunctionsByType to_f32_row = convert_row<float, To<float>>;
constexpr BlockFunctionsByType to_f32_odd_row = {{nullptr, cast_through_floats<double, float>,
                                                  cast_through_floats<std::int32_t, float>,
                                                  cast_through_floats<std::int64_t, float>}};
constexpr BlockFunctionsByType to_f64_row = convert_row<double, To<double>>;
constexpr BlockFunctionsByType to_i64_row = convert_row<std::int64_t, Saturate<std::int64_t>>;
constexpr BlockFunctionsByType to_i32_row = convert_row<std::int32_t, Saturate<std::int32_t>>;
constexpr BlockFunctionsByType to_i8_row = convert_row<std::int32_t, Saturate<std::int32_t, std::int8_t>>;
constexpr BlockFunctionsByType to_u8_row = convert_row<std::int32_t, Saturate<std::int32_t, std::uint8_t>>;
constexpr BlockFunctionsByType to_bool_row = convert_row<std::uint8_t, IsTrue>;
constexpr BlockFunctionsByType round_f16_row = {{narrowed<round_to_f16>}};
constexpr BlockFunctionsByType round_bf16_row = {{narrowed<round_to_bf16>}};
constexpr BlockFunctionsByType round_i8_row = {{nullptr, nullptr, each<std::int32_t, std::int32_t, Narrow8>}};
constexpr BlockFunctionsByType round_u8_row = {{nullptr, nullptr, each<std::int32_t, std::int32_t, NarrowU8>}};
constexpr BlockFunctionsByType row_of_bytes(BlockFunction function) {
    return {{nullptr, nullptr, nullptr, nullptr, function}};
}
constexpr BlockFunctionsByType byte_to_i8_row = row_of_bytes(each<std::uint8_t, std::uint8_t, NoMoreThan127>);
constexpr BlockFunctionsByType byte_to_u8_row = row_of_bytes(each<std::int8_t, std::uint8_t, NoLessThan0>);
constexpr BlockFunctionsByType byte_to_bool_row = row_of_bytes(each<std::uint8_t, std::uint8_t, IsTrue>);
template <typename Half, typename Other>
constexpr BlockFunctionsByType cast_to_half(BlockType other) {
    BlockFunctionsByType row{};
    const auto set = [&](BlockType slot, BlockFunction function) { row.of[static_cast<int>(slot)] = function; };
    set(BlockType::f64, cast_through_floats<double, Half>);
    set(BlockType::i64, cast_through_floats<std::int64_t, Half>);
    set(BlockType::i32, cast_through_floats<std::int32_t, Half>);
    set(BlockType::byte, cast_through_floats<std::uint8_t, Half>);
    set(BlockType::i8, cast_through_floats<std::int8_t, Half>);
    set(other, cast_through_floats<Other, Half>);
    return row;
}
constexpr BlockFunctionsByType cast_f16_row = cast_to_half<F16, BF16>(BlockType::bf16);
constexpr BlockFunctionsByType cast_bf16_row = cast_to_half<BF16, F16>(BlockType::f16);
template <typename Byte>
constexpr BlockFunctionsByType cast_to_byte = {{cast_through_floats<float, Byte>, cast_through_floats<double, Byte>,
                                                nullptr, nullptr, nullptr, cast_through_floats<F16, Byte>,
                                                cast_through_floats<BF16, Byte>}};
constexpr BlockFunctionsByType cast_i8_row = cast_to_byte<std::int8_t>;
constexpr BlockFunctionsByType cast_u8_row = cast_to_byte<std::uint8_t>;
constexpr BlockFunctionsByType cast_bool_row = {
    {nullptr, nullptr, nullptr, nullptr, nullptr, cast_through_floats<F16, bool>, cast_through_floats<BF16, bool>}};
constexpr BlockFunctionsByType copy_row = {{copy<4>, copy<8>, copy<4>, copy<8>, copy<1>, copy<2>, copy<2>}};

}  // namespace

#define CAIRN_ELEMENT_ENTRY(name, ...) element_row<ElementCode::name>(),
#define CAIRN_ENTRY(name) name##_row,
constinit const BlockFunctionsByType block_functions[static_cast<int>(BlockOpcode::count)] = {CAIRN_ELEMENT_OPS(
    CAIRN_ELEMENT_ENTRY) CAIRN_ACTIVATIONS(CAIRN_ENTRY) CAIRN_ENTRY(where) CAIRN_CONVERSIONS(CAIRN_ENTRY)};
#undef CAIRN_ELEMENT_ENTRY
#undef CAIRN_ENTRY

}  // namespace CAIRN_LEVEL
