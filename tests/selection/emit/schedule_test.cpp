#include "selection/emit/schedule.hpp"

#include "cairn/cairn.hpp"
#include "cairn/error.hpp"

#include <gtest/gtest.h>

namespace cairn::selection {
namespace {

using Order = std::vector<int>;

TEST(Schedule, TheLowestReadyNumberIsFirst) {
    EXPECT_EQ(schedule({{{}, {}, {}}, {}}), (Order{0, 1, 2}));
    EXPECT_EQ(schedule({{{2}, {}, {}}, {}}), (Order{1, 2, 0}));
    EXPECT_EQ(schedule({{{3}, {0}, {}, {}}, {}}), (Order{2, 3, 0, 1})) << "1 before nothing that it needs";
    EXPECT_EQ(schedule({{}, {}}), Order{});
    EXPECT_EQ(schedule({{{}}, {}}), Order{0});
}

TEST(Schedule, ADuplicateDependenceCountsOnce) { EXPECT_EQ(schedule({{{1, 1}, {}}, {}}), (Order{1, 0})); }

TEST(Schedule, ACycleIsAnInternalError) {
    EXPECT_THROW(schedule({{{1}, {0}}, {}}), InternalError);
    EXPECT_THROW(schedule({{{0}}, {}}), InternalError);
    EXPECT_THROW(schedule({{{}, {2}, {1}}, {}}), InternalError);
}

/// Hand-written choices: the value of each, and its operands.
class DependencesTest : public testing::Test {
protected:
    int choose(const Tensor& made, std::vector<KernelOperand> operands, std::vector<ir::NodeId> outputs = {},
               bool is_copy = false) {
        Choice choice;
        choice.goal =
            is_copy ? Goal{made.id()} : Goal{made.id(), {is_state_version(graph.data()->node(made.id())), {}}, false};
        choice.candidate.operands = std::move(operands);
        choice.candidate.outputs = outputs.empty() ? std::vector<ir::NodeId>{made.id()} : std::move(outputs);
        chosen.push_back(std::move(choice));
        return static_cast<int>(chosen.size()) - 1;
    }
    static KernelOperand strided(const Tensor& tensor) { return {tensor.id(), OperandForm::strided, {}}; }
    static KernelOperand dense(const Tensor& tensor) { return {tensor.id(), OperandForm::dense, {}}; }
    Dependences dependences() {
        const Candidates candidates(*graph.data(), kernels, levels::baseline, {}, true);
        return dependences_of(*graph.data(), chosen, candidates);
    }

    Graph graph{"g"};
    KernelSet kernels;
    std::vector<Choice> chosen;
};

TEST_F(DependencesTest, OnTheProducerOfTheViewedMemory) {
    const Tensor x = graph.input("x", DType::f32, {4, 4}), a = exp(x), view = transpose(a, {1, 0}), b = sin(view);
    choose(b, {strided(view)});
    choose(a, {strided(x)});
    EXPECT_EQ(dependences().after, (std::vector<std::vector<int>>{{1}, {}}));
}

TEST_F(DependencesTest, OnAnyMatchThatProvidesTheValue) {
    const Tensor x = graph.input("x", DType::f32, {4}), a = exp(x), b = sin(a), c = cos(a);
    choose(c, {strided(a)});
    choose(b, {strided(x)}, {b.id(), a.id()});
    EXPECT_EQ(dependences().after, (std::vector<std::vector<int>>{{1}, {}}));
}

TEST_F(DependencesTest, NotOnTheMatchItself) {
    const Tensor x = graph.input("x", DType::f32, {4}), a = exp(x), b = sin(a);
    choose(b, {strided(a)}, {b.id(), a.id()});
    EXPECT_EQ(dependences().after, (std::vector<std::vector<int>>{{}}));
}

class StateDependencesTest : public DependencesTest {
protected:
    State state = graph.state("s", DType::f32, {graph.symbol("P", 1, 8), 4}, 0, 16);
    Tensor rows = graph.input("rows", DType::f32, {1, 4});
};

TEST_F(StateDependencesTest, AReaderPrecedesTheOverwrite) {
    const Tensor before = state.read(), total = exp(before), after = state.write(rows, 0);
    const int write = choose(after, {strided(rows)}), read = choose(total, {strided(before)});
    const Dependences found = dependences();
    EXPECT_EQ(found.after[static_cast<std::size_t>(write)], std::vector<int>{read});
    EXPECT_TRUE(found.late_reads.empty());
    EXPECT_EQ(schedule(found), (Order{read, write}));
}

TEST_F(StateDependencesTest, AReaderThatNeedsTheWriteItselfIsLate) {
    const Tensor before = state.read(), after = state.write(rows, 0), both = before + after;
    const int write = choose(after, {strided(rows)}), read = choose(both, {strided(after), strided(before)});
    const Dependences found = dependences();
    ASSERT_EQ(found.late_reads.size(), 1U);
    EXPECT_EQ(found.late_reads[0].reader, read);
    EXPECT_EQ(found.late_reads[0].operand, 1);
    EXPECT_EQ(found.late_reads[0].writer, write);
    EXPECT_EQ(schedule(found), (Order{write, read}));
}

// A reader of each state depends on the write of the other: only one of them can come first.
TEST_F(StateDependencesTest, OneOfTwoCrossedReadersIsLate) {
    State other = graph.state("other", DType::f32, {1, 4});
    const Tensor before = state.read(), other_before = other.read();
    const Tensor after = state.write(rows, 0), other_after = other.assign(rows);
    const Tensor both = other_before + after, crossed = before + other_after;
    choose(after, {strided(rows)});
    choose(other_after, {strided(rows)});
    choose(both, {strided(other_before), strided(after)});
    choose(crossed, {strided(before), strided(other_after)});
    const Dependences found = dependences();
    ASSERT_EQ(found.late_reads.size(), 1U);
    EXPECT_EQ(schedule(found).size(), 4U);
}

TEST_F(StateDependencesTest, AnAppendReplacesNothing) {
    const Tensor before = state.read(), after = state.append(rows), both = exp(before);
    choose(after, {strided(rows)});
    choose(both, {strided(before)});
    const Dependences found = dependences();
    EXPECT_EQ(found.after, (std::vector<std::vector<int>>{{}, {}}));
    EXPECT_TRUE(found.late_reads.empty());
}

TEST_F(StateDependencesTest, VersionsAreWrittenInSequence) {
    const Tensor first = state.append(rows), second = state.write(rows, 0);
    choose(second, {strided(rows)});
    choose(first, {strided(rows)});
    EXPECT_EQ(schedule(dependences()), (Order{1, 0}));
}

TEST_F(StateDependencesTest, ACopyOfAVersionNeedsNoOrderOfItsReaders) {
    const Tensor before = state.read(), user = exp(before), after = state.write(rows, 0);
    const int write = choose(after, {strided(rows)}), copy = choose(before, {strided(before)}, {before.id()}, true),
              read = choose(user, {dense(before)});
    const Dependences found = dependences();
    EXPECT_EQ(found.after[static_cast<std::size_t>(read)], std::vector<int>{copy});
    EXPECT_EQ(found.after[static_cast<std::size_t>(write)], std::vector<int>{copy});
}

}  // namespace
}  // namespace cairn::selection
