#include "tests/fusion/expressions.hpp"

#include "graph/ir/print.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cairn::test {
namespace {

Graph spelled(const Family& family, const Expression& expression) {
    Graph graph(family.definition);
    graph.output("y", expression.build(family.operands(graph)));
    return graph;
}

// The matches of one expression, each checked by value. Different expressions must be different graphs.
Proposed matches_of(const Family& family, const Expression& expression, std::set<std::string>& seen) {
    const Graph graph = spelled(family, expression);
    EXPECT_TRUE(seen.insert(to_string(graph)).second) << expression.text << " is written twice";
    Proposed result = proposed(graph);
    EXPECT_EQ(fault_in_matches(result, 7), "") << expression.text;
    return result;
}

// An output may have several fused bodies.
const fusion::Match* match_of(const Family& family, const Proposed& matches) {
    return family.definition == "fused" ? match_that_is(matches, family.match)
                                        : match_at_output(matches, family.definition);
}

}  // namespace

void expect_found(const Family& family, const std::vector<Expression>& expressions) {
    EXPECT_GE(expressions.size(), 20u);
    std::set<std::string> seen;
    for (const Expression& expression : expressions) {
        const Proposed matches = matches_of(family, expression, seen);
        const fusion::Match* match = match_of(family, matches);
        if (match == nullptr)
            ADD_FAILURE() << family.definition << " is not found in " << expression.text << "\n"
                          << ir::print(*matches.graph);
        else
            EXPECT_EQ(summary(matches, *match), family.match) << expression.text;
    }
}

void expect_missed(const Family& family, const std::vector<Expression>& expressions) {
    EXPECT_GE(expressions.size(), 20u);
    std::set<std::string> seen;
    std::size_t found = 0;
    for (const Expression& expression : expressions) {
        const Proposed matches = matches_of(family, expression, seen);
        const fusion::Match* match = match_of(family, matches);
        const auto other = family.others.find(expression.text);
        const bool is_other = other != family.others.end();
        found += is_other ? 1 : 0;
        EXPECT_EQ(match == nullptr ? "" : summary(matches, *match), is_other ? other->second : "")
            << family.definition << " in " << expression.text << "\n"
            << ir::print(*matches.graph);
    }
    EXPECT_EQ(found, family.others.size());
}

}  // namespace cairn::test
