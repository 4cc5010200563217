#include "select/judge.hpp"

#include "cairn/cairn.hpp"
#include "types/levels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

namespace cairn::select {
namespace {

int asked = 0, asked_for_workspace = 0;

Refusal accepts_short(const Problem& problem) {
    ++asked;
    return problem.body.size() < 3 ? Refusal() : Refusal("too long");
}

Dim some_bytes(const Problem&, int) {
    ++asked_for_workspace;
    return 64;
}

double promised = 0;
double promise(const Problem&) { return promised; }

Problem sum_of(int steps) {
    Problem problem;
    problem.definition = "elementwise";
    for (int i = 0; i < 2; ++i) problem.inputs.push_back(TensorDesc::dense(DType::f32, {4}));
    for (int i = 0; i < steps; ++i) problem.body.push_back({"add", {0, 1 + i}, DType::f32, 0});
    problem.results = {1 + steps};
    problem.outputs = {TensorDesc::dense(DType::f32, {4})};
    return problem;
}

class Judging : public testing::Test {
protected:
    Judging() {
        for (const FeatureSet needs : {levels::baseline, levels::avx2, levels::avx512}) {
            Kernel& kernel = kernels.kernels.emplace_back();
            kernel.id = "test." + std::string(level_name(needs)) + "@1";
            kernel.definition = "elementwise";
            kernel.needs = needs;
            kernel.accepts = accepts_short;
            kernel.workspace = some_bytes;
        }
        asked = asked_for_workspace = 0;
    }
    Judge judge(FeatureSet features) const { return Judge(kernels, features, costs, *symbols); }

