#include "selection/candidates/kernel_query.hpp"

#include "cairn/cairn.hpp"
#include "graph/types/isa_levels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

namespace cairn::selection {
namespace {

int accepts_calls = 0, workspace_calls = 0;

Refusal accepts_short(const Problem& problem) {
    ++accepts_calls;
    return problem.body.size() < 3 ? Refusal() : Refusal("too long");
}

Dim some_bytes(const Problem&, int) {
    ++workspace_calls;
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

class KernelQueryCacheTest : public testing::Test {
protected:
    KernelQueryCacheTest() {
        for (const FeatureSet needs : {levels::baseline, levels::avx2, levels::avx512}) {
            Kernel& kernel = kernels.kernels.emplace_back();
            kernel.id = "test." + std::string(isa_level_name(needs)) + "@1";
            kernel.definition = "elementwise";
            kernel.needs = needs;
            kernel.accepts = accepts_short;
            kernel.workspace = some_bytes;
        }
        accepts_calls = workspace_calls = 0;
    }
    KernelQueryCache judge(FeatureSet features) const { return KernelQueryCache(kernels, features, costs, *symbols); }

    KernelSet kernels;
    CostModel costs;
    std::shared_ptr<Symbols> symbols = Symbols::create();
};

TEST_F(KernelQueryCacheTest, EqualProblemsAreOneQuery) {
    KernelQueryCache judge = this->judge(levels::avx512);
    KernelQuery& first = judge.query(sum_of(2));
    EXPECT_EQ(&first, &judge.query(sum_of(2)));
    EXPECT_NE(&first, &judge.query(sum_of(1)));
    Problem other = sum_of(2);
    other.inputs[0].bound = true;
    EXPECT_NE(&first, &judge.query(other));
    EXPECT_EQ(*first.problem(), sum_of(2));
}

TEST_F(KernelQueryCacheTest, AFunctionOfSeveralKernelsIsCalledOnce) {
    KernelQueryCache judge = this->judge(levels::avx512);
    for (int round = 0; round < 2; ++round)
        for (const Kernel& kernel : kernels.kernels)
            EXPECT_EQ(judge.query_result(judge.query(sum_of(2)), kernel).refusal, "");
    EXPECT_EQ(accepts_calls, 1);
    EXPECT_EQ(workspace_calls, 1);
}

TEST_F(KernelQueryCacheTest, ARefusalIsQueriedOnce) {
    KernelQueryCache judge = this->judge(levels::avx2);
    KernelQuery& query = judge.query(sum_of(3));
    EXPECT_EQ(judge.query_result(query, kernels.kernels[0]).refusal, "too long");
    EXPECT_EQ(judge.query_result(query, kernels.kernels[1]).refusal, "too long");
    EXPECT_EQ(judge.query_result(query, kernels.kernels[2]).refusal, "needs avx512, in use is avx2");
    EXPECT_EQ(accepts_calls, 1);
    EXPECT_EQ(workspace_calls, 0);
}

// Kernels that share a function with a refused one are not refused.
TEST_F(KernelQueryCacheTest, APermissionIsAskedForKernelsThatAccept) {
    int asked = 0;
    costs.permit = [&](FeatureSet needs) {
        ++asked;
        return needs.has(Feature::avx512) ? std::string("the system refuses") : std::string();
    };
    std::swap(kernels.kernels[0], kernels.kernels[2]);
    KernelQueryCache judge = this->judge(levels::avx512);
    EXPECT_EQ(judge.query_result(judge.query(sum_of(3)), kernels.kernels[0]).refusal, "too long");
    EXPECT_EQ(asked, 0);
    KernelQuery& query = judge.query(sum_of(2));
    EXPECT_EQ(judge.query_result(query, kernels.kernels[0]).refusal, "the system refuses");
    EXPECT_EQ(judge.query_result(query, kernels.kernels[0]).by, RefusedBy::features);
    EXPECT_EQ(judge.query_result(query, kernels.kernels[1]).refusal, "");
    EXPECT_EQ(asked, 2);
}

TEST_F(KernelQueryCacheTest, AReleasedProblemIsMaterializedOnDemand) {
    KernelQueryCache judge = this->judge(levels::avx512);
    KernelQuery& query = judge.query(sum_of(2));
    const ProblemHandle problem = query.problem();
    EXPECT_EQ(problem->body.size(), 2u);
    KernelQueryCache::release_memory(query);
    EXPECT_FALSE(problem.kept().is_materialized());
    EXPECT_EQ(*problem, sum_of(2));
}

double no_promise(const Problem&) { throw std::runtime_error("no idea"); }

/// One of the kernels has an error, the others are exact.
class KernelErrorTest : public KernelQueryCacheTest {
protected:
    KernelErrorTest() {
        kernels.kernels[1].error = promise;
        promised = 1e-3;
    }
    QueryResult query_result(KernelQueryCache& judge, std::size_t kernel) const {
        return judge.query_result(judge.query(sum_of(2)), kernels.kernels[kernel]);
    }
    QueryResult query_result(std::size_t kernel) const {
        KernelQueryCache judge = this->judge(levels::avx512);
        return query_result(judge, kernel);
    }
    TimingDb timings{{}};
};

TEST_F(KernelErrorTest, ExactRefusesAnErrorWithAReason) {
    EXPECT_EQ(query_result(1).refusal, "its relative error is 0.001, the tolerance is exact");
    EXPECT_EQ(query_result(0).refusal, "");
    KernelQueryCache judge = this->judge(levels::avx512);
    EXPECT_NE(query_result(judge, 1).refusal, "");
    EXPECT_EQ(query_result(judge, 2).refusal, "") << "which shares its accepts";
    std::vector<std::pair<std::string, Refusal>> reported;
    judge.query(sum_of(2)).for_each_answer(
        [&](const Kernel& kernel, const QueryResult& result) { reported.emplace_back(kernel.id, result.refusal); });
    EXPECT_EQ(reported, (decltype(reported){{kernels.kernels[1].id, query_result(judge, 1).refusal},
                                            {kernels.kernels[2].id, ""}}))
        << "the others were not asked";
}

TEST_F(KernelErrorTest, AToleranceAcceptsSmallerErrors) {
    costs.tolerance = 1e-3;
    EXPECT_EQ(query_result(1).refusal, "");
    EXPECT_EQ(query_result(1).estimate.error, 1e-3);
    EXPECT_EQ(query_result(0).estimate.error, 0);
    costs.tolerance = 9e-4;
    EXPECT_EQ(query_result(1).refusal, "its relative error is 0.001, the tolerance is 0.0009");
}

TEST_F(KernelErrorTest, AnErrorOfZeroIsExact) {
    promised = 0;
    EXPECT_EQ(query_result(1).refusal, "");
}

TEST_F(KernelErrorTest, AnInvalidErrorIsRefused) {
    costs.tolerance = 1;
    promised = std::nan("");
    EXPECT_EQ(query_result(1).refusal, "its error is invalid: nan");
    promised = -1e-3;
    EXPECT_EQ(query_result(1).refusal, "its error is invalid: -0.001");
    kernels.kernels[1].error = no_promise;
    EXPECT_EQ(query_result(1).refusal, "its error failed: no idea");
}

TEST_F(KernelErrorTest, MeasuredErrorsApplyAndAreReported) {
    costs.tolerance = 5e-4;
    costs.timings = &timings;
    KernelQueryCache judge = this->judge(levels::avx512);
    EXPECT_NE(query_result(judge, 1).refusal, "");
    timings.record_error(sum_of(2), kernels.kernels[1].id, costs.environment, {4e-4, 1e-3, 1e-3, "uniform", "it"});
    judge.set_costs(costs);
    EXPECT_EQ(query_result(judge, 1).refusal, "");
    EXPECT_EQ(query_result(judge, 1).estimate.error, 4e-4);
    EXPECT_TRUE(query_result(judge, 1).estimate.error_measured);
    costs.tolerance = 3e-4;
    judge.set_costs(costs);
    EXPECT_EQ(query_result(judge, 1).refusal, "its relative error is 0.0004 (measured), the tolerance is 0.0003");
}

TEST_F(KernelErrorTest, AKernelThatViolatedItsErrorIsRefusedAtAllSizes) {
    costs.tolerance = 1;
    costs.timings = &timings;
    KernelQueryCache judge = this->judge(levels::avx512);
    EXPECT_EQ(query_result(judge, 1).refusal, "");
    Problem larger = sum_of(2);
    for (auto* list : {&larger.inputs, &larger.outputs})
        for (TensorDesc& tensor : *list) tensor = TensorDesc::dense(DType::f32, {64});
    timings.record_error(larger, kernels.kernels[1].id, costs.environment, {2e-2, 3e-2, 1e-3, "uniform", "a sum"});
    judge.set_costs(costs);
    EXPECT_EQ(query_result(judge, 1).refusal, "it states an error of 0.001, but 0.02 was measured on a sum");
    EXPECT_EQ(query_result(judge, 2).refusal, "");
    costs.timings = nullptr;
    judge.set_costs(costs);
    EXPECT_EQ(query_result(judge, 1).refusal, "") << "where the database is not read";
}

/// The kernels are test.baseline@1, test.avx2@1, test.avx512@1.
class KernelRuleTest : public KernelQueryCacheTest {
protected:
    std::vector<Refusal> refusals(std::vector<KernelRule> rules, FeatureSet features = levels::avx512, int steps = 2) {
        costs.rules = std::move(rules);
        KernelQueryCache judge = this->judge(features);
        std::vector<Refusal> all;
        for (const Kernel& kernel : kernels.kernels)
            all.push_back(judge.query_result(judge.query(sum_of(steps)), kernel).refusal);
        return all;
    }
    using Refusals = std::vector<Refusal>;
};

TEST_F(KernelRuleTest, ABanRefusesMatchingKernels) {
    EXPECT_EQ(refusals({{"test.avx2@*", "elementwise *", cairn::RuleAction::ban, "it is slow"}}),
              (Refusals{"", "banned by a rule: it is slow", ""}));
    EXPECT_EQ(refusals({{"*", "*f32[4]*", cairn::RuleAction::ban, ""}}),
              (Refusals{"banned by a rule", "banned by a rule", "banned by a rule"}));
    EXPECT_EQ(
        refusals({{"*", "matmul *", cairn::RuleAction::ban, ""}, {"test.avx2@2", "*", cairn::RuleAction::ban, ""}}),
        (Refusals{"", "", ""}));
}

TEST_F(KernelRuleTest, ABanDoesNotRefuseKernelsThatShareAFunction) {
    EXPECT_EQ(refusals({{"test.baseline@1", "*", cairn::RuleAction::ban, ""}}), (Refusals{"banned by a rule", "", ""}));
    EXPECT_EQ(accepts_calls, 1);
}

TEST_F(KernelRuleTest, APinRefusesOtherKernels) {
    const Refusal others = "a rule pins test.avx2@1: it is mine";
    EXPECT_EQ(refusals({{"test.avx2@1", "*", cairn::RuleAction::pin, "it is mine"}}), (Refusals{others, "", others}));
    EXPECT_EQ(refusals({{"test.avx*", "*", cairn::RuleAction::pin, "it is mine"}}), (Refusals{others, "", ""}));
}

TEST_F(KernelRuleTest, APinAppliesOnlyIfItsKernelCanRun) {
    EXPECT_EQ(refusals({{"test.avx512@1", "*", cairn::RuleAction::pin, ""}}, levels::avx2),
              (Refusals{"", "", "needs avx512, in use is avx2"}));
    EXPECT_EQ(refusals({{"test.avx2@1", "*", cairn::RuleAction::pin, ""}}, levels::avx512, 3),
              (Refusals{"too long", "too long", "too long"}));
    kernels.kernels[1].error = promise;
    promised = 1e-3;
    EXPECT_EQ(refusals({{"test.avx2@1", "*", cairn::RuleAction::pin, ""}}),
              (Refusals{"", "its relative error is 0.001, the tolerance is exact", ""}));
    kernels.kernels[1].error = nullptr;
    EXPECT_EQ(refusals({{"test.avx2@1", "matmul *", cairn::RuleAction::pin, ""}}), (Refusals{"", "", ""}));
    EXPECT_EQ(refusals({{"test.avx2@1", "*", cairn::RuleAction::pin, ""},
                        {"test.avx2*", "*", cairn::RuleAction::ban, "wrong"}}),
              (Refusals{"", "banned by a rule: wrong", ""}))
        << "a ban is above a pin";
}

// A problem with packed operands is the same computation.
TEST_F(KernelRuleTest, RulesApplyToPackedOperands) {
    Problem packed = sum_of(2);
    packed.inputs[0].layout = "panel32";
    const std::string plain = to_string(sum_of(2));
    const auto refusal = [&](const KernelRule& rule, std::size_t kernel) {
        costs.rules = {rule};
        KernelQueryCache judge = this->judge(levels::avx512);
        return judge.query_result(judge.query(packed), kernels.kernels[kernel]).refusal;
    };
    EXPECT_EQ(refusal({"*", plain, cairn::RuleAction::ban, ""}, 0), "banned by a rule");
    EXPECT_EQ(refusal({"*", "*@panel32*", cairn::RuleAction::ban, ""}, 0), "banned by a rule");
    kernels.kernels[1].accepts = [](const Problem& problem) {
        return problem.inputs[0].layout.empty() ? Refusal() : Refusal("is packed");
    };
    EXPECT_EQ(refusal({"test.avx2@1", plain, cairn::RuleAction::pin, ""}, 0), "a rule pins test.avx2@1");
    EXPECT_EQ(refusal({"test.avx2@1", plain, cairn::RuleAction::pin, ""}, 1), "is packed");
}

TEST_F(KernelRuleTest, RulesStayWhenCostsChange) {
    costs.rules = {{"test.avx2@1", "*", cairn::RuleAction::ban, ""}};
    KernelQueryCache judge = this->judge(levels::avx512);
    KernelQuery& query = judge.query(sum_of(2));
    EXPECT_EQ(judge.query_result(query, kernels.kernels[1]).refusal, "banned by a rule");
    judge.set_costs({});
    EXPECT_EQ(judge.query_result(query, kernels.kernels[1]).refusal, "banned by a rule");
    EXPECT_EQ(judge.query_result(judge.query(sum_of(1)), kernels.kernels[1]).refusal, "banned by a rule");
}

}  // namespace
}  // namespace cairn::selection
