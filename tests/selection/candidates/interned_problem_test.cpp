#include "selection/candidates/interned_problem.hpp"

#include "cairn/cairn.hpp"

#include <gtest/gtest.h>

namespace cairn::selection {
namespace {

/// A compact problem, and the objects that it refers to.
struct ProblemParts {
    ProblemParts(const Problem& problem, TensorDescInterner& desc_interner)
        : attributes(problem.attributes), body(problem.body), results(problem.results), definition(problem.definition) {
        for (const TensorDesc& desc : problem.inputs) inputs.push_back(desc_interner.of(desc));
        for (const TensorDesc& desc : problem.outputs) outputs.push_back(desc_interner.of(desc));
    }
    ProblemRef get() const { return {definition, &attributes, &body, results, inputs, outputs}; }

    Attributes attributes;
    fusion::Body body;
    std::vector<int> results;
    std::string definition;
    std::vector<const TensorDesc*> inputs, outputs;
};

Problem scaled(double number) {
    Problem problem;
    problem.definition = "elementwise";
    problem.attributes.push_back({"scale", number});
    problem.body = {{"const", {}, DType::f32, 2}, {"mul", {0, 1}, DType::f32, 0}};
    problem.results = {2};
    problem.inputs = {TensorDesc::dense(DType::f32, {4})};
    problem.outputs = problem.inputs;
    return problem;
}

TEST(TensorDescInterner, EqualDescriptionsAreInterned) {
    TensorDescInterner desc_interner;
    TensorDesc desc = TensorDesc::dense(DType::f32, {4, 3});
    const TensorDesc* const first = desc_interner.of(desc);
    EXPECT_EQ(*first, desc);
    EXPECT_EQ(desc_interner.of(desc), first);
    desc.bound = true;
    EXPECT_NE(desc_interner.of(desc), first);
    desc.bound = false;
    desc.layout = "panel";
    EXPECT_NE(desc_interner.of(desc), first);
}

TEST(ProblemRef, ComparesBitwise) {
    TensorDescInterner desc_interner;
    const ProblemParts one(scaled(1), desc_interner), same(scaled(1), desc_interner), zero(scaled(0.0), desc_interner),
        minus(scaled(-0.0), desc_interner);
    EXPECT_TRUE(one.get() == same.get());
    EXPECT_EQ(one.get().hash(), same.get().hash());
    EXPECT_FALSE(one.get() == zero.get());
    EXPECT_FALSE(zero.get() == minus.get());
    Problem longer = scaled(1);
    longer.body.push_back({"neg", {2}, DType::f32, 0});
    EXPECT_FALSE(one.get() == ProblemParts(longer, desc_interner).get());
    Problem other = scaled(1);
    other.results = {1};
    EXPECT_FALSE(one.get() == ProblemParts(other, desc_interner).get());
    other = scaled(1);
    other.inputs.push_back(other.inputs[0]);
    EXPECT_FALSE(one.get() == ProblemParts(other, desc_interner).get());
}

TEST(InternedProblem, IsMaterializedIndependentlyOfItsSource) {
    TensorDescInterner desc_interner;
    std::pmr::monotonic_buffer_resource pool;
    auto ref = std::make_unique<ProblemParts>(scaled(3), desc_interner);
    const InternedProblem kept(ref->get(), pool);
    ref.reset();
    EXPECT_FALSE(kept.is_materialized());
    EXPECT_EQ(*ProblemHandle(kept), scaled(3));
    EXPECT_TRUE(kept.is_materialized());
    kept.release_memory();
    EXPECT_FALSE(kept.is_materialized());
    EXPECT_EQ(*kept.materialize(), scaled(3));
}

}  // namespace
}  // namespace cairn::selection
