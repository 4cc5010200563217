#include "tests/kernels/cuda/kernel_cases.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

namespace cairn::kernels::cuda {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
constexpr DType all_dtypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16,   DType::i64,
                                DType::i32, DType::i8,  DType::u8,  DType::boolean};

std::int64_t low(DType dtype) {
    return dtype == DType::i64 ? INT64_MIN : dtype == DType::i32 ? INT32_MIN : dtype == DType::i8 ? -128 : 0;
}
std::int64_t high(DType dtype) {
    switch (dtype) {
        case DType::i64: return INT64_MAX;
        case DType::i32: return INT32_MAX;
        case DType::i8: return 127;
        case DType::u8: return 255;
        default: return 1;
    }
}

std::int64_t wrapped(std::uint64_t bits, DType dtype) {
    switch (dtype) {
        case DType::i64: return static_cast<std::int64_t>(bits);
        case DType::i32: return static_cast<std::int32_t>(bits);
        case DType::i8: return static_cast<std::int8_t>(bits);
        default: return static_cast<std::uint8_t>(bits);
    }
}

// Rounds to a float dtype through its bits: exact for the values of this test.
Number rounded(Number value, DType dtype) {
    if (dtype == DType::f64) return static_cast<double>(value);
    if (dtype == DType::f32 || !std::isfinite(value) || value == 0) return static_cast<float>(value);
    const int bits = dtype == DType::f16 ? 11 : 8, least = dtype == DType::f16 ? -13 : -125;
    int exponent = 0;
    std::frexp(value, &exponent);
    const int unit = std::max(exponent, least) - bits;
    const Number made = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
    const Number limit = dtype == DType::f16 ? 65504.0L : 3.3895313892515355e38L;
    return std::abs(made) > limit ? std::copysign(inf, made) : made;
}

Numbers special_values(DType dtype) {
    if (dtype == DType::boolean) return {0, 1};
    if (!is_float(dtype)) {
        Numbers values{0,
                       1,
                       2,
                       7,
                       100,
                       static_cast<Number>(low(dtype)),
                       static_cast<Number>(high(dtype)),
                       static_cast<Number>(high(dtype) - 1)};
        if (low(dtype) < 0) values.insert(values.end(), {-1, -3, -100, static_cast<Number>(low(dtype) + 1)});
        return values;
    }
    Numbers values{0.0, -0.0, 1, -1, 0.5, -2.5, 3, 100, -7.25, inf, -inf, nan, 1e-3, 20, -20, 6e4, -0.3};
    if (dtype != DType::f16) values.insert(values.end(), {1e30, -1e30, 3e9, -3e9, 1e19, -1e19, 1e-40});
    for (Number& value : values) value = rounded(value, dtype);
    return values;
}

