#include "selection/search/natural.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::search::test {
namespace {

constexpr std::uint64_t most = 0xFFFFFFFFFFFFFFFFU;

Natural power(std::uint64_t base, int exponent) {
    Natural result = 1;
    for (int i = 0; i < exponent; ++i) result *= base;
    return result;
}

TEST(Natural, IsWrittenInDecimalDigitsAndReadBack) {
    EXPECT_EQ(Natural().to_string(), "0");
    EXPECT_EQ(Natural(most).to_string(), "18446744073709551615");
    EXPECT_EQ((Natural(most) + 1).to_string(), "18446744073709551616");
    EXPECT_EQ(power(10, 999).to_string(), "1" + std::string(999, '0'));
    for (int exponent = 0; exponent < 300; ++exponent)
        for (const Natural& number : {power(2, exponent), power(2, exponent) - 1, power(10, exponent)})
            EXPECT_EQ(Natural::parse(number.to_string()), number);
    EXPECT_EQ(Natural::parse("000"), Natural());
    EXPECT_EQ(Natural::parse("007"), Natural(7));
    for (const char* text : {"", "-1", "+1", " 1", "1 ", "1.0", "0x10", "a", "12a"})
        EXPECT_EQ(Natural::parse(text), std::nullopt) << text;
    EXPECT_EQ(Natural::parse(std::string_view("1\0002", 3)), std::nullopt);
}

TEST(Natural, AgreesWithBuiltInIntegers) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 2000; ++i) {
        const std::uint64_t a = random() >> (33 + random() % 31), b = random() >> (33 + random() % 31);
        EXPECT_EQ(Natural(a) + b, Natural(a + b));
        EXPECT_EQ(Natural(a) * b, Natural(a * b));
        EXPECT_EQ(Natural(std::max(a, b)) - std::min(a, b), Natural(std::max(a, b) - std::min(a, b)));
        EXPECT_EQ(Natural(a).divmod(b + 1), (std::pair<Natural, Natural>(a / (b + 1), a % (b + 1))));
        EXPECT_EQ(Natural(a) <=> Natural(b), a <=> b);
        EXPECT_EQ(Natural(a) == Natural(b), a == b);
        EXPECT_EQ(Natural(a).to_string(), std::to_string(a));
    }
}

TEST(Natural, LargeNumbersObeyTheLawsOfArithmetic) {
    std::mt19937_64 random(2);
    const auto any = [&] {
        return Natural::uniform_below(power(7, static_cast<int>(random() % 200)), std::ref(random));
    };
    for (int i = 0; i < 500; ++i) {
        const Natural a = any(), b = any(), c = any() + 1;
        EXPECT_EQ((a + b) * c, a * c + b * c);
        EXPECT_EQ(a + b - b, a);
        const auto [quotient, remainder] = a.divmod(c);
        EXPECT_EQ(quotient * c + remainder, a);
        EXPECT_LT(remainder, c);
    }
}

TEST(Natural, HasValueSemantics) {
    Natural a = power(3, 100);
    const Natural b = a;
    a += 1;
    EXPECT_NE(a, b);
    Natural& same = a;
    a = same;
    a += same;
    EXPECT_EQ(a, (b + 1) * 2);
    a *= a;
    EXPECT_EQ(a, (b + 1) * (b + 1) * 4);
    a -= same;
    EXPECT_EQ(a, 0);
    EXPECT_EQ(a.to_string(), "0");
    a = b;
    const Natural moved = std::move(a);
    EXPECT_EQ(moved, b);
}

TEST(Natural, NegativeResultsAndDivisionByZeroAreRefused) {
    EXPECT_THROW(Natural(1) - 2, std::domain_error);
    EXPECT_THROW(Natural() - 1, std::domain_error);
    EXPECT_EQ(Natural() - 0, 0);
    EXPECT_THROW(Natural(1).divmod(0), std::domain_error);
    EXPECT_THROW(Natural::uniform_below(0, [] { return most; }), std::domain_error);
}

TEST(Natural, ReportsBitsAndLogarithm) {
    EXPECT_EQ(Natural().log10(), -INFINITY);
    EXPECT_EQ(Natural(1).log10(), 0);
    for (int exponent = 1; exponent < 400; ++exponent) {
        EXPECT_NEAR(power(10, exponent).log10(), exponent, 1e-13 * exponent);
        EXPECT_NEAR((power(7, exponent) + 1).log10(),
                    std::log10(1.0 / std::pow(7.0, exponent) + 1) + exponent * std::log10(7.0), 1e-13 * exponent);
        EXPECT_EQ(power(2, exponent).bits(), exponent + 1);
        EXPECT_EQ((power(2, exponent) - 1).bits(), exponent);
    }
}

TEST(Natural, UniformBelowDrawsUntilTheNumberIsLess) {
    std::vector<std::uint64_t> draws{most, std::uint64_t{5} << 61, std::uint64_t{3} << 61};
    std::size_t drawn = 0;
    const auto next = [&] { return draws.at(drawn++); };
    EXPECT_EQ(Natural::uniform_below(5, next), 3) << "7 and 5 are too large";
    EXPECT_EQ(drawn, 3U);
    EXPECT_EQ(Natural::uniform_below(1, next), 0) << "nothing to draw";
    drawn = 0;
    draws = {1U << 31, most, std::uint64_t{1} << 63, 17};
    EXPECT_EQ(Natural::uniform_below(power(2, 65), next), most) << "65 bits: the highest of the first draw comes first";
    EXPECT_EQ(Natural::uniform_below(power(2, 65), next), power(2, 64) + 17);
    drawn = 0;
    draws = {most};
    EXPECT_EQ(Natural::uniform_below(power(2, 64), next), most);
}

TEST(Natural, UniformBelowIsUniformBeyondAWord) {
    // 3 * 2^64 numbers by their thirds.
    std::mt19937_64 random(3);
    int thirds[3] = {};
    for (int i = 0; i < 30'000; ++i) {
        const Natural third = Natural::uniform_below(power(2, 64) * 3, std::ref(random)).divmod(power(2, 64)).first;
        ++thirds[third == 0 ? 0 : third == 1 ? 1 : 2];
    }
    double chi_square = 0;
    for (const int times : thirds) chi_square += (times - 10'000.0) * (times - 10'000.0) / 10'000.0;
    EXPECT_LT(chi_square, 13.8) << "2 degrees of freedom, one in a thousand";
}

}  // namespace
}  // namespace cairn::search::test
