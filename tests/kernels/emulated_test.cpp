// Checks instructions bit by bit against plain arithmetic: the twins, and the real instructions, which are trapped and
// emulated if the CPU lacks them.
#include "device/cpu/cpu_features.hpp"
#include "graph/types/half.hpp"
#include "tests/kernels/instruction_table.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#if defined(__x86_64__)
#include "tests/kernels/trap_and_emulate.hpp"
#endif

namespace cairn::test {
namespace {

struct Machine {
    const char* name;
    const InstructionTable* table;
    friend std::ostream& operator<<(std::ostream& out, const Machine& machine) { return out << machine.name; }
};

std::vector<Machine> machines() {
    std::vector<Machine> list = {{"twin8", &cairn_instructions_twin8}, {"twin16", &cairn_instructions_twin16}};
#if defined(__x86_64__)
    trap_missing_instructions();
    list.push_back({"amx", &cairn_instructions_amx});
    if (device::detect_features().includes(levels::avx2)) list.push_back({"avx_vnni", &cairn_instructions_avx_vnni});
    if (device::detect_features().includes(levels::avx512))
        list.push_back({"avx512", &cairn_instructions_avx512_vnni_bf16});
#endif
    return list;
}

class Instructions : public testing::TestWithParam<Machine> {
protected:
    const InstructionTable& table() const { return *GetParam().table; }
    std::size_t lanes() const { return static_cast<std::size_t>(table().lanes); }

    /// Runs f on `count` lanes of r, a and b, one vector after another.
    template <typename R, typename T>
    void run(InstructionTable::OnVectors f, std::vector<R>& r, const std::vector<T>& a, const std::vector<T>& b) const {
        ASSERT_EQ(r.size() % lanes(), 0u);
        for (std::size_t i = 0; i < r.size(); i += lanes()) f(&r[i], &a[i], &b[i]);
    }
};

bool same(float a, float b) {
    return (a != a && b != b) || std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}
std::string float_text(float x) {
    char text[64];
    std::snprintf(text, sizeof text, "%a (%08x)", static_cast<double>(x), std::bit_cast<std::uint32_t>(x));
    return text;
}

/// Floats of every kind: random bits, numbers close to one another, and the limits of each format.
std::vector<float> floats(std::size_t count, std::uint32_t seed) {
    constexpr float special[] = {0.0f,
                                 -0.0f,
                                 1.0f,
                                 -1.0f,
                                 0x1p-126f,
                                 -0x1p-126f,
                                 0x1.fffffcp-127f,
                                 0x1p-149f,
                                 -0x1p-149f,
                                 0x1.fffffep127f,
                                 0x1.fep127f,
                                 0x1.ffp127f,
                                 0x1.feffp0f,
                                 0x1.01p0f,
                                 0x1.03p0f,
                                 0x1.010002p0f,
                                 65504.0f,
                                 65519.996f,
                                 65520.0f,
                                 0x1p-24f,
                                 0x1p-25f,
                                 0x1.8p-25f,
                                 0x1.ffcp-15f,
                                 std::numeric_limits<float>::infinity(),
                                 -std::numeric_limits<float>::infinity(),
                                 std::numeric_limits<float>::quiet_NaN(),
                                 -std::numeric_limits<float>::quiet_NaN()};
    std::mt19937 random(seed);
    std::vector<float> list;
    for (std::size_t i = 0; i < count; ++i) {
        switch (random() % 4) {
            case 0: list.push_back(special[random() % std::size(special)]); break;
            case 1: list.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random()))); break;
            default: list.push_back(static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 512); break;
        }
    }
    return list;
}
std::vector<std::int32_t> words(std::size_t count, std::uint32_t seed) {
    constexpr std::uint32_t special[] = {0,           0x80808080u, 0x7f7f7f7fu, 0xffffffffu, 0x80008000u,
                                         0x7fff7fffu, 0x80000000u, 0x7fffffffu, 0xff00ff00u};
    std::mt19937 random(seed);
    std::vector<std::int32_t> list;
    for (std::size_t i = 0; i < count; ++i)
        list.push_back(std::bit_cast<std::int32_t>(random() % 3 == 0 ? special[random() % std::size(special)]
                                                                     : static_cast<std::uint32_t>(random())));
    return list;
}
/// Pairs of bf16, of every kind.
std::vector<std::int32_t> bf16_pairs(std::size_t count, std::uint32_t seed) {
    const std::vector<float> from = floats(2 * count, seed);
    std::vector<std::int32_t> list;
    for (std::size_t i = 0; i < count; ++i)
        list.push_back(std::bit_cast<std::int32_t>((std::bit_cast<std::uint32_t>(from[2 * i]) & 0xffff0000u) |
                                                   std::bit_cast<std::uint32_t>(from[2 * i + 1]) >> 16));
    return list;
}