bool is_same(Number a, Number b) {
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

struct Op {
    const char* name;
    int operands;
    const char* takes;  // f: floats, i: integers, b: booleans
    std::function<double(double, double)> real;
    std::function<std::uint64_t(std::int64_t, std::int64_t)> whole;
    bool truth = false, exact = true;
};

std::uint64_t bits(std::int64_t x) { return static_cast<std::uint64_t>(x); }

const std::vector<Op>& ops() {
    using D = double;
    using I = std::int64_t;
    static const std::vector<Op> all{
        {"neg", 1, "fi", [](D x, D) { return -x; }, [](I x, I) { return 0 - bits(x); }},
        {"abs", 1, "fi", [](D x, D) { return std::fabs(x); }, [](I x, I) { return x < 0 ? 0 - bits(x) : bits(x); }},
        {"add", 2, "fi", [](D x, D y) { return x + y; }, [](I x, I y) { return bits(x) + bits(y); }},
        {"sub", 2, "fi", [](D x, D y) { return x - y; }, [](I x, I y) { return bits(x) - bits(y); }},
        {"mul", 2, "fi", [](D x, D y) { return x * y; }, [](I x, I y) { return bits(x) * bits(y); }},
        {"div", 2, "fi", [](D x, D y) { return x / y; },
         [](I x, I y) { return y == 0    ? 0
                               : y == -1 ? 0 - bits(x)
                                         : bits(x / y); }},
        {"min", 2, "fi", [](D x, D y) { return x < y || x != x ? x : y; },
         [](I x, I y) { return bits(std::min(x, y)); }},
        {"max", 2, "fi", [](D x, D y) { return x > y || x != x ? x : y; },
         [](I x, I y) { return bits(std::max(x, y)); }},
        {"eq", 2, "fib", [](D x, D y) { return D(x == y); }, [](I x, I y) { return bits(x == y); }, true},
        {"ne", 2, "fib", [](D x, D y) { return D(x != y); }, [](I x, I y) { return bits(x != y); }, true},
        {"lt", 2, "fi", [](D x, D y) { return D(x < y); }, [](I x, I y) { return bits(x < y); }, true},
        {"le", 2, "fi", [](D x, D y) { return D(x <= y); }, [](I x, I y) { return bits(x <= y); }, true},
        {"gt", 2, "fi", [](D x, D y) { return D(x > y); }, [](I x, I y) { return bits(x > y); }, true},
        {"ge", 2, "fi", [](D x, D y) { return D(x >= y); }, [](I x, I y) { return bits(x >= y); }, true},
        {"bitwise_and", 2, "i", {}, [](I x, I y) { return bits(x & y); }},
        {"logical_and", 2, "b", {}, [](I x, I y) { return bits(x && y); }, true},
        {"logical_or", 2, "b", {}, [](I x, I y) { return bits(x || y); }, true},
        {"logical_xor", 2, "b", {}, [](I x, I y) { return bits(x != y); }, true},
        {"logical_not", 1, "b", {}, [](I x, I) { return bits(!x); }, true},
        {"sqrt", 1, "f", [](D x, D) { return std::sqrt(x); }, {}},
        {"floor", 1, "f", [](D x, D) { return std::floor(x); }, {}},
        {"rsqrt", 1, "f", [](D x, D) { return 1 / std::sqrt(x); }, {}, false, false},
        {"exp", 1, "f", [](D x, D) { return std::exp(x); }, {}, false, false},
        {"log", 1, "f", [](D x, D) { return std::log(x); }, {}, false, false},
        {"tanh", 1, "f", [](D x, D) { return std::tanh(x); }, {}, false, false},
        {"erf", 1, "f", [](D x, D) { return std::erf(x); }, {}, false, false},
        {"pow", 2, "f", [](D x, D y) { return std::pow(x, y); }, {}, false, false},
        {"sin", 1, "s", [](D x, D) { return std::sin(x); }, {}, false, false},
        {"cos", 1, "s", [](D x, D) { return std::cos(x); }, {}, false, false},
        {"relu", 1, "s", [](D x, D) { return x > 0 || x != x ? x : 0.0; }, {}},
        {"sigmoid", 1, "s", [](D x, D) { return 1 / (1 + std::exp(-x)); }, {}, false, false},
        {"silu", 1, "s", [](D x, D) { return x * (1 / (1 + std::exp(-x))); }, {}, false, false},
        {"gelu", 1, "s", [](D x, D) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }, {}, false, false},
        {"gelu_tanh",
         1,
         "s",
         [](D x, D) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); },
         {},
         false,
         false},
    };
    return all;
}

bool takes(const Op& op, DType dtype) {
    const std::string_view list = op.takes;
    if (list == "s") return is_float(dtype) && dtype != DType::f64;
    return list.find(is_float(dtype) ? 'f' : is_integer(dtype) ? 'i' : 'b') != std::string_view::npos;
}

