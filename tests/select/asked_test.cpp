#include "select/asked.hpp"

#include "cairn/cairn.hpp"

#include <gtest/gtest.h>

namespace cairn::select {
namespace {

/// A problem in few words, and what they speak of.
struct Words {
    Words(const Problem& problem, Descs& descs)
        : attributes(problem.attributes), body(problem.body), results(problem.results), definition(problem.definition) {
        for (const TensorDesc& desc : problem.inputs) inputs.push_back(descs.of(desc));
        for (const TensorDesc& desc : problem.outputs) outputs.push_back(descs.of(desc));
    }
    ShortProblem get() const { return {definition, &attributes, &body, results, inputs, outputs}; }

    Attributes attributes;
    fuse::Body body;
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

TEST(Descs, EqualOnesAreOne) {
    Descs descs;
    TensorDesc desc = TensorDesc::dense(DType::f32, {4, 3});
    const TensorDesc* const first = descs.of(desc);
    EXPECT_EQ(*first, desc);
    EXPECT_EQ(descs.of(desc), first);
    desc.bound = true;
    EXPECT_NE(descs.of(desc), first);
    desc.bound = false;
    desc.layout = "panel";
    EXPECT_NE(descs.of(desc), first);
}

TEST(ShortProblem, IsEqualToTheBit) {
    Descs descs;
    const Words one(scaled(1), descs), same(scaled(1), descs), zero(scaled(0.0), descs), minus(scaled(-0.0), descs);
    EXPECT_TRUE(one.get() == same.get());
    EXPECT_EQ(one.get().hash(), same.get().hash());
    EXPECT_FALSE(one.get() == zero.get());
    EXPECT_FALSE(zero.get() == minus.get());
    Problem longer = scaled(1);
    longer.body.push_back({"neg", {2}, DType::f32, 0});
    EXPECT_FALSE(one.get() == Words(longer, descs).get());
    Problem other = scaled(1);
    other.results = {1};
    EXPECT_FALSE(one.get() == Words(other, descs).get());
    other = scaled(1);
    other.inputs.push_back(other.inputs[0]);
    EXPECT_FALSE(one.get() == Words(other, descs).get());
}

TEST(KeptProblem, IsWholeForWhoLooksAndNeedsNothingOfWhatItWasMadeFrom) {
    Descs descs;
    std::pmr::monotonic_buffer_resource pool;
    auto words = std::make_unique<Words>(scaled(3), descs);
    const KeptProblem kept(words->get(), pool);
    words.reset();
    EXPECT_FALSE(kept.is_whole());
    EXPECT_EQ(*AskedProblem(kept), scaled(3));
    EXPECT_TRUE(kept.is_whole());
    kept.put_away();
    EXPECT_FALSE(kept.is_whole());
    EXPECT_EQ(*kept.whole(), scaled(3));
}

}  // namespace
}  // namespace cairn::select