// 113 bits: products are exact. The rounding error of a sum makes its last bit odd, so that a second rounding gives the
// rounding of the exact sum.
#if defined(__SIZEOF_FLOAT128__)
using Quad = __float128;
#else
using Quad = long double;
#endif

Quad magnitude(Quad x) { return x < 0 ? -x : x; }

Quad sum_of(Quad a, Quad b) {
    const Quad sum = a + b, more = magnitude(a) > magnitude(b) ? b - (sum - a) : a - (sum - b);
    auto bits = std::bit_cast<unsigned __int128>(sum);
    if (more != 0 && (bits & 1) == 0) bits += (more > 0) == (sum > 0) ? 1 : ~static_cast<unsigned __int128>(0);
    return magnitude(sum) < static_cast<Quad>(HUGE_VAL) ? std::bit_cast<Quad>(bits) : sum;
}

TEST_P(Instructions, MultiplyAddRoundsOnce) {
    if (table().multiply_add == nullptr) return;
    const auto a = floats(4096, 1), b = floats(4096, 2), c = floats(4096, 3);
    auto r = c;
    run(table().multiply_add, r, a, b);
    for (std::size_t i = 0; i < r.size(); ++i) {
        const auto wanted =
            static_cast<float>(sum_of(static_cast<Quad>(a[i]) * static_cast<Quad>(b[i]), static_cast<Quad>(c[i])));
        ASSERT_TRUE(same(r[i], wanted)) << float_text(a[i]) << " * " << float_text(b[i]) << " + " << float_text(c[i])
                                        << " = " << float_text(r[i]) << ", not " << float_text(wanted);
    }
}

TEST_P(Instructions, MultiplyAddOfDoublesRoundsOnce) {
    if (table().multiply_add_f64 == nullptr) return;
    const auto few = floats(4096, 1), more = floats(4096, 2);
    std::vector<double> a, b, c;
    for (std::size_t i = 0; i < few.size(); ++i) {
        // 53 bits each, so that products lose some.
        a.push_back(static_cast<double>(few[i]) * (1 + 0x1p-40 * static_cast<double>(i)));
        b.push_back(static_cast<double>(more[i]) * (1 + 0x1p-51 * static_cast<double>(i % 5)));
        c.push_back(static_cast<double>(few[few.size() - 1 - i]));
    }
    auto r = c;
    for (std::size_t i = 0; i < r.size(); i += lanes() / 2) table().multiply_add_f64(&r[i], &a[i], &b[i]);
    for (std::size_t i = 0; i < r.size(); ++i) {
        const double wanted = std::fma(a[i], b[i], c[i]);
        ASSERT_TRUE(r[i] == wanted || (r[i] != r[i] && wanted != wanted)) << i << ": " << r[i] << ", not " << wanted;
    }
}

TEST_P(Instructions, MultiplyAddOfIntegersWraps) {
    if (table().multiply_add_u16 == nullptr) return;
    const auto a = words(4096, 5), b = words(4096, 6), c = words(4096, 7);
    auto wide = c, narrow = c;
    run(table().multiply_add_u32, wide, a, b);
    run(table().multiply_add_u16, narrow, a, b);
    for (std::size_t i = 0; i < c.size(); ++i) {
        const auto x = std::bit_cast<std::uint32_t>(a[i]), y = std::bit_cast<std::uint32_t>(b[i]),
                   z = std::bit_cast<std::uint32_t>(c[i]);
        ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[i]), z + x * y);
        const std::uint32_t low = (z + x * y) & 0xffff, high = ((z >> 16) + (x >> 16) * (y >> 16)) & 0xffff;
        ASSERT_EQ(std::bit_cast<std::uint32_t>(narrow[i]), high << 16 | low);
    }
}