// All ops on all dtypes and pairs of special values.
TEST(CudaElementwise, OpsHaveTheResultsOfTheReferenceOnSpecialValues) {
    struct Wanted {
        const Op* op;
        DType dtype;
    };
    std::vector<Wanted> wanted;
    std::vector<std::string> problems;
    for (const Op& op : ops()) {
        for (const DType dtype : all_dtypes) {
            if (!takes(op, dtype)) continue;
            const std::size_t n = special_values(dtype).size(), count = op.operands == 2 ? n * n : n;
            const std::string tensor = fmt::format(" {}[{}]", to_string(dtype), count);
            problems.push_back(fmt::format("{} |{}{} -> {}[{}]", op.name, tensor, op.operands == 2 ? tensor : "",
                                           to_string(op.truth ? DType::boolean : dtype), count));
            wanted.push_back({&op, dtype});
        }
    }
    const KernelCases cases(problems);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto& [op, dtype] = wanted[i];
        const Numbers values = special_values(dtype);
        std::vector<Numbers> inputs(static_cast<std::size_t>(op->operands));
        for (const Number a : values) {
            if (op->operands == 1) inputs[0].push_back(a);
            for (std::size_t b = 0; op->operands == 2 && b < values.size(); ++b) {
                inputs[0].push_back(a);
                inputs[1].push_back(values[b]);
            }
        }
        const Numbers y = cases.run(i, {}, inputs)[0];
        for (std::size_t n = 0; n < y.size(); ++n) {
            const Number a = inputs[0][n], b = inputs.back()[n];
            Number r;
            if (is_float(dtype)) {
                r = op->real(static_cast<double>(a), static_cast<double>(b));
                if (!op->truth) r = rounded(dtype == DType::f64 ? r : static_cast<float>(r), dtype);
            } else {
                const std::uint64_t made = op->whole(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b));
                r = static_cast<Number>(op->truth ? static_cast<std::int64_t>(made) : wrapped(made, dtype));
            }
            const Number near = dtype == DType::f16 ? 1e-3L : dtype == DType::bf16 ? 8e-3L : 2e-6L;
            const bool is_near = !op->exact && std::isfinite(r) && std::abs(y[n] - r) <= near * std::abs(r) + 1e-7L;
            ASSERT_TRUE(is_near || is_same(y[n], r)) << op->name << " of " << to_string(dtype) << ": " << a << ", " << b
                                                     << " gives " << y[n] << ", not " << r;
        }
    }
}

Number cast_of(Number value, DType from, DType to) {
    if (to == DType::boolean) return value != 0 ? 1 : 0;
    if (is_float(to)) return rounded(value, to);
    if (is_float(from) && std::isnan(value)) return 0;
    if (value <= static_cast<Number>(low(to))) return static_cast<Number>(low(to));
    if (value >= static_cast<Number>(high(to))) return static_cast<Number>(high(to));
    return std::trunc(value) + 0.0L;  // an integer has no -0
}

TEST(CudaElementwise, CastsRoundTruncateAndSaturate) {
    std::vector<std::string> problems;
    std::vector<std::pair<DType, DType>> pairs;
    const auto values_of = [](DType dtype) {
        Numbers values = special_values(dtype);
        // Halves between neighbours, and numbers that two roundings would get wrong.
        if (dtype == DType::i64 || dtype == DType::i32 || dtype == DType::f64 || dtype == DType::f32)
            for (const Number more :
                 {2049.0L, 2051.0L, 4097.0L, 65519.0L, 65520.0L, 16842753.0L, 16777217.0L, 257.0L, 385.0L})
                values.push_back(rounded(more, is_float(dtype) ? dtype : DType::f64));
        if (dtype == DType::f64)
            values.insert(values.end(), {1 + std::ldexp(1.0L, -11) + std::ldexp(1.0L, -40), 127.5L, -128.5L, 1e300L});
        if (dtype == DType::i64)
            values.insert(values.end(), {1099511627777.0L + 4294967296.0L, -1152921504606846977.0L});
        return values;
    };
    for (const DType from : all_dtypes)
        for (const DType to : all_dtypes) {
            const std::size_t count = values_of(from).size();
            problems.push_back(fmt::format("cast dtype=({}) | {}[{}] -> {}[{}]", static_cast<int>(to), to_string(from),
                                           count, to_string(to), count));
            pairs.emplace_back(from, to);
        }
    const KernelCases cases(problems);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto [from, to] = pairs[i];
        const Numbers x = values_of(from), y = cases.run(i, {}, {x})[0];
        for (std::size_t n = 0; n < x.size(); ++n)
            ASSERT_TRUE(is_same(y[n], cast_of(x[n], from, to)))
                << to_string(from) << " " << x[n] << " to " << to_string(to) << " gives " << y[n] << ", not "
                << cast_of(x[n], from, to);
    }
}

