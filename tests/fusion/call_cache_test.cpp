#include "fusion/call_cache.hpp"

#include "cairn/composites.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace cairn::test {
namespace {

/// Calls of a definition: a product minus `eps`, for rows of at least two elements and an `eps` of at least 0. Counts
/// how often it is built.
class CallCacheTest : public testing::Test {
protected:
    CallCacheTest() { builds = 0; }
    Definition scaled_minus() {
        return {"test",
                [this](std::span<const Tensor> operands, const Attributes& attributes) {
                    ++builds;
                    if (operands[0].shape().back() == Dim(1) || attributes.number("eps") < 0)
                        throw Error(ErrorKind::argument, "test", "refused");
                    return std::vector<Tensor>{operands[0] * operands[1] - attributes.number("eps")};
                },
                {"test eps=? | f32[R,D] f32[D]"}};
    }
    Attributes eps(double number) { return {{"eps", number}}; }

    int builds = 0;
    Definition definition = scaled_minus();
    std::vector<fusion::Pattern> patterns = fusion::make_patterns({&definition, 1});
    Graph g{"g"};
    ir::NodeId x = g.input("x", DType::f32, {2, 3}).id(), y = g.input("y", DType::f32, {2, 3}).id(),
               row = g.input("row", DType::f32, {3}).id(), other = g.input("other", DType::f32, {5}).id(),
               thin = g.input("thin", DType::f32, {2, 1}).id(), one = g.input("one", DType::f32, {1}).id(),
               whole = g.input("whole", DType::i32, {2, 3}).id();
    const ir::GraphData& graph = *g.data();
    fusion::NodeTypes types{graph};
    fusion::InstanceCache instances{graph.symbols()};
    fusion::CallCache calls{patterns.front(), graph, types, instances};
};

TEST_F(CallCacheTest, NodesOfOneDtypeAndShapeAreOfOneType) {
    EXPECT_EQ(types.of(x), types.of(y));
    EXPECT_NE(types.of(x), types.of(row));
    EXPECT_NE(types.of(x), types.of(whole));
    EXPECT_EQ(types.count(), 6U);
}

TEST_F(CallCacheTest, AnOperandIsAcceptedByItsType) {
    EXPECT_TRUE(calls.accepts_operand(0, x));
    EXPECT_TRUE(calls.accepts_operand(0, y)) << "as x";
    EXPECT_FALSE(calls.accepts_operand(0, whole));
    EXPECT_FALSE(calls.accepts_operand(0, row)) << "too few axes";
    EXPECT_TRUE(calls.accepts_operand(1, other)) << "D is not bound";
    EXPECT_EQ(calls.sizes().bound(), 0U);
}

TEST_F(CallCacheTest, AreTheSameForOperandsOfTheSameTypes) {
    const ir::NodeId first[] = {x, row}, second[] = {y, row}, third[] = {thin, one};
    EXPECT_EQ(&calls.of(first), &calls.of(second));
    EXPECT_NE(&calls.of(first), &calls.of(third));
    EXPECT_TRUE(calls.of(first).fits);
}

TEST_F(CallCacheTest, ADefinitionIsBuiltOnceForEachNumber) {
    const ir::NodeId operands[] = {x, row};
    fusion::TypedCall& call = calls.of(operands);
    const fusion::FilledInstance* half = calls.filled(call, eps(0.5));
    ASSERT_NE(half, nullptr);
    EXPECT_EQ(calls.filled(call, eps(0.5)), half);
    EXPECT_NE(calls.filled(call, eps(0.25)), half);
    EXPECT_EQ(builds, 2);
    EXPECT_TRUE(calls.may_produce(call, y));
    EXPECT_FALSE(calls.may_produce(call, thin));
}

TEST_F(CallCacheTest, ARefusedNumberDoesNotRejectTheOperands) {
    const ir::NodeId operands[] = {x, row};
    fusion::TypedCall& call = calls.of(operands);
    EXPECT_EQ(calls.filled(call, eps(-1)), nullptr);
    EXPECT_FALSE(call.is_rejected);
    EXPECT_NE(calls.filled(call, eps(1)), nullptr);
}

TEST_F(CallCacheTest, RefusedOperandsAreNotTriedWithFurtherNumbers) {
    const ir::NodeId operands[] = {thin, one};
    fusion::TypedCall& call = calls.of(operands);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(calls.filled(call, eps(i)), nullptr);
    EXPECT_EQ(builds, 2) << "with the number asked for, and with one that suits the pattern";
}

TEST_F(CallCacheTest, OnlyTheFirstOfManyNumbersInConstantsAreBuilt) {
    const ir::NodeId operands[] = {x, row};
    fusion::TypedCall& call = calls.of(operands);
    for (int i = 1; i <= 100; ++i) ASSERT_NE(calls.filled(call, eps(0.1 * i)), nullptr);
    EXPECT_LE(builds, 6) << "and with two numbers that show where they go";
    const fusion::FilledInstance* last = calls.filled(call, eps(10));
    ASSERT_EQ(last->numbers.size(), 1U);
    EXPECT_EQ(last->instance->graph->node(last->numbers[0].constant).op, ir::Op::constant);
    EXPECT_EQ(std::fabs(last->numbers[0].value), 10);
    const int before = builds;
    const fusion::FilledInstance* exact_instance = calls.exact_instance(call, eps(10));
    EXPECT_TRUE(exact_instance->numbers.empty());
    EXPECT_EQ(*exact_instance->instance->graph->node(last->numbers[0].constant).values,
              std::vector{last->numbers[0].value});
    EXPECT_EQ(calls.filled(call, eps(10)), exact_instance);
    EXPECT_EQ(calls.exact_instance(call, eps(10)), exact_instance);
    EXPECT_EQ(builds, before + 1);
    EXPECT_TRUE(calls.filled(call, eps(1e300))->numbers.empty()) << "infinite in f32";
}

TEST_F(CallCacheTest, IntegersAreInsertedIntoConstants) {
    definition = {"test",
                  [this](std::span<const Tensor> operands, const Attributes& attributes) {
                      ++builds;
                      return std::vector<Tensor>{where(operands[0] < attributes.dims("bound")[0], operands[0],
                                                       operands[0] * attributes.dims("bound")[0])};
                  },
                  {"test bound=(W) | i32[R]"}};
    const auto such = fusion::make_patterns({&definition, 1});
    fusion::CallCache others(such.front(), graph, types, instances);
    ASSERT_TRUE(others.sizes().bind(0, graph.node(whole).dtype, graph.node(whole).shape));
    const ir::NodeId operands[] = {whole};
    fusion::TypedCall& call = others.of(operands);
    const auto bound = [](std::int64_t number) { return Attributes{{"bound", std::vector<Dim>{number}}}; };
    builds = 0;
    for (int i = 1; i <= 100; ++i) ASSERT_NE(others.filled(call, bound(i)), nullptr);
    EXPECT_LE(builds, 6);
    const fusion::FilledInstance* last = others.filled(call, bound(1000));
    ASSERT_EQ(last->numbers.size(), 1U) << "one constant serves both ops";
    EXPECT_EQ(last->numbers[0].value, 1000);
    EXPECT_EQ(*others.exact_instance(call, bound(1000))->instance->graph->node(last->numbers[0].constant).values,
              std::vector{1000.0});
}

TEST_F(CallCacheTest, NumbersUsedOutsideConstantsAreBuilt) {
    const ir::NodeId operands[] = {x, row};
    for (const auto& form : std::initializer_list<std::function<double(double)>>{
             [](double number) { return std::sqrt(number); }, [](double number) { return 1 + number; }}) {
        definition.build = [&](std::span<const Tensor> given, const Attributes& attributes) {
            return std::vector<Tensor>{given[0] * given[1] - form(attributes.number("eps"))};
        };
        const auto such = fusion::make_patterns({&definition, 1});
        fusion::InstanceCache fresh(graph.symbols());
        fusion::CallCache others(such.front(), graph, types, fresh);
        ASSERT_TRUE(others.sizes().bind(0, graph.node(x).dtype, graph.node(x).shape));
        ASSERT_TRUE(others.sizes().bind(1, graph.node(row).dtype, graph.node(row).shape));
        fusion::TypedCall& call = others.of(operands);
        for (int i = 1; i <= 20; ++i) EXPECT_TRUE(others.filled(call, eps(0.1 * i))->numbers.empty()) << i;
    }
}

}  // namespace
}  // namespace cairn::test