TEST_P(Instructions, Roots) {
    if (table().sqrt == nullptr) return;
    const auto a = floats(4096, 4);
    auto r = a;
    run(table().sqrt, r, a, a);
    for (std::size_t i = 0; i < r.size(); ++i)
        ASSERT_TRUE(same(r[i], static_cast<float>(std::sqrt(static_cast<double>(a[i]))))) << float_text(a[i]);
}

TEST_P(Instructions, ScalesByPowersOfTwo) {
    if (table().scaled == nullptr) return;
    const auto a = floats(4096, 8);
    auto n = a, r = a;
    for (std::size_t i = 0; i < n.size(); ++i) n[i] = static_cast<float>(static_cast<int>(i * 37 % 601) - 300);
    n[5] = std::numeric_limits<float>::quiet_NaN();
    run(table().scaled, r, a, n);
    for (std::size_t i = 0; i < r.size(); ++i) {
        const float wanted =
            i == 5 ? n[5] : static_cast<float>(std::ldexp(static_cast<double>(a[i]), static_cast<int>(n[i])));
        ASSERT_TRUE(same(r[i], wanted)) << float_text(a[i]) << " and " << n[i];
    }
}

TEST_P(Instructions, PartialLoadsAndStoresTouchNoOtherMemory) {
    if (table().load_part == nullptr) return;
    // The last elements of a page, whose neighbour is protected, would fault; poison values show other writes.
    for (int count = 0; count < table().lanes; ++count) {
        std::vector<float> from(lanes()), to(lanes(), -1.0f);
        for (std::size_t i = 0; i < lanes(); ++i) from[i] = static_cast<float>(i) + 0.5f;
        table().load_part(to.data(), from.data(), count);
        for (int i = 0; i < table().lanes; ++i)
            ASSERT_EQ(to[static_cast<std::size_t>(i)], i < count ? from[static_cast<std::size_t>(i)] : 0.0f) << count;
        to.assign(lanes(), -1.0f);
        table().store_part(to.data(), from.data(), count);
        for (int i = 0; i < table().lanes; ++i)
            ASSERT_EQ(to[static_cast<std::size_t>(i)], i < count ? from[static_cast<std::size_t>(i)] : -1.0f) << count;
    }
}

/// The nearest float of the format with `digits` fraction bits and exponents from `least` on, ties to even; infinite
/// from 2^(1 - least) on, less half a step.
double nearest(double x, int digits, int least, double most) {
    if (x == 0 || !std::isfinite(x)) return x;
    const int exponent = std::max(std::ilogb(x), least);
    const double step = std::ldexp(1.0, exponent - digits), rounded = std::nearbyint(x / step) * step;
    return std::fabs(rounded) > most ? std::copysign(std::numeric_limits<double>::infinity(), x) : rounded;
}

TEST_P(Instructions, F16RoundTrips) {
    if (table().from_f16 == nullptr) return;
    std::vector<std::uint16_t> halves(65536);
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
    std::vector<float> wide(halves.size());
    run(table().from_f16, wide, halves, halves);
    for (std::size_t i = 0; i < wide.size(); ++i) {
        const int exponent = static_cast<int>(i >> 10 & 31), digits = static_cast<int>(i & 1023);
        double value = std::ldexp(exponent == 0 ? digits : digits + 1024, std::max(exponent, 1) - 25);
        if (exponent == 31) value = digits == 0 ? HUGE_VAL : std::nan("");
        ASSERT_TRUE(same(wide[i], static_cast<float>(i >= 32768 ? -value : value))) << i;
    }
    std::vector<float> from = floats(8192, 5);
    std::vector<std::uint16_t> to(from.size());
    run(table().to_f16, to, from, from);
    for (std::size_t i = 0; i < to.size(); ++i)
        ASSERT_TRUE(same(types::f16_to_f32(to[i]), static_cast<float>(nearest(from[i], 10, -14, 65504))))
            << float_text(from[i]);
}

