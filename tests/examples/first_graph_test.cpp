#include "tests/examples/run_program.hpp"

namespace cairn::test {
namespace {

TEST(FirstGraphProgram, PrintsTheOutputInTheReadme) {
    const Outcome result = run(CAIRN_FIRST_GRAPH, {});
    EXPECT_TRUE(succeeds(result));
    const std::string readme = read_file(std::string(CAIRN_SOURCE_DIR) + "/README.md");
    ASSERT_GT(result.out.size(), 10U);
    EXPECT_NE(readme.find("```\n" + result.out.substr(0, result.out.find_last_not_of(" \n") + 1) + "\n```"),
              std::string::npos)
        << result.out;
}

}  // namespace
}  // namespace cairn::test
