#include <gmock/gmock.h>

#include <limits>

#include "random_size.hpp"

namespace cairn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

TEST(DimText, Forms) {
    const auto symbols = Symbols::create();
    const Dim n = symbols->add("N", 1, 1024), m = symbols->add("M", 0, 64);
    EXPECT_EQ(to_string(Dim(-3)), "-3");
    EXPECT_EQ(to_string(n), "N");
    EXPECT_EQ(to_string(2 * n + 3), "3 + 2*N");
    EXPECT_EQ(to_string(n - m - 1), "-1 - M + N");
    EXPECT_EQ(to_string(0 - n), "-N");
    EXPECT_EQ(to_string(n * n * m - 2 * m), "-2*M + M*N*N");
    EXPECT_EQ(to_string(floordiv(n, 2)), "floordiv(N, 2)");
    EXPECT_EQ(to_string(32 * ceildiv(n, 32)), "32*ceildiv(N, 32)");
    EXPECT_EQ(to_string(mod(n, m + 1)), "mod(N, 1 + M)");
    EXPECT_EQ(to_string(min(n, m) + max(n, m)), "min(M, N) + max(M, N)");
    EXPECT_EQ(to_string(std::numeric_limits<std::int64_t>::min() * n), "-9223372036854775808*N");
}

// Terms are ordered by name, so the text does not depend on the order in which symbols were created.
TEST(DimText, RoundTripOfRandomSizesThroughTwoTables) {
    const auto symbols = Symbols::create(), other = Symbols::create();
    const std::vector<Dim> all = {symbols->add("N", 1, 5), symbols->add("M", 0, 4), symbols->add("K", 2, 6)};
    other->add("K", 2, 6);
    other->add("N", 1, 5);
    other->add("M", 0, 4);
    std::mt19937_64 random(13);
    int seen = 0;
    for (int i = 0; i < 6000; ++i) {
        Dim dim;
        try {
            dim = test::random_size(random, 3, 1 + i % 5, true)->dim(all);
        } catch (const Error&) { continue; }
        const std::string text = to_string(dim);
        ASSERT_EQ(symbols->parse(text), dim) << text << " became " << to_string(symbols->parse(text));
        ASSERT_EQ(to_string(other->parse(text)), text);
        seen += dim.is_constant() ? 0 : 1;
    }
    EXPECT_GT(seen, 3000);
    const Dim least = std::numeric_limits<std::int64_t>::min() * all[0] + std::numeric_limits<std::int64_t>::min();
    EXPECT_EQ(symbols->parse(to_string(least)), least);
    EXPECT_EQ(symbols->parse(" ( N +1 ) * 2 "), 2 * all[0] + 2);
    EXPECT_EQ(symbols->parse("min(N, M, K)"), min(min(all[0], all[1]), all[2]));
}

TEST(DimText, ErrorsNameTheColumn) {
    const auto symbols = Symbols::create();
    symbols->add("N", 1, 1024);
    const std::string deep(10000, '(');
    std::string long_product = "N";
    for (int i = 0; i < 100; ++i) long_product += "*N";
    const std::pair<std::string, std::string> cases[] = {
        {"", "column 1: expected a size, got the end of the text"},
        {"3 +", "column 4: expected a size, got the end of the text"},
        {"3 + ]", "column 5: expected a size, got ']'"},
        {"N N", "column 3: expected the end of the size, got 'N'"},
        {"N + Q", "column 5: unknown symbol 'Q'"},
        {"foo(1, 2)", "column 1: unknown function 'foo'"},
        {"min(1)", "column 6: expected ',', got ')'"},
        {"floordiv(N, 2, 3)", "column 14: expected ')', got ','"},
        {"floordiv(N, 0)", "column 1: floordiv(N, 0) divides by zero"},
        {"(N", "column 3: expected ')', got the end of the text"},
        {"9223372036854775808", "column 1: the integer does not fit into 64 bits"},
        {"9223372036854775807*N*2", "does not fit into 64 bits"},
        {"99999999999999999999999", "column 1: the integer does not fit"},
        {"N\x01", "got '?'"},
        {deep, "column 65: brackets are nested too deeply"},
        {long_product, "does not fit"},
    };
    for (const auto& row : cases) {
        EXPECT_THAT([&] { symbols->parse(row.first); },
                    Throws<Error>(AllOf(Property(&Error::kind, ErrorKind::argument),
                                        Property(&Error::what, HasSubstr(row.second)))))
            << row.first.substr(0, 50);
    }
}

}  // namespace
}  // namespace cairn