template <typename T>
std::int64_t part_of(std::int32_t word, int i) {
    return static_cast<T>(static_cast<std::uint32_t>(word) >> (8 * sizeof(T) * static_cast<unsigned>(i)));
}
std::int64_t products_i16(std::int32_t a, std::int32_t b) {
    return part_of<std::int16_t>(a, 0) * part_of<std::int16_t>(b, 0) +
           part_of<std::int16_t>(a, 1) * part_of<std::int16_t>(b, 1);
}
template <typename A>
std::int64_t products_i8(std::int32_t a, std::int32_t b) {
    std::int64_t sum = 0;
    for (int i = 0; i < 4; ++i) sum += part_of<A>(a, i) * part_of<std::int8_t>(b, i);
    return sum;
}
std::int64_t wrap(std::int64_t x) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(x)); }
std::int64_t clamp_to(std::int64_t x, int bits) {
    const std::int64_t most = (std::int64_t{1} << (bits - 1)) - 1;
    return std::clamp(x, -most - 1, most);
}

TEST_P(Instructions, IntegerDots) {
    const auto a = words(8192, 6), b = words(8192, 7), start = words(8192, 8);
    int wrapped = 0, held = 0;
    const auto check = [&](const char* name, InstructionTable::OnVectors f, auto wanted) {
        if (f == nullptr) return;
        auto r = start;
        run(f, r, a, b);
        for (std::size_t i = 0; i < r.size(); ++i)
            ASSERT_EQ(r[i], wanted(start[i], a[i], b[i])) << name << " " << start[i] << " " << a[i] << " " << b[i];
    };
    check("pairs_i16", table().pairs_i16, [](auto, auto x, auto y) { return wrap(products_i16(x, y)); });
    check("pairs_u8_i8", table().pairs_u8_i8, [](auto, auto x, auto y) {
        const auto half = [&](int i) {
            return clamp_to(part_of<std::uint8_t>(x, i) * part_of<std::int8_t>(y, i) +
                                part_of<std::uint8_t>(x, i + 1) * part_of<std::int8_t>(y, i + 1),
                            16);
        };
        return wrap((half(0) & 0xffff) | half(2) << 16);
    });
    check("dot_i16", table().dot_i16, [&](auto s, auto x, auto y) {
        const std::int64_t sum = s + products_i16(x, y);
        wrapped += wrap(sum) != sum;
        return wrap(sum);
    });
    check("dot_i16_saturated", table().dot_i16_saturated, [&](auto s, auto x, auto y) {
        const std::int64_t sum = s + products_i16(x, y);
        held += clamp_to(sum, 32) != sum;
        return clamp_to(sum, 32);
    });
    check("dot_u8_i8", table().dot_u8_i8,
          [](auto s, auto x, auto y) { return wrap(s + products_i8<std::uint8_t>(x, y)); });
    check("dot_u8_i8_saturated", table().dot_u8_i8_saturated,
          [](auto s, auto x, auto y) { return clamp_to(s + products_i8<std::uint8_t>(x, y), 32); });
    if (table().dot_i16 == nullptr) return;
    EXPECT_GT(wrapped, 100);
    EXPECT_GT(held, 100);
}

float flush(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

/// a b + c with one rounding and subnormals flushed to zero: results that round to less than 2^-126 in 24 bits.
float step(float a, float b, float c) {
    const Quad sum = sum_of(static_cast<Quad>(flush(a)) * static_cast<Quad>(flush(b)), static_cast<Quad>(flush(c)));
    if (magnitude(sum) < static_cast<Quad>(0x1p-126) - static_cast<Quad>(0x1p-151))
        return std::signbit(static_cast<double>(sum)) ? -0.0f : 0.0f;
    return static_cast<float>(sum);
}
float bf16(std::int32_t pair, int i) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(part_of<std::uint16_t>(pair, i)) << 16);
}

