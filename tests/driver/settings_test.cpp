#include "autotune/measurement/fingerprint.hpp"
#include "cairn/cairn.hpp"
#include "device/context_impl.hpp"
#include "tests/autotune/database/took.hpp"
#include "tests/driver/own_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

/// Kernels with knobs, from compile to run: which setting is selected, and where it is named.
namespace cairn {
namespace {

using testing::HasSubstr;

std::int64_t step_of_run = 0;

void exp_in_steps(const Args& args, Team& team) {
    if (team.rank() != 0) return;
    step_of_run = *static_cast<const std::int64_t*>(args.prepared);
    for (std::int64_t i = 0; i < args.outputs[0].shape[0]; ++i)
        reinterpret_cast<float*>(args.outputs[0].data)[i] =
            std::exp(reinterpret_cast<const float*>(args.inputs[0].data)[i]);
}

Kernel kernel(std::vector<std::int64_t> steps = {1, 2, 4}) {
    Kernel made;
    made.id = "my.exp@1";
    made.definition = "exp";
    made.accepts = [](const Problem& problem, const Setting& setting) -> Refusal {
        return setting["step"] < 8 && to_string(problem) == "exp | f32[4] -> f32[4]" ? "" : "too long a step";
    };
    made.cost = [](const Problem&) { return Cost{0, 1, 1}; };
    made.prepare = [](const Problem&, int, const Setting& setting) -> std::shared_ptr<const void> {
        return std::make_shared<std::int64_t>(setting["step"]);
    };
    made.run = exp_in_steps;
    made.knobs = {{"step", std::move(steps)}};
    return made;
}

Graph graph() {
    Graph g("exp");
    g.output("y", exp(g.input("x", DType::f32, {4})));
    return g;
}

const std::string problem = "exp | f32[4] -> f32[4]";

class Settings : public testing::Test {
protected:
    void record(const std::string& id, double seconds) const {
        Context::Impl& impl = *context.impl();
        impl.timings->record(parse_problem(problem, *Symbols::create()), id, autotune::environment_of(impl),
                             {.threads = context.threads()}, test::took(seconds));
    }
    CompiledGraph compiled(Mode mode = Mode::cached) const { return compile(graph(), context, {.mode = mode}); }
    static std::string chosen(const CompiledGraph& program) {
        return program.explain().buckets[0].instructions[0].chosen.kernel;
    }
    static std::string file(const std::string& name) {
        return (std::filesystem::path(CAIRN_BINARY_DIR) / ("settings_" + name)).string();
    }
    const Context context = test::context_with({kernel({1, 2, 4, 8})});
};

TEST_F(Settings, TheFirstIsChosenUnlessAStoredTimeFavoursAnother) {
    EXPECT_EQ(chosen(compiled()), "my.exp@1") << "nothing is known";
    record("my.exp@1{step=4}", 1e-9);
    EXPECT_EQ(chosen(compiled()), "my.exp@1") << "measured competes with measured";
    record("my.exp@1", 1.01e-9);
    EXPECT_EQ(chosen(compiled()), "my.exp@1") << "a hundredth is chance";
    record("my.exp@1{step=2}", 0.9e-9);
    record("my.exp@1{step=8}", 0.1e-9);
    EXPECT_EQ(chosen(compiled()), "my.exp@1{step=2}") << "the best that is accepted";
    EXPECT_EQ(chosen(compiled(Mode::off)), "my.exp@1") << "which reads no times";
}

// The setting accepts all sizes, and is only left out where it is redundant: accepts() must not refuse it.
TEST_F(Settings, ARedundantSettingIsNeverChosen) {
    Kernel own = kernel();
    own.redundant = [](const Problem&, const Setting& setting) -> Refusal {
        return setting["step"] == 4 ? "four steps are one" : "";
    };
    const Context with = test::context_with({own});
    Context::Impl& impl = *with.impl();
    for (const auto& [id, seconds] :
         {std::pair{"my.exp@1", 2e-9}, {"my.exp@1{step=2}", 1.5e-9}, {"my.exp@1{step=4}", 1e-9}})
        impl.timings->record(parse_problem(problem, *Symbols::create()), id, autotune::environment_of(impl),
                             {.threads = with.threads()}, test::took(seconds));
    const CompiledGraph program = compile(graph(), with, {.mode = Mode::cached});
    EXPECT_EQ(chosen(program), "my.exp@1{step=2}");
    EXPECT_THAT(why_not(program.explain(), "my.exp@1{step=4}"), HasSubstr("refused: four steps are one"));
    for (const Kernel& each : with.kernels().kernels)
        if (each.id.starts_with("my.exp@1")) {
            EXPECT_EQ(each.accepts(parse_problem(problem, *Symbols::create())), "");
        }
}

TEST(Prepared, IsSharedByInstructionsWithEqualProblems) {
    static int count;
    count = 0;
    Kernel own = kernel();
    own.prepare = [](const Problem&, int) -> std::shared_ptr<const void> {
        return std::make_shared<std::int64_t>(++count);
    };
    own.accepts = [](const Problem&) -> Refusal { return ""; };
    own.knobs.clear();
    Graph g("three");
    for (const std::string name : {"one", "like_it"}) g.output("exp_" + name, exp(g.input(name, DType::f32, {4})));
    g.output("exp_longer", exp(g.input("longer", DType::f32, {5})));
    const Context context = test::context_with({own});
    CompiledGraph program = compile(g, context, {.mode = Mode::off});
    ASSERT_EQ(program.explain().buckets[0].instructions.size(), 3U);
    program.save(std::filesystem::path(CAIRN_BINARY_DIR) / "prepared_once");
    count = 0;
    CompiledGraph::load(std::filesystem::path(CAIRN_BINARY_DIR) / "prepared_once", context);
    EXPECT_EQ(count, 2) << "two instructions of four elements, one of five";
}

TEST_F(Settings, AppearInRunsSavedProgramsAndExplanations) {
    record("my.exp@1", 2e-9);
    record("my.exp@1{step=4}", 1e-9);
    CompiledGraph program = compiled();
    const std::vector<float> x = {0, 1, 2, 3};
    const auto run = [&](CompiledGraph& of) {
        step_of_run = 0;
        of.set("x", x, {4});
        of.run();
        return step_of_run;
    };
    EXPECT_EQ(run(program), 4);
    EXPECT_THAT(details(program.explain()), HasSubstr("my.exp@1{step=4}"));
    const ExplainedInstruction explained = program.explain().buckets[0].instructions[0];
    EXPECT_TRUE(std::any_of(explained.other_kernels.begin(), explained.other_kernels.end(),
                            [](const ExplainedKernel& each) { return each.kernel == "my.exp@1" && each.measured; }))
        << "the setting it was measured against";
    EXPECT_THAT(why_not(program.explain(), "my.exp@1"), HasSubstr("slower than my.exp@1{step=4}"));
    program.save(file("saved"));
    CompiledGraph loaded = CompiledGraph::load(file("saved"), test::context_with({kernel()}));
    EXPECT_EQ(run(loaded), 4);
    EXPECT_EQ(loaded.program(), program.program());
    try {
        CompiledGraph::load(file("saved"), test::context_with({kernel({1, 2})}));
        ADD_FAILURE();
    } catch (const Error& error) { EXPECT_THAT(error.what(), HasSubstr("my.exp@1{step=4}")); }
}

TEST_F(Settings, AreNamedInLocks) {
    record("my.exp@1", 2e-9);
    record("my.exp@1{step=4}", 1e-9);
    compiled().write_lock(file("lock"));
    std::ifstream text(file("lock"));
    EXPECT_THAT(std::string(std::istreambuf_iterator<char>(text), {}), HasSubstr(" my.exp@1{step=4} " + problem));
    const CompileOptions replay{.mode = Mode::replay, .lock = file("lock")};
    EXPECT_EQ(chosen(compile(graph(), test::context_with({kernel()}), replay)), "my.exp@1{step=4}");
    EXPECT_THROW(compile(graph(), test::context_with({kernel({1, 2})}), replay), Error);
}

TEST_F(Settings, RulesApplyToAllOrOne) {
    const auto with = [&](const std::string& pattern, RuleAction verdict) {
        TimingDb& rules = *context.impl()->timings;
        rules.add_rule({pattern, "*", verdict, ""});
        const std::string id = chosen(compiled());
        rules.remove_rule(pattern, "*");
        return id;
    };
    record("my.exp@1", 2e-9);
    record("my.exp@1{step=4}", 1e-9);
    EXPECT_FALSE(with("my.exp@1", RuleAction::ban).starts_with("my.exp@1")) << "all of them";
    EXPECT_EQ(with("my.exp@1{step=4}", RuleAction::ban), "my.exp@1");
    EXPECT_EQ(with("my.exp@1{step=2}", RuleAction::pin), "my.exp@1{step=2}") << "measured or not";
    EXPECT_EQ(with("my.exp@1", RuleAction::pin), "my.exp@1{step=4}");
}

TEST_F(Settings, AreMeasuredAndCheckedByTheirIds) {
    const Problem exp = parse_problem(problem, *Symbols::create());
    MeasureOptions quickly;
    quickly.max_seconds = 1e-4;
    measure(exp, "my.exp@1{step=4}", context, quickly);
    EXPECT_EQ(step_of_run, 4);
    measure(exp, "my.exp@1", context, quickly);
    EXPECT_EQ(step_of_run, 1);
    for (const char* wrong : {"my.exp@1{step=3}", "my.exp@1{step=1}", "my.exp@1{stop=4}"}) try {
            measure(exp, wrong, context, quickly);
            ADD_FAILURE() << wrong;
        } catch (const Error& error) { EXPECT_THAT(error.what(), HasSubstr("step of 1|2|4|8")); }
}

}  // namespace
}  // namespace cairn
