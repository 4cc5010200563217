#include "tests/fusion/hand_written_expressions.hpp"

#include "fusion/why_not.hpp"
#include "graph/ir/print.hpp"
#include "tests/fusion/match_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn::test {
namespace {

Proposed matches_of(const HandWrittenExpression& build, const std::string& name) {
    Graph graph("expression");
    graph.output("y", build(graph));
    Proposed result = proposed(graph);
    EXPECT_EQ(fault_in_matches(result, 11), "") << name;
    return result;
}

}  // namespace

void expect_match(const std::string& definition, const std::string& name, const HandWrittenExpression& build) {
    const Proposed matches = matches_of(build, name);
    EXPECT_TRUE(std::any_of(matches.matches.begin(), matches.matches.end(),
                            [&](const fusion::Match& match) { return definition_text(match) == definition; }))
        << definition << " is not found in " << name << "\n"
        << ir::print(*matches.graph) << fusion::to_string(matches.matches);
}

void expect_refused(const std::string& definition, const std::string& name, const std::string& reason,
                    const HandWrittenExpression& build) {
    const Proposed matches = matches_of(build, name);
    EXPECT_EQ(match_at_output(matches, definition), nullptr) << name;
    const std::string why =
        fusion::why_not(*matches.graph, matches.graph->outputs()[0].node, definitions(), definition);
    EXPECT_NE(why.find(reason), why.npos) << name << ": " << why;
}

}  // namespace cairn::test
