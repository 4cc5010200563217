// The examples to begin with: each computes what its own loops do, is short, uses the public headers only, and is on
// docs/examples.md with its output.
#include "tests/examples/run_program.hpp"
#include "tests/guide/snippets.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace cairn::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::vector<std::pair<std::string, std::string>>& programs() {
    static const std::vector<std::pair<std::string, std::string>> list = {
        {"elementwise", CAIRN_ELEMENTWISE}, {"linear", CAIRN_LINEAR}, {"mlp", CAIRN_MLP}, {"cnn", CAIRN_CNN}};
    return list;
}

std::vector<std::string> source_of(const std::string& name) {
    return lines_of(read_file(std::string(CAIRN_SOURCE_DIR) + "/examples/" + name + ".cpp"));
}

/// Lines of output without what depends on the CPU: differences of rounding, and the explanation, which begins with the
/// name of the graph and has times and kernels.
std::vector<std::string> comparable(std::vector<std::string> lines, const std::string& graph) {
    const std::string mark = "from plain loops: ";
    for (std::string& line : lines)
        if (const auto at = line.find(mark); at != std::string::npos) line.erase(at + mark.size());
    const auto explanation = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.starts_with(graph) && line.find(" a run, ") != std::string::npos;
    });
    if (explanation != lines.end()) {
        explanation->erase(explanation->find(": "));
        lines.erase(explanation + 1, lines.end());
    }
    return lines;
}

TEST(MinimalExamples, AreOnTheirPageWithTheirOutput) {
    const auto snippets = guide::snippets_of(guide::read_page(std::string(CAIRN_SOURCE_DIR) + "/docs/examples.md"));
    ASSERT_EQ(snippets.size(), programs().size());
    for (std::size_t i = 0; i < snippets.size(); ++i) {
        const auto& [name, program] = programs()[i];
        EXPECT_EQ(snippets[i].code, source_of(name)) << name;
        const Outcome outcome = run(program, {});
        EXPECT_TRUE(succeeds(outcome)) << name;
        const auto printed = comparable(lines_of(outcome.out), name);
        EXPECT_GE(printed.size(), 4U) << outcome.out;
        EXPECT_EQ(printed, comparable(lines_of(snippets[i].output), name)) << name;
    }
}

TEST(MinimalExamples, HaveLessThan100LinesAndUsePublicHeadersOnly) {
    for (const auto& [name, program] : programs()) {
        const std::vector<std::string> lines = source_of(name);
        EXPECT_LT(lines.size(), 100U) << name;
        EXPECT_GT(lines.size(), 10U) << name;
        for (const std::string& line : lines) {
            if (!line.starts_with("#")) continue;
            EXPECT_THAT(line, testing::MatchesRegex("#include <(cairn/[a-z_/]+[.]hpp|[a-z_]+)>")) << name;
        }
    }
}

TEST(MinimalExamples, ComputeWhatIsKnownOfTheirFormulas) {
    EXPECT_THAT(run(CAIRN_ELEMENTWISE, {}).out, HasSubstr("\nx = 0: 0.606531 1 0.135335\n"));  // e^-1/2, e^0, e^-2
    EXPECT_THAT(run(CAIRN_LINEAR, {}).out, StartsWith("batch of 1, last row: -0.5 -3\n"));
    EXPECT_THAT(run(CAIRN_MLP, {}).out, StartsWith("0 xor 0 = 0\n0 xor 1 = 1\n1 xor 0 = 1\n1 xor 1 = 0\n"));
}

TEST(MinimalExamples, TheExplanationNamesTheLayers) {
    const std::string out = run(CAIRN_MLP, {}).out;
    EXPECT_THAT(out, HasSubstr("\nmlp"));
    EXPECT_THAT(out, HasSubstr("\"hidden\""));
    EXPECT_THAT(out, HasSubstr("\"combined\""));
}

}  // namespace
}  // namespace cairn::test
