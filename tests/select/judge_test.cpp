#include "select/judge.hpp"

#include "cairn/cairn.hpp"

#include <gtest/gtest.h>

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
        for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
            Kernel& kernel = kernels.kernels.emplace_back();
            kernel.id = "test." + std::string(to_string(isa)) + "@1";
            kernel.definition = "elementwise";
            kernel.isa = isa;
            kernel.accepts = accepts_short;
            kernel.workspace = some_bytes;
        }
        asked = asked_for_workspace = 0;
    }
    Judge judge(Isa isa) const { return Judge(kernels, isa, costs, *symbols); }

    KernelSet kernels;
    CostSource costs;
    std::shared_ptr<Symbols> symbols = Symbols::create();
};

TEST_F(Judging, EqualProblemsAreOneQuestion) {
    Judge judge = this->judge(Isa::avx512);
    Question& first = judge.question(sum_of(2));
    EXPECT_EQ(&first, &judge.question(sum_of(2)));
    EXPECT_NE(&first, &judge.question(sum_of(1)));
    Problem other = sum_of(2);
    other.inputs[0].bound = true;
    EXPECT_NE(&first, &judge.question(other));
    EXPECT_EQ(*first.problem(), sum_of(2));
}

TEST_F(Judging, AFunctionOfSeveralKernelsIsAskedOnce) {
    Judge judge = this->judge(Isa::avx512);
    for (int round = 0; round < 2; ++round)
        for (const Kernel& kernel : kernels.kernels)
            EXPECT_EQ(judge.judged(judge.question(sum_of(2)), kernel).refusal, "");
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(asked_for_workspace, 1);
}

TEST_F(Judging, SoIsARefusal) {
    Judge judge = this->judge(Isa::avx2);
    Question& question = judge.question(sum_of(3));
    EXPECT_EQ(judge.judged(question, kernels.kernels[0]).refusal, "too long");
    EXPECT_EQ(judge.judged(question, kernels.kernels[1]).refusal, "too long");
    EXPECT_EQ(judge.judged(question, kernels.kernels[2]).refusal, "needs avx512, in use is avx2");
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(asked_for_workspace, 0);
}

TEST_F(Judging, WhatWasPutAwayIsWholeForWhoLooks) {
    Judge judge = this->judge(Isa::avx512);
    Question& question = judge.question(sum_of(2));
    const AskedProblem problem = question.problem();
    EXPECT_EQ(problem->body.size(), 2u);
    Judge::put_away(question);
    EXPECT_FALSE(problem.kept().is_whole());
    EXPECT_EQ(*problem, sum_of(2));
}

}  // namespace
}  // namespace cairn::select