const std::vector<std::string> bodies{
    // Dense and repeated rows, two results, a boolean one.
    "elementwise {3=const(0.5):f32 4=mul(0,3):f32 5=add(4,1):f32 6=gt(5,2):bool 7=where(6,5,2):f32} | f32[T,N] "
    "f32[T,N]:(0,1) f32[T,N]:(1,0) -> f32[T,N] bool[T,N] results (7,6) where T in 0..70, N in 0..1100",
    // Rows of a multiple of 4 with gaps.
    "elementwise {3=const(0.5):f32 4=mul(0,3):f32 5=add(4,1):f32 6=gt(5,2):bool 7=where(6,5,2):f32} | "
    "f32[T,4*N]:(4*N + 8,1) f32[T,4*N]:(0,1) f32[T,4*N]:(1,0) -> f32[T,4*N]:(12*N,1) bool[T,4*N] results (7,6) where "
    "T in 0..70, N in 0..300",
    // Transposed.
    "elementwise {3=const(0.5):f32 4=mul(0,3):f32 5=add(4,1):f32 6=gt(5,2):bool 7=where(6,5,2):f32} | f32[T,N]:(1,T) "
    "f32[T,N]:(2*N,2) f32[T,N]:(0,0) -> f32[T,N]:(1,T) bool[T,N] results (7,6) where T in 0..70, N in 0..1100",
};

TEST(CudaElementwise, BodiesWithStridesAndSeveralResults) {
    const KernelCases cases(bodies);
    const std::vector<std::vector<std::int64_t>> sizes{{1, 1},   {3, 5},   {0, 3},   {7, 0},
                                                       {1, 255}, {5, 205}, {70, 17}, {2, 1024}};
    std::uint64_t seed = 1;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        for (std::vector<std::int64_t> size : sizes) {
            if (i == 1) size[1] = std::min<std::int64_t>(size[1], 256);
            for (const std::size_t misaligned : {0, 1}) {
                const Problem problem = cases.at(i, size);
                const auto inputs = random_inputs(problem, ++seed);
                const auto y = cases.run(i, size, inputs, {.seed = seed, .misaligned = misaligned});
                // Repeated elements hold what was filled last.
                const auto element = [&](std::size_t input, std::size_t n) {
                    const auto& tensor = problem.inputs[input];
                    const auto columns = static_cast<std::size_t>(tensor.shape[1].constant());
                    std::size_t row = n / columns, column = n % columns;
                    if (tensor.strides[0] == Dim(0)) row = static_cast<std::size_t>(tensor.shape[0].constant()) - 1;
                    if (tensor.strides[1] == Dim(0)) column = columns - 1;
                    return static_cast<float>(inputs[input][row * columns + column]);
                };
                for (std::size_t n = 0; n < y[0].size(); ++n) {
                    const float sum = element(0, n) * 0.5F + element(1, n), c = element(2, n);
                    ASSERT_EQ(y[0][n], sum > c ? sum : c) << bodies[i] << " " << n;
                    ASSERT_EQ(y[1][n], sum > c ? 1 : 0);
                }
            }
        }
    }
}

TEST(CudaElementwise, RunsInPlaceAndOnConstants) {
    const KernelCases cases(
        {"add | f32[N] f32[N] -> f32[N] where N in 0..5000",
         "elementwise {1=const(-7):i32 2=mul(0,1):i32 3=const(300):u8 4=const(nan):f32 5=const(-0):f32} "
         "| i32[N] -> i32[N] u8[N] f32[N] f32[N] results (2,3,4,5) where N in 0..90"});
    const std::vector<std::int64_t> size{2051};
    const auto inputs = random_inputs(cases.at(0, size), 5);
    const auto y = cases.run(0, size, inputs, {.same = {{1, 0}}})[0];
    for (std::size_t n = 0; n < y.size(); ++n)
        ASSERT_EQ(y[n], static_cast<float>(inputs[0][n]) + static_cast<float>(inputs[1][n]));
    const std::vector<std::int64_t> small{19};
    const auto x = random_inputs(cases.at(1, small), 6);
    const auto made = cases.run(1, small, x);
    for (std::size_t n = 0; n < 19; ++n) {
        EXPECT_EQ(made[0][n], x[0][n] * -7);
        EXPECT_EQ(made[1][n], 255);
        EXPECT_TRUE(std::isnan(made[2][n]));
        EXPECT_TRUE(made[3][n] == 0 && std::signbit(made[3][n]));
    }
}

}  // namespace
}  // namespace cairn::kernels::cuda
