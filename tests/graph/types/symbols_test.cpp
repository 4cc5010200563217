#include <gmock/gmock.h>

#include <limits>

#include "random_size.hpp"

namespace cairn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

auto fails(ErrorKind kind, const std::string& text) {
    return Throws<Error>(AllOf(Property(&Error::kind, kind), Property(&Error::what, HasSubstr(text))));
}

TEST(Symbols, ANameDenotesOneSymbol) {
    const auto symbols = Symbols::create();
    const Dim n = symbols->add("N", 1, 1024);
    EXPECT_EQ(symbols->add("N", 1, 1024), n);
    EXPECT_EQ(symbols->find("N"), n);
    EXPECT_EQ(symbols->find("M"), std::nullopt);
    EXPECT_EQ(n.lower_bound(), 1);
    EXPECT_EQ(n.upper_bound(), 1024);
    symbols->add("A_1", 0, 0);
    const auto list = symbols->list();
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0].name, "N");
    EXPECT_EQ(list[1].name, "A_1");
    EXPECT_EQ(list[1].high, 0);
}

TEST(Symbols, InvalidOnesAreRefused) {
    const auto symbols = Symbols::create();
    symbols->add("N", 1, 1024);
    const auto add = [&](std::string_view name, std::int64_t low, std::int64_t high) {
        return [=] { symbols->add(name, low, high); };
    };
    EXPECT_THAT(add("", 0, 1), fails(ErrorKind::graph, "[symbol] '' is no name"));
    EXPECT_THAT(add("3x", 0, 1), fails(ErrorKind::graph, "is no name"));
    EXPECT_THAT(add("a b", 0, 1), fails(ErrorKind::graph, "is no name"));
    EXPECT_THAT(add("min", 0, 1), fails(ErrorKind::graph, "is no name"));
    EXPECT_THAT(add("M", -1, 1), fails(ErrorKind::graph, "'M' has the bounds [-1, 1]: a size cannot be negative"));
    EXPECT_THAT(add("M", 3, 2), fails(ErrorKind::graph, "[3, 2]"));
    EXPECT_THAT(add("M", 0, std::numeric_limits<std::int64_t>::max()), fails(ErrorKind::graph, "unbounded symbol"));
    EXPECT_THAT(add("N", 1, 512), fails(ErrorKind::graph, "'N' has the bounds [1, 1024] already; got [1, 512]"));
    EXPECT_EQ(symbols->list().size(), 1u);
}

TEST(Symbols, SubstitutionEqualsEvaluation) {
    const auto from = Symbols::create(), to = Symbols::create();
    const std::vector<Dim> all = {from->add("N", 1, 4), from->add("M", 0, 3), from->add("K", 2, 5)};
    const Dim x = to->add("X", 1, 2), y = to->add("Y", 0, 3);
    const std::vector<Dim> replacements = {x * 2, y, 3};
    std::mt19937_64 random(11);
    int compared = 0;
    for (int i = 0; i < 2000; ++i) {
        Dim before, after;
        try {
            before = test::random_size(random, 3, 3, true)->dim(all);
            after = to->substitute(before, replacements);
        } catch (const Error&) {
            continue;  // a divisor became 0
        }
        for (const auto& point : test::all_values(to->list())) {
            const std::vector<std::int64_t> old_point = {point[0] * 2, point[1], 3};
            std::int64_t expected = 0;
            try {
                expected = before.evaluate(old_point);
            } catch (const Error&) { continue; }
            ASSERT_EQ(after.evaluate(point), expected) << to_string(before) << " became " << to_string(after);
            ++compared;
        }
    }
    EXPECT_GT(compared, 8000);
}

TEST(Symbols, SubstitutionChecksItsReplacements) {
    const auto from = Symbols::create(), to = Symbols::create();
    const Dim n = from->add("N", 1, 4), m = from->add("M", 1, 4);
    EXPECT_THAT([&] { to->substitute(m, std::vector<Dim>{1}); }, fails(ErrorKind::argument, "2 symbols; got 1"));
    EXPECT_THAT([&] { to->substitute(m, std::vector<Dim>{1, n}); }, fails(ErrorKind::graph, "another symbol table"));
    EXPECT_EQ(to->substitute(5, {}), Dim(5));
    EXPECT_EQ(from->substitute(n * m, std::vector<Dim>{m, n}), n * m);
    EXPECT_EQ(to->substitute(n + m, std::vector<Dim>{2, 3}), Dim(5));
}

}  // namespace
}  // namespace cairn
