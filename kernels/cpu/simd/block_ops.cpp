#include "kernels/cpu/simd/block_ops.hpp"

#include "kernels/cpu/simd/half.hpp"
#include "kernels/cpu/simd/vector_math.hpp"

#include <cmath>
#include <type_traits>

namespace CAIRN_LEVEL {
namespace {

// ---- f32, whole vectors
// ------------------------------------------------------------------------------------------------

template <typename F>
void unary(void* r, const void* a, const void*, const void*, std::int64_t n) {
    auto* out = static_cast<float*>(r);
    const auto* x = static_cast<const float*>(a);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(out + i, F{}(load(x + i)));
    if (i < n) store_part(out + i, F{}(load_part(x + i, n - i)), n - i);
}

template <typename F>
void binary(void* r, const void* a, const void* b, const void*, std::int64_t n) {
    auto* out = static_cast<float*>(r);
    const auto* x = static_cast<const float*>(a);
    const auto* y = static_cast<const float*>(b);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(out + i, F{}(load(x + i), load(y + i)));
    if (i < n) store_part(out + i, F{}(load_part(x + i, n - i), load_part(y + i, n - i)), n - i);
}

template <typename F>
void compare(void* r, const void* a, const void* b, const void*, std::int64_t n) {
    auto* out = static_cast<std::int32_t*>(r);
    const auto* x = static_cast<const float*>(a);
    const auto* y = static_cast<const float*>(b);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(out + i, F{}(load(x + i), load(y + i)) & 1);
    if (i < n) store_part(out + i, F{}(load_part(x + i, n - i), load_part(y + i, n - i)) & 1, n - i);
}

void where_f32(void* r, const void* c, const void* a, const void* b, std::int64_t n) {
    auto* out = static_cast<float*>(r);
    const auto* condition = static_cast<const std::int32_t*>(c);
    const auto* x = static_cast<const float*>(a);
    const auto* y = static_cast<const float*>(b);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(out + i, load(condition + i) != 0 ? load(x + i) : load(y + i));
    for (; i < n; ++i) out[i] = condition[i] != 0 ? x[i] : y[i];
}

// ---- other slots, element by element (the compiler makes vectors of the simple ones)
// --------------------------------------

template <typename From, typename To, typename F>
void each(void* r, const void* a, const void*, const void*, std::int64_t n) {
    auto* out = static_cast<To*>(r);
    const auto* x = static_cast<const From*>(a);
    for (std::int64_t i = 0; i < n; ++i) out[i] = F{}(x[i]);
}
template <typename From, typename To, typename F>
void each_pair(void* r, const void* a, const void* b, const void*, std::int64_t n) {
    auto* out = static_cast<To*>(r);
    const auto* x = static_cast<const From*>(a);
    const auto* y = static_cast<const From*>(b);
    for (std::int64_t i = 0; i < n; ++i) out[i] = F{}(x[i], y[i]);
}
template <typename T>
void where_each(void* r, const void* c, const void* a, const void* b, std::int64_t n) {
    auto* out = static_cast<T*>(r);
    const auto* condition = static_cast<const std::int32_t*>(c);
    const auto* x = static_cast<const T*>(a);
    const auto* y = static_cast<const T*>(b);
    for (std::int64_t i = 0; i < n; ++i) out[i] = condition[i] != 0 ? x[i] : y[i];
}

template <std::size_t bytes>
void copy(void* r, const void* a, const void*, const void*, std::int64_t n) {
    std::memmove(r, a, static_cast<std::size_t>(n) * bytes);
}

/// f(x) for every slot: on vectors of floats, on doubles, on integers through the unsigned type, so that overflow
/// wraps.
#define CAIRN_FUNCTOR(name, parameters, expression)             \
    struct name {                                               \
        auto operator() parameters const { return expression; } \
    };

// clang-format off
CAIRN_FUNCTOR(Neg, (F32 x), -x)
CAIRN_FUNCTOR(Abs, (F32 x), abs(x))
CAIRN_FUNCTOR(Exp, (F32 x), exp(x))
CAIRN_FUNCTOR(Log, (F32 x), log(x))
CAIRN_FUNCTOR(Sqrt, (F32 x), sqrt(x))
CAIRN_FUNCTOR(Rsqrt, (F32 x), rsqrt(x))
CAIRN_FUNCTOR(Sin, (F32 x), sin(x))
CAIRN_FUNCTOR(Cos, (F32 x), cos(x))
CAIRN_FUNCTOR(Tanh, (F32 x), tanh(x))
CAIRN_FUNCTOR(Erf, (F32 x), erf(x))
CAIRN_FUNCTOR(Floor, (F32 x), floor(x))
CAIRN_FUNCTOR(Relu, (F32 x), max(x, F32{}))
CAIRN_FUNCTOR(Sigmoid, (F32 x), sigmoid(x))
CAIRN_FUNCTOR(Silu, (F32 x), silu(x))
CAIRN_FUNCTOR(Gelu, (F32 x), gelu(x))
CAIRN_FUNCTOR(GeluTanh, (F32 x), gelu_tanh(x))
CAIRN_FUNCTOR(Add, (F32 x, F32 y), x + y)
CAIRN_FUNCTOR(Sub, (F32 x, F32 y), x - y)
CAIRN_FUNCTOR(Mul, (F32 x, F32 y), x * y)
CAIRN_FUNCTOR(Div, (F32 x, F32 y), x / y)
CAIRN_FUNCTOR(Min, (F32 x, F32 y), min(x, y))
CAIRN_FUNCTOR(Max, (F32 x, F32 y), max(x, y))
CAIRN_FUNCTOR(Pow, (F32 x, F32 y), pow(x, y))
CAIRN_FUNCTOR(Eq, (auto x, auto y), x == y)
CAIRN_FUNCTOR(Ne, (auto x, auto y), x != y)
CAIRN_FUNCTOR(Lt, (auto x, auto y), x < y)
CAIRN_FUNCTOR(Le, (auto x, auto y), x <= y)
CAIRN_FUNCTOR(Gt, (auto x, auto y), x > y)
CAIRN_FUNCTOR(Ge, (auto x, auto y), x >= y)

CAIRN_FUNCTOR(NegD, (double x), -x)
CAIRN_FUNCTOR(AbsD, (double x), std::fabs(x))
CAIRN_FUNCTOR(ExpD, (double x), std::exp(x))
CAIRN_FUNCTOR(LogD, (double x), std::log(x))
CAIRN_FUNCTOR(SqrtD, (double x), std::sqrt(x))
CAIRN_FUNCTOR(RsqrtD, (double x), 1.0 / std::sqrt(x))
CAIRN_FUNCTOR(SinD, (double x), std::sin(x))
CAIRN_FUNCTOR(CosD, (double x), std::cos(x))
CAIRN_FUNCTOR(TanhD, (double x), std::tanh(x))
CAIRN_FUNCTOR(ErfD, (double x), std::erf(x))
CAIRN_FUNCTOR(FloorD, (double x), std::floor(x))
CAIRN_FUNCTOR(AddD, (double x, double y), x + y)
CAIRN_FUNCTOR(SubD, (double x, double y), x - y)
CAIRN_FUNCTOR(MulD, (double x, double y), x * y)
CAIRN_FUNCTOR(DivD, (double x, double y), x / y)
CAIRN_FUNCTOR(PowD, (double x, double y), std::pow(x, y))
CAIRN_FUNCTOR(MinAny, (auto x, auto y), x < y || x != x ? x : y)
CAIRN_FUNCTOR(MaxAny, (auto x, auto y), x > y || x != x ? x : y)
CAIRN_FUNCTOR(And, (std::int32_t x, std::int32_t y), x & y)
CAIRN_FUNCTOR(Or, (std::int32_t x, std::int32_t y), x | y)
CAIRN_FUNCTOR(Xor, (std::int32_t x, std::int32_t y), x ^ y)
CAIRN_FUNCTOR(Not, (std::int32_t x), x ^ 1)
CAIRN_FUNCTOR(Narrow8, (std::int32_t x), static_cast<std::int8_t>(x))
CAIRN_FUNCTOR(NarrowU8, (std::int32_t x), static_cast<std::uint8_t>(x))
CAIRN_FUNCTOR(RoundF16, (float x), types::f16_to_f32(types::f32_to_f16(x)))
CAIRN_FUNCTOR(RoundBf16, (float x), types::bf16_to_f32(types::f32_to_bf16(x)))
CAIRN_FUNCTOR(RoundOdd, (double x), types::f64_to_f32_odd(x))
CAIRN_FUNCTOR(RoundOddI, (std::int64_t x), types::f64_to_f32_odd(types::i64_to_f64_odd(x)))
CAIRN_FUNCTOR(IsTrue, (auto x), x != 0)
// clang-format on

template <typename T>
auto wrapping(T x) {
    return static_cast<std::make_unsigned_t<T>>(x);
}
template <typename T>
T quotient(T x, T y) {
    if (y == 0) return 0;
    return y == -1 ? static_cast<T>(0 - wrapping(x)) : static_cast<T>(x / y);
}
// clang-format off
template <typename T> CAIRN_FUNCTOR(NegI, (T x), static_cast<T>(0 - wrapping(x)))
template <typename T> CAIRN_FUNCTOR(AbsI, (T x), x < 0 ? static_cast<T>(0 - wrapping(x)) : x)
template <typename T> CAIRN_FUNCTOR(AddI, (T x, T y), static_cast<T>(wrapping(x) + wrapping(y)))
template <typename T> CAIRN_FUNCTOR(SubI, (T x, T y), static_cast<T>(wrapping(x) - wrapping(y)))
template <typename T> CAIRN_FUNCTOR(MulI, (T x, T y), static_cast<T>(wrapping(x) * wrapping(y)))
template <typename T> CAIRN_FUNCTOR(DivI, (T x, T y), quotient(x, y))
template <typename T> CAIRN_FUNCTOR(To, (auto x), static_cast<T>(x))
// clang-format on

/// Truncated toward zero, held within the range of Limits; NaN gives 0.
template <typename To, typename Limits = To>
struct Saturate {
    template <typename From>
    To operator()(From x) const {
        if constexpr (std::is_floating_point_v<From>) {
            // The upper limit plus one is a power of two, so it has an exact float.
            const From above = static_cast<From>(static_cast<std::uint64_t>(std::numeric_limits<Limits>::max()) + 1);
            if (x != x) return 0;
            if (x >= above) return std::numeric_limits<Limits>::max();
            if (x <= static_cast<From>(std::numeric_limits<Limits>::min())) return std::numeric_limits<Limits>::min();
            return static_cast<To>(x);
        } else {
            const auto wide = static_cast<std::int64_t>(x);
            const auto low = static_cast<std::int64_t>(std::numeric_limits<Limits>::min());
            const auto high = static_cast<std::int64_t>(std::numeric_limits<Limits>::max());
            return static_cast<To>(wide < low ? low : wide > high ? high : wide);
        }
    }
};

template <template <typename> typename F>
constexpr BlockFunction integer_pair[2] = {each_pair<std::int32_t, std::int32_t, F<std::int32_t>>,
                                           each_pair<std::int64_t, std::int64_t, F<std::int64_t>>};
template <template <typename> typename F>
constexpr BlockFunction integer_each[2] = {each<std::int32_t, std::int32_t, F<std::int32_t>>,
                                           each<std::int64_t, std::int64_t, F<std::int64_t>>};

struct Row {
    BlockFunction of[slot_count];
};
constexpr Row real_row(BlockFunction f32, BlockFunction f64) { return {{f32, f64, nullptr, nullptr}}; }
constexpr Row number_row(BlockFunction f32, BlockFunction f64, const BlockFunction (&i)[2]) {
    return {{f32, f64, i[0], i[1]}};
}
template <typename F>
constexpr Row function_row() {
    return {{unary<F>, nullptr, nullptr, nullptr}};
}
template <typename F>
constexpr Row logic_row() {
    return {{nullptr, nullptr, each_pair<std::int32_t, std::int32_t, F>, nullptr}};
}
template <typename F>
constexpr Row compare_row() {
    return {{compare<F>, each_pair<double, std::int32_t, F>, each_pair<std::int32_t, std::int32_t, F>,
             each_pair<std::int64_t, std::int32_t, F>}};
}
template <typename T, typename F>
constexpr Row convert_row() {
    return {{each<float, T, F>, each<double, T, F>, each<std::int32_t, T, F>, each<std::int64_t, T, F>}};
}
template <typename V, typename D>
constexpr Row extreme_row() {
    return {{binary<V>, each_pair<double, double, D>, each_pair<std::int32_t, std::int32_t, D>,
             each_pair<std::int64_t, std::int64_t, D>}};
}
template <typename D>
constexpr BlockFunction on_double = each<double, double, D>;
template <typename D>
constexpr BlockFunction on_doubles = each_pair<double, double, D>;

constexpr Row function_of(BlockCode code) {
    switch (code) {
        case BlockCode::neg: return number_row(unary<Neg>, on_double<NegD>, integer_each<NegI>);
        case BlockCode::abs: return number_row(unary<Abs>, on_double<AbsD>, integer_each<AbsI>);
        case BlockCode::exp: return real_row(unary<Exp>, on_double<ExpD>);
        case BlockCode::log: return real_row(unary<Log>, on_double<LogD>);
        case BlockCode::sqrt: return real_row(unary<Sqrt>, on_double<SqrtD>);
        case BlockCode::rsqrt: return real_row(unary<Rsqrt>, on_double<RsqrtD>);
        case BlockCode::sin: return real_row(unary<Sin>, on_double<SinD>);
        case BlockCode::cos: return real_row(unary<Cos>, on_double<CosD>);
        case BlockCode::tanh: return real_row(unary<Tanh>, on_double<TanhD>);
        case BlockCode::erf: return real_row(unary<Erf>, on_double<ErfD>);
        case BlockCode::floor: return real_row(unary<Floor>, on_double<FloorD>);
        case BlockCode::relu: return function_row<Relu>();
        case BlockCode::sigmoid: return function_row<Sigmoid>();
        case BlockCode::silu: return function_row<Silu>();
        case BlockCode::gelu: return function_row<Gelu>();
        case BlockCode::gelu_tanh: return function_row<GeluTanh>();
        default: return {};
    }
}
constexpr Row pair_of(BlockCode code) {
    switch (code) {
        case BlockCode::add: return number_row(binary<Add>, on_doubles<AddD>, integer_pair<AddI>);
        case BlockCode::sub: return number_row(binary<Sub>, on_doubles<SubD>, integer_pair<SubI>);
        case BlockCode::mul: return number_row(binary<Mul>, on_doubles<MulD>, integer_pair<MulI>);
        case BlockCode::div: return number_row(binary<Div>, on_doubles<DivD>, integer_pair<DivI>);
        case BlockCode::min: return extreme_row<Min, MinAny>();
        case BlockCode::max: return extreme_row<Max, MaxAny>();
        case BlockCode::pow: return real_row(binary<Pow>, on_doubles<PowD>);
        case BlockCode::eq: return compare_row<Eq>();
        case BlockCode::ne: return compare_row<Ne>();
        case BlockCode::lt: return compare_row<Lt>();
        case BlockCode::le: return compare_row<Le>();
        case BlockCode::gt: return compare_row<Gt>();
        case BlockCode::ge: return compare_row<Ge>();
        case BlockCode::logical_and: return logic_row<And>();
        case BlockCode::logical_or: return logic_row<Or>();
        case BlockCode::logical_xor: return logic_row<Xor>();
        case BlockCode::logical_not: return {{nullptr, nullptr, each<std::int32_t, std::int32_t, Not>, nullptr}};
        case BlockCode::where:
            return {{where_f32, where_each<double>, where_each<std::int32_t>, where_each<std::int64_t>}};
        default: return {};
    }
}
constexpr Row conversion_of(BlockCode code) {
    switch (code) {
        case BlockCode::to_f32: return convert_row<float, To<float>>();
        case BlockCode::to_f32_odd:
            return {{nullptr, each<double, float, RoundOdd>, nullptr, each<std::int64_t, float, RoundOddI>}};
        case BlockCode::to_f64: return convert_row<double, To<double>>();
        case BlockCode::to_i64: return convert_row<std::int64_t, Saturate<std::int64_t>>();
        case BlockCode::to_i32: return convert_row<std::int32_t, Saturate<std::int32_t>>();
        case BlockCode::to_i8: return convert_row<std::int32_t, Saturate<std::int32_t, std::int8_t>>();
        case BlockCode::to_u8: return convert_row<std::int32_t, Saturate<std::int32_t, std::uint8_t>>();
        case BlockCode::to_bool: return convert_row<std::int32_t, IsTrue>();
        case BlockCode::round_f16: return {{each<float, float, RoundF16>, nullptr, nullptr, nullptr}};
        case BlockCode::round_bf16: return {{each<float, float, RoundBf16>, nullptr, nullptr, nullptr}};
        case BlockCode::round_i8: return {{nullptr, nullptr, each<std::int32_t, std::int32_t, Narrow8>, nullptr}};
        case BlockCode::round_u8: return {{nullptr, nullptr, each<std::int32_t, std::int32_t, NarrowU8>, nullptr}};
        case BlockCode::copy: return {{copy<4>, copy<8>, copy<4>, copy<8>}};
        default: return {};
    }
}
constexpr Row row_of(BlockCode code) {
    if (code <= BlockCode::gelu_tanh) return function_of(code);
    return code <= BlockCode::where ? pair_of(code) : conversion_of(code);
}

}  // namespace

#define CAIRN_ENTRY(name)                                                                         \
    {row_of(BlockCode::name).of[0], row_of(BlockCode::name).of[1], row_of(BlockCode::name).of[2], \
     row_of(BlockCode::name).of[3]},
constinit const BlockFunction block_functions[static_cast<int>(BlockCode::count)][slot_count] = {
    CAIRN_BLOCK_OPS(CAIRN_ENTRY)};
#undef CAIRN_ENTRY

}  // namespace CAIRN_LEVEL