    KernelSet kernels;
    CostSource costs;
    std::shared_ptr<Symbols> symbols = Symbols::create();
};

TEST_F(Judging, EqualProblemsAreOneQuestion) {
    Judge judge = this->judge(levels::avx512);
    Question& first = judge.question(sum_of(2));
    EXPECT_EQ(&first, &judge.question(sum_of(2)));
    EXPECT_NE(&first, &judge.question(sum_of(1)));
    Problem other = sum_of(2);
    other.inputs[0].bound = true;
    EXPECT_NE(&first, &judge.question(other));
    EXPECT_EQ(*first.problem(), sum_of(2));
}

TEST_F(Judging, AFunctionOfSeveralKernelsIsAskedOnce) {
    Judge judge = this->judge(levels::avx512);
    for (int round = 0; round < 2; ++round)
        for (const Kernel& kernel : kernels.kernels)
            EXPECT_EQ(judge.judged(judge.question(sum_of(2)), kernel).refusal, "");
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(asked_for_workspace, 1);
}

TEST_F(Judging, SoIsARefusal) {
    Judge judge = this->judge(levels::avx2);
    Question& question = judge.question(sum_of(3));
    EXPECT_EQ(judge.judged(question, kernels.kernels[0]).refusal, "too long");
    EXPECT_EQ(judge.judged(question, kernels.kernels[1]).refusal, "too long");
    EXPECT_EQ(judge.judged(question, kernels.kernels[2]).refusal, "needs avx512, in use is avx2");
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(asked_for_workspace, 0);
}

TEST_F(Judging, WhatWasPutAwayIsWholeForWhoLooks) {
    Judge judge = this->judge(levels::avx512);
    Question& question = judge.question(sum_of(2));
    const AskedProblem problem = question.problem();
    EXPECT_EQ(problem->body.size(), 2u);
    Judge::put_away(question);
    EXPECT_FALSE(problem.kept().is_whole());
    EXPECT_EQ(*problem, sum_of(2));
}

double no_promise(const Problem&) { throw std::runtime_error("no idea"); }

/// One of the kernels states an error, the others do not.
class JudgingErrors : public Judging {
protected:
    JudgingErrors() {
        kernels.kernels[1].error = promise;
        promised = 1e-3;
    }
    Judged judged(Judge& judge, std::size_t kernel) const {
        return judge.judged(judge.question(sum_of(2)), kernels.kernels[kernel]);
    }
    Judged judged(std::size_t kernel) const {
        Judge judge = this->judge(levels::avx512);
        return judged(judge, kernel);
    }
    TimingDb timings{{}};
};

TEST_F(JudgingErrors, ExactRefusesAnErrorAndSaysWhich) {
    EXPECT_EQ(judged(1).refusal, "its relative error is 0.001, the tolerance is exact");
    EXPECT_EQ(judged(0).refusal, "");
    Judge judge = this->judge(levels::avx512);
    EXPECT_NE(judged(judge, 1).refusal, "");
    EXPECT_EQ(judged(judge, 2).refusal, "") << "which shares its accepts";
    std::vector<std::pair<std::string, Refusal>> heard;
    judge.question(sum_of(2)).for_each_answer(
        [&](const Kernel& kernel, const Judged& said) { heard.emplace_back(kernel.id, said.refusal); });
    EXPECT_EQ(heard, (decltype(heard){{kernels.kernels[1].id, judged(judge, 1).refusal}, {kernels.kernels[2].id, ""}}))
        << "the others were not asked";
}

TEST_F(JudgingErrors, AToleranceTakesWhatItCovers) {
    costs.tolerance = 1e-3;
    EXPECT_EQ(judged(1).refusal, "");
    EXPECT_EQ(judged(1).estimate.error, 1e-3);
    EXPECT_EQ(judged(0).estimate.error, 0);
    costs.tolerance = 9e-4;
    EXPECT_EQ(judged(1).refusal, "its relative error is 0.001, the tolerance is 0.0009");
}

TEST_F(JudgingErrors, AnErrorOfNothingIsExact) {
    promised = 0;
    EXPECT_EQ(judged(1).refusal, "");
}

TEST_F(JudgingErrors, WhatIsNoErrorIsRefused) {
    costs.tolerance = 1;
    promised = std::nan("");
    EXPECT_EQ(judged(1).refusal, "its error is none: nan");
    promised = -1e-3;
    EXPECT_EQ(judged(1).refusal, "its error is none: -0.001");
    kernels.kernels[1].error = no_promise;
    EXPECT_EQ(judged(1).refusal, "its error failed: no idea");
}

TEST_F(JudgingErrors, WhatWasMeasuredCountsAndIsHeard) {
    costs.tolerance = 5e-4;
    costs.timings = &timings;
    Judge judge = this->judge(levels::avx512);
    EXPECT_NE(judged(judge, 1).refusal, "");
    timings.record_error(sum_of(2), kernels.kernels[1].id, costs.environment, {4e-4, 1e-3, 1e-3, "uniform", "it"});
    judge.set_costs(costs);
    EXPECT_EQ(judged(judge, 1).refusal, "");
    EXPECT_EQ(judged(judge, 1).estimate.error, 4e-4);
    EXPECT_TRUE(judged(judge, 1).estimate.error_measured);
    costs.tolerance = 3e-4;
    judge.set_costs(costs);
    EXPECT_EQ(judged(judge, 1).refusal, "its relative error is 0.0004 (measured), the tolerance is 0.0003");
}

TEST_F(JudgingErrors, WhoBrokeAPromiseIsNotBelievedAgain) {
    costs.tolerance = 1;
    costs.timings = &timings;
    Judge judge = this->judge(levels::avx512);
    EXPECT_EQ(judged(judge, 1).refusal, "");
    Problem larger = sum_of(2);
    for (auto* list : {&larger.inputs, &larger.outputs})
        for (TensorDesc& tensor : *list) tensor = TensorDesc::dense(DType::f32, {64});
    timings.record_error(larger, kernels.kernels[1].id, costs.environment, {2e-2, 3e-2, 1e-3, "uniform", "a sum"});
    judge.set_costs(costs);
    EXPECT_EQ(judged(judge, 1).refusal, "it promised an error of 0.001, measured was 0.02 on a sum");
    EXPECT_EQ(judged(judge, 2).refusal, "");
    costs.timings = nullptr;
    judge.set_costs(costs);
    EXPECT_EQ(judged(judge, 1).refusal, "") << "where the database is not read";
}

/// The kernels are test.baseline@1, test.avx2@1, test.avx512@1.
class JudgingRules : public Judging {
protected:
    std::vector<Refusal> refusals(std::vector<KernelRule> rules, FeatureSet features = levels::avx512, int steps = 2) {
        costs.rules = std::move(rules);
        Judge judge = this->judge(features);
        std::vector<Refusal> all;
        for (const Kernel& kernel : kernels.kernels)
            all.push_back(judge.judged(judge.question(sum_of(steps)), kernel).refusal);
        return all;
    }
    using Refusals = std::vector<Refusal>;
};

TEST_F(JudgingRules, ABanRefusesWhatItCovers) {
    EXPECT_EQ(refusals({{"test.avx2@*", "elementwise *", cairn::Verdict::ban, "it is slow"}}),
              (Refusals{"", "banned by a rule: it is slow", ""}));
    EXPECT_EQ(refusals({{"*", "*f32[4]*", cairn::Verdict::ban, ""}}),
              (Refusals{"banned by a rule", "banned by a rule", "banned by a rule"}));
    EXPECT_EQ(refusals({{"*", "matmul *", cairn::Verdict::ban, ""}, {"test.avx2@2", "*", cairn::Verdict::ban, ""}}),
              (Refusals{"", "", ""}));
}

TEST_F(JudgingRules, ABanIsNotTheRefusalOfThoseThatShareAFunction) {
    EXPECT_EQ(refusals({{"test.baseline@1", "*", cairn::Verdict::ban, ""}}), (Refusals{"banned by a rule", "", ""}));
    EXPECT_EQ(asked, 1);
}

TEST_F(JudgingRules, APinRefusesTheOthers) {
    const Refusal others = "a rule pins test.avx2@1: it is mine";
    EXPECT_EQ(refusals({{"test.avx2@1", "*", cairn::Verdict::pin, "it is mine"}}), (Refusals{others, "", others}));
    EXPECT_EQ(refusals({{"test.avx*", "*", cairn::Verdict::pin, "it is mine"}}), (Refusals{others, "", ""}));
}

TEST_F(JudgingRules, APinStandsWhereItsKernelCan) {
    EXPECT_EQ(refusals({{"test.avx512@1", "*", cairn::Verdict::pin, ""}}, levels::avx2),
              (Refusals{"", "", "needs avx512, in use is avx2"}));
    EXPECT_EQ(refusals({{"test.avx2@1", "*", cairn::Verdict::pin, ""}}, levels::avx512, 3),
              (Refusals{"too long", "too long", "too long"}));
    kernels.kernels[1].error = promise;
    promised = 1e-3;
    EXPECT_EQ(refusals({{"test.avx2@1", "*", cairn::Verdict::pin, ""}}),
              (Refusals{"", "its relative error is 0.001, the tolerance is exact", ""}));
    kernels.kernels[1].error = nullptr;
    EXPECT_EQ(refusals({{"test.avx2@1", "matmul *", cairn::Verdict::pin, ""}}), (Refusals{"", "", ""}));
    EXPECT_EQ(
        refusals({{"test.avx2@1", "*", cairn::Verdict::pin, ""}, {"test.avx2*", "*", cairn::Verdict::ban, "wrong"}}),
        (Refusals{"", "banned by a rule: wrong", ""}))
        << "a ban is above a pin";
}

// What is asked of packed operands is the same work.
TEST_F(JudgingRules, RulesMeanPackedOperandsToo) {
    Problem packed = sum_of(2);
    packed.inputs[0].layout = "panel32";
    const std::string plain = to_string(sum_of(2));
    const auto refusal = [&](const KernelRule& rule, std::size_t kernel) {
        costs.rules = {rule};
        Judge judge = this->judge(levels::avx512);
        return judge.judged(judge.question(packed), kernels.kernels[kernel]).refusal;
    };
    EXPECT_EQ(refusal({"*", plain, cairn::Verdict::ban, ""}, 0), "banned by a rule");
    EXPECT_EQ(refusal({"*", "*@panel32*", cairn::Verdict::ban, ""}, 0), "banned by a rule");
    kernels.kernels[1].accepts = [](const Problem& problem) {
        return problem.inputs[0].layout.empty() ? Refusal() : Refusal("is packed");
    };
    EXPECT_EQ(refusal({"test.avx2@1", plain, cairn::Verdict::pin, ""}, 0), "a rule pins test.avx2@1");
    EXPECT_EQ(refusal({"test.avx2@1", plain, cairn::Verdict::pin, ""}, 1), "is packed");
}

TEST_F(JudgingRules, RulesStayWhenCostsChange) {
    costs.rules = {{"test.avx2@1", "*", cairn::Verdict::ban, ""}};
    Judge judge = this->judge(levels::avx512);
    Question& question = judge.question(sum_of(2));
    EXPECT_EQ(judge.judged(question, kernels.kernels[1]).refusal, "banned by a rule");
    judge.set_costs({});
    EXPECT_EQ(judge.judged(question, kernels.kernels[1]).refusal, "banned by a rule");
    EXPECT_EQ(judge.judged(judge.question(sum_of(1)), kernels.kernels[1]).refusal, "banned by a rule");
}

}  // namespace
}  // namespace cairn::select
