#include "cairn/types.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <thread>

#include "random_size.hpp"

namespace cairn {
namespace {

using test::all_values;
using test::random_size;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

constexpr auto biggest = std::numeric_limits<std::int64_t>::max();

struct Box {
    std::shared_ptr<Symbols> symbols = Symbols::create();
    Dim n = symbols->add("N", 1, 5), m = symbols->add("M", 0, 4), k = symbols->add("K", 2, 6);
    std::vector<Dim> all = {n, m, k};
    std::vector<std::vector<std::int64_t>> values = all_values(symbols->list());
};

TEST(Dim, ConstantsAreValues) {
    EXPECT_EQ(Dim(7), Dim(std::size_t{7}));
    EXPECT_EQ(Dim(), Dim(0));
    EXPECT_EQ((Dim(6) * 7 - 2).constant(), 40);
    EXPECT_TRUE((Dim(6) * 7).is_constant());
    EXPECT_EQ(floordiv(Dim(-7), 2), Dim(-4));
    EXPECT_EQ(ceildiv(Dim(-7), 2), Dim(-3));
    EXPECT_EQ(ceildiv(Dim(7), -2), Dim(-3));
    EXPECT_EQ(mod(Dim(-7), 3), Dim(2));
    EXPECT_EQ(mod(Dim(7), -3), Dim(-2));
    EXPECT_EQ(mod(Dim(std::numeric_limits<std::int64_t>::min()), -1), Dim(0));
    EXPECT_EQ(min(Dim(3), 4), Dim(3));
    EXPECT_EQ(max(Dim(3), 4), Dim(4));
    EXPECT_EQ(Dim(3).symbols(), nullptr);
    EXPECT_EQ(Dim(3).symbol(), "");
}

TEST(Dim, NormalFormMakesEqualPolynomialsIdentical) {
    Box box;
    const auto& [symbols, n, m, k, all, values] = box;
    EXPECT_EQ((n + 1) * (n - 1), n * n - 1);
    EXPECT_EQ((n + m) * (n + m), n * n + 2 * m * n + m * m);
    EXPECT_EQ(n - n, Dim(0));
    EXPECT_TRUE((n - n).is_constant());
    EXPECT_EQ((n * m).node(), (m * n).node());
    EXPECT_FALSE(n + 1 == n + 2);
    EXPECT_EQ(n.symbol(), "N");
    EXPECT_EQ((n + 1).symbol(), "");
    EXPECT_EQ((2 * n).symbol(), "");
    EXPECT_EQ((n * n).symbol(), "");
    EXPECT_EQ(n.symbols(), symbols);
}

TEST(Dim, FunctionsSimplifyIfTheResultIsProvable) {
    Box box;
    const auto& [symbols, n, m, k, all, values] = box;
    EXPECT_EQ(floordiv(4 * n, 2), 2 * n);
    EXPECT_EQ(floordiv(3 * n + 5, 3), n + 1);
    EXPECT_EQ(floordiv(4 * n + 3, 8), floordiv(n, 2));
    EXPECT_EQ(floordiv(n * m + 3 * n, n), m + 3);
    EXPECT_EQ(floordiv((n + k) * (m + 1), n + k), m + 1);
    EXPECT_EQ(floordiv(floordiv(n, 2), 3), floordiv(n, 6));
    EXPECT_EQ(floordiv(n, n + 1), Dim(0));
    EXPECT_EQ(floordiv(n, 6), Dim(0));
    EXPECT_EQ(floordiv(n, 2 * n), Dim(0));
    EXPECT_EQ(floordiv(m, -1), 0 - m);
    EXPECT_EQ(ceildiv(4 * n, 4), n);
    EXPECT_EQ(ceildiv(n, 2), floordiv(n + 1, 2));
    EXPECT_EQ(mod(4 * n, 2), Dim(0));
    EXPECT_EQ(mod(4 * n + 3, 8), 4 * mod(n, 2) + 3);
    EXPECT_EQ(mod(n, 6), n);
    EXPECT_EQ(mod(n * m, n), Dim(0));
    EXPECT_EQ(min(n, n + 1), n);
    EXPECT_EQ(max(n, n + 1), n + 1);
    EXPECT_EQ(min(n, 5), n);
    EXPECT_EQ(max(n, 1), n);
    EXPECT_EQ(min(n + 1, m + 1), min(m, n) + 1);
    EXPECT_EQ(min(2 * n, 2 * m), 2 * min(n, m));
    EXPECT_EQ(min(min(n, m), k), min(n, min(k, m)));
    EXPECT_EQ(min(n, n), n);
}

TEST(Dim, RandomExpressionsEvaluateAsWrittenAndKeepTheirBounds) {
    Box box;
    std::mt19937_64 random(1);
    std::size_t compared = 0, symbolic = 0;
    for (int i = 0; i < 6000; ++i) {
        const auto plain = random_size(random, 3, 1 + i % 4, true);
        Dim dim;
        try {
            dim = plain->dim(box.all);
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr("divides by zero"));
            continue;
        }
        if (!dim.is_constant()) ++symbolic;
        for (const auto& values : box.values) {
            const auto expected = plain->evaluate(values);
            if (!expected) continue;
            ++compared;
            ASSERT_EQ(dim.evaluate(values), *expected) << to_string(dim);
            ASSERT_LE(dim.lower_bound(), *expected) << to_string(dim);
            ASSERT_GE(dim.upper_bound(), *expected) << to_string(dim);
        }
    }
    EXPECT_GT(compared, 400000u);
    EXPECT_GT(symbolic, 3000u);
}

// Polynomials of degree <= 4 in each symbol that agree on 5 values of each are the same.
TEST(Dim, PolynomialsAreEqualIffTheirValuesAreEqual) {
    Box box;
    std::mt19937_64 random(2);
    int equal = 0;
    for (int i = 0; i < 20000; ++i) {
        const Dim a = random_size(random, 3, 2, false)->dim(box.all),
                  b = random_size(random, 3, 2, false)->dim(box.all);
        bool agree = true;
        for (const auto& values : box.values) agree = agree && a.evaluate(values) == b.evaluate(values);
        ASSERT_EQ(a == b, agree) << to_string(a) << " and " << to_string(b);
        equal += agree ? 1 : 0;
    }
    EXPECT_GT(equal, 50);
}

TEST(Dim, RingIdentitiesHoldForRandomExpressions) {
    Box box;
    std::mt19937_64 random(3);
    for (int i = 0; i < 2000; ++i) {
        const auto make = [&] { return random_size(random, 3, 2, false)->dim(box.all); };
        const Dim a = make(), b = make(), c = make();
        ASSERT_EQ(a * (b + c), a * b + a * c);
        ASSERT_EQ((a + b) - b, a);
        ASSERT_EQ((a * b) * c, a * (b * c));
        ASSERT_EQ(floordiv(a + 6 * b, 6), floordiv(a, 6) + b);
        ASSERT_EQ(mod(a + 6 * b, 6), mod(a, 6));
        ASSERT_EQ(min(a, b), min(b, a));
        ASSERT_EQ(max(a + 7, b + 7), max(a, b) + 7);
        ASSERT_EQ(min(3 * a, 3 * b), 3 * min(a, b));
    }
}

TEST(Dim, OverflowIsAnErrorThatShowsTheOperands) {
    Box box;
    const auto overflow = [](const std::string& text) {
        return Throws<Error>(Property(&Error::what, HasSubstr(text)));
    };
    EXPECT_THAT([] { (void)(Dim(biggest) + 1); },
                overflow("[size] (9223372036854775807) + (1) does not fit into 64 bits"));
    EXPECT_THAT([&] { (void)(box.n * biggest * 2); }, overflow("does not fit into 64 bits"));
    EXPECT_THAT(
        [&] {
            (void)(box.n * biggest).evaluate(std::vector<std::int64_t>{2, 0, 2});
        },
        overflow("for the given"));
    EXPECT_THAT([] { (void)floordiv(Dim(std::numeric_limits<std::int64_t>::min()), -1); }, overflow("floordiv("));
    EXPECT_THAT([] { (void)(Dim(0) - std::numeric_limits<std::int64_t>::min()); }, overflow(") - ("));
    EXPECT_THAT([] { (void)Dim(std::size_t{1} << 63); }, overflow("9223372036854775808"));
    EXPECT_EQ((box.n * biggest).upper_bound(), biggest);
    EXPECT_THAT(
        [&] {
            Dim power = box.n;
            for (int i = 0; i < 10; ++i) power = power * (power + box.m + box.k + 1);
        },
        overflow("does not fit"));
    EXPECT_THAT(
        [&] {
            Dim deep = box.n;
            for (int i = 0; i < 1000; ++i) deep = floordiv(1000 * box.k, deep + 1);
        },
        overflow("does not fit"));
}

TEST(Dim, DivisionByZeroIsAnError) {
    Box box;
    EXPECT_THAT([&] { (void)floordiv(box.n, 0); }, Throws<Error>(Property(&Error::kind, ErrorKind::graph)));
    EXPECT_THAT([&] { (void)mod(Dim(3), box.n - box.n); }, Throws<Error>(Property(&Error::kind, ErrorKind::graph)));
    EXPECT_THAT([&] { (void)ceildiv(Dim(3), 0); }, Throws<Error>(Property(&Error::kind, ErrorKind::graph)));
    const Dim quotient = floordiv(box.k, box.m);
    EXPECT_EQ(quotient.evaluate(std::vector<std::int64_t>{1, 2, 5}), 2);
    EXPECT_THAT(
        [&] {
            (void)quotient.evaluate(std::vector<std::int64_t>{1, 0, 5});
        },
        Throws<Error>(Property(&Error::kind, ErrorKind::argument)));
}

TEST(Dim, ConstantAndEvaluateNameTheDim) {
    Box box;
    EXPECT_THAT([&] { (void)(box.n + 1).constant(); }, Throws<Error>(Property(&Error::what, HasSubstr("1 + N"))));
    EXPECT_THAT(
        [&] {
            (void)box.k.evaluate(std::vector<std::int64_t>{1, 2});
        },
        Throws<Error>(Property(&Error::what, HasSubstr("K needs the values of 3 symbols; got 2"))));
}

TEST(Dim, TablesDoNotMix) {
    Box one, two;
    const auto mixed = Throws<Error>(Property(&Error::what, HasSubstr("two different tables")));
    EXPECT_THAT([&] { (void)(one.n + two.n); }, mixed);
    EXPECT_THAT([&] { (void)(one.n * two.m); }, mixed);
    EXPECT_THAT([&] { (void)min(one.n, two.m); }, mixed);
    EXPECT_THAT([&] { (void)floordiv(one.n, two.k); }, mixed);
    EXPECT_THAT([&] { (void)provably_le(one.n, two.n); }, mixed);
    EXPECT_FALSE(one.n == two.n);
}

TEST(Dim, ADimKeepsItsTableAlive) {
    Dim n;
    {
        const auto symbols = Symbols::create();
        n = floordiv(symbols->add("N", 1, 9) + 3, 2);
    }
    EXPECT_EQ(to_string(n + 1), "2 + ceildiv(N, 2)");
    EXPECT_EQ(n.evaluate(std::vector<std::int64_t>{4}), 3);
}

TEST(Dim, ManyThreadsInternTheSameNodes) {
    Box box;
    std::vector<std::vector<Dim>> made(4);
    std::vector<std::thread> threads;
    for (auto& dims : made) {
        threads.emplace_back([&dims, &box] {
            std::mt19937_64 random(5);
            for (int i = 0; i < 300; ++i) {
                try {
                    dims.push_back(random_size(random, 3, 3, true)->dim(box.all));
                } catch (const Error&) { dims.emplace_back(); }
            }
        });
    }
    for (auto& thread : threads) thread.join();
    for (const auto& dims : made) EXPECT_EQ(dims, made[0]);
}

}  // namespace
}  // namespace cairn
