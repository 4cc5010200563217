#include "tests/examples/run_program.hpp"

#include <gmock/gmock.h>

#include <algorithm>

/// The options --explain and --why-not of the model programs.
namespace cairn::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class ExplainOption : public testing::TestWithParam<const char*> {
protected:
    static Outcome run_program(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"--mode", "off", "--no-progress", "--threads", "1"});
        return run(GetParam(), arguments);
    }
};

TEST_P(ExplainOption, SummarizesTimesInFortyLines) {
    const Outcome outcome = run_program({"--explain"});
    EXPECT_TRUE(succeeds(outcome));
    EXPECT_LE(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 40);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("a run, 0 % of it measured"), HasSubstr("what takes longest"),
                                   HasSubstr("\"layer 0.."), HasSubstr("runner-up: +"), HasSubstr("weights: "),
                                   HasSubstr("of the time is estimated: measure it by `cairn tune`")));
}

TEST_P(ExplainOption, ReportsTheOutcomeOfAKernelOrADefinition) {
    const Outcome definition = run_program({"--why-not", "layer_norm"});
    EXPECT_TRUE(succeeds(definition));
    EXPECT_THAT(definition.out, AllOf(HasSubstr("cpu.baseline.layer_norm.f32@4 for f32["), HasSubstr("taken, ")));
    EXPECT_THAT(definition.out, testing::Not(HasSubstr("closest match")));
    const Outcome kernel = run_program({"--why-not", "cpu.reference.matmul@1"});
    EXPECT_TRUE(succeeds(kernel));
    EXPECT_THAT(kernel.out,
                AllOf(HasSubstr("cpu.reference.matmul@1 for f32["), HasSubstr(", reference, slower than ")));
}

TEST_P(ExplainOption, NamesTheClosestMatchOfADefinitionNeverProposed) {
    const Outcome outcome = run_program({"--why-not", "linear_swiglu"});
    EXPECT_TRUE(succeeds(outcome));
    EXPECT_THAT(outcome.out,
                AllOf(StartsWith("never proposed: no linear_swiglu was matched"),
                      testing::ContainsRegex("\nclosest match: .*linear_swiglu.* \\([a-z0-9_]+.cpp:[0-9]+\\)\n$")));
}

TEST_P(ExplainOption, RefusesAnUnknownKernel) {
    EXPECT_TRUE(refuses(run_program({"--why-not", "layer_nrm"}),
                        {"there is no kernel, no definition and no named value layer_nrm", "layer_norm"}));
}

INSTANTIATE_TEST_SUITE_P(Programs, ExplainOption, testing::Values(CAIRN_GPT2, CAIRN_DISTILBERT),
                         [](const auto& program) { return program.index == 0 ? "Gpt2" : "DistilBert"; });

}  // namespace
}  // namespace cairn::test