TEST_P(Instructions, Bf16Dots) {
    if (table().dot_bf16 == nullptr) return;
    auto a = bf16_pairs(16384, 9), b = bf16_pairs(16384, 10);
    auto start = floats(16384, 11);
    // Near the largest subnormal, where a result may round up to 2^-126: a sum less a small product.
    std::mt19937 random(12);
    for (std::size_t i = 0; i < 4096; ++i) {
        start[i] = std::bit_cast<float>(0x00800000u + static_cast<std::uint32_t>(random() % 3));
        a[i] = std::bit_cast<std::int32_t>(0x00000000u | (0x3f80u - 128 * static_cast<std::uint32_t>(random() % 30)) |
                                           0x8000u);
        b[i] = std::bit_cast<std::int32_t>(0x00800000u + static_cast<std::uint32_t>(0x80 + random() % 2));
    }
    auto r = start;
    for (std::size_t i = 0; i < r.size(); i += lanes()) table().dot_bf16(&r[i], &a[i], &b[i]);
    for (std::size_t i = 0; i < r.size(); ++i) {
        const float wanted = step(bf16(a[i], 0), bf16(b[i], 0), step(bf16(a[i], 1), bf16(b[i], 1), start[i]));
        ASSERT_TRUE(same(r[i], wanted)) << float_text(start[i]) << " + " << float_text(bf16(a[i], 1)) << " * "
                                        << float_text(bf16(b[i], 1)) << " + " << float_text(bf16(a[i], 0)) << " * "
                                        << float_text(bf16(b[i], 0)) << " = " << float_text(r[i]) << ", not "
                                        << float_text(wanted);
    }
}

TEST_P(Instructions, Bf16Rounding) {
    if (table().to_bf16 == nullptr) return;
    auto from = floats(16384, 13);
    // Every tie and its neighbours on either side.
    for (std::uint32_t i = 0; i < 8192; ++i)
        from[i] = std::bit_cast<float>((0x3f80u + i / 4 % 256) << 16 | (0x7fff + i % 4));
    std::vector<std::uint16_t> to(from.size());
    run(table().to_bf16, to, from, from);
    for (std::size_t i = 0; i < to.size(); ++i) {
        const float wanted = static_cast<float>(nearest(flush(from[i]), 7, -126, 0x1.fep127));
        ASSERT_TRUE(same(types::bf16_to_f32(to[i]), wanted)) << float_text(from[i]) << " to " << to[i];
    }
}

TEST_P(Instructions, TileProducts) {
    struct Shape {
        int rows, columns, depth;
    };
    for (const Shape s : {Shape{16, 16, 16}, {1, 1, 1}, {3, 16, 5}, {16, 2, 7}, {5, 9, 16}}) {
        const auto size = [](int a, int b) { return static_cast<std::size_t>(a * b); };
        const auto check = [&](InstructionTable::OnTiles f, const auto& a, const auto& b, const auto& start,
                               auto wanted) {
            if (f == nullptr) return;
            auto c = start;
            f(c.data(), a.data(), b.data(), s.rows, s.columns, s.depth);
            for (int row = 0; row < s.rows; ++row)
                for (int column = 0; column < s.columns; ++column) {
                    const auto at = size(row, s.columns) + static_cast<std::size_t>(column);
                    wanted(c[at], start[at], &a[size(row, s.depth)], &b[static_cast<std::size_t>(column)]);
                }
        };
        const auto a = words(size(s.rows, s.depth), 14), b = words(size(s.depth, s.columns), 15),
                   start = words(size(s.rows, s.columns), 16);
        check(table().tile_i8, a, b, start, [&](auto got, auto sum, const auto* x, const auto* y) {
            std::int64_t exact = sum;
            for (int k = 0; k < s.depth; ++k) exact += products_i8<std::int8_t>(x[k], y[k * s.columns]);
            ASSERT_EQ(got, wrap(exact));
        });
        check(table().tile_u8_i8, a, b, start, [&](auto got, auto sum, const auto* x, const auto* y) {
            std::int64_t exact = sum;
            for (int k = 0; k < s.depth; ++k) exact += products_i8<std::uint8_t>(x[k], y[k * s.columns]);
            ASSERT_EQ(got, wrap(exact));
        });
        const auto fa = bf16_pairs(size(s.rows, s.depth), 17), fb = bf16_pairs(size(s.depth, s.columns), 18);
        const auto sums = floats(size(s.rows, s.columns), 19);
        check(table().tile_bf16, fa, fb, sums, [&](float got, float sum, const auto* x, const auto* y) {
            float chain[2] = {};
            for (int k = 0; k < s.depth; ++k)
                for (int i : {0, 1}) chain[i] = step(bf16(x[k], i), bf16(y[k * s.columns], i), chain[i]);
            const float wanted = step(1.0f, step(1.0f, chain[1], chain[0]), sum);
            ASSERT_TRUE(same(got, wanted)) << float_text(got) << ", not " << float_text(wanted);
        });
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, Instructions, testing::ValuesIn(machines()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace cairn::test
