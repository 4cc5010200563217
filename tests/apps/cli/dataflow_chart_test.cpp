#include "apps/cli/dataflow_chart.hpp"

#include "apps/cli/dataflow.hpp"
#include "apps/cli/problem_ops.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace cairn::cli {

void PrintTo(const DataflowEdge& edge, std::ostream* out) { *out << edge.from << "->" << edge.to; }

namespace {

ExplainedInstruction call(std::vector<int> reads, std::vector<int> writes) {
    ExplainedInstruction made;
    made.chosen.problem = "exp | f32[4] -> f32[4]";
    made.reads = std::move(reads);
    made.writes = std::move(writes);
    return made;
}

TEST(DataflowLayout, EdgesConnectTheLastWriterToReaders) {
    ExplainedBucket bucket;
    bucket.buffers = {{"input", "x"}, {"transient", ""}, {"state", "s"}, {"output", "y"}};
    bucket.instructions = {call({0}, {1}), call({1, 0}, {2}), call({2, 1, 1}, {1}), call({1}, {3})};
    EXPECT_EQ(dataflow_edges(bucket), (std::vector<DataflowEdge>{{0, 1, 1}, {1, 2, 2}, {0, 2, 1}, {2, 3, 1}}));
    EXPECT_EQ(names_read(bucket, bucket.instructions[1]), std::vector<std::string>{"x"});
    EXPECT_EQ(names_read(bucket, bucket.instructions[2]), std::vector<std::string>{"s"});
    EXPECT_EQ(names_written(bucket, bucket.instructions[3]), std::vector<std::string>{"y"});
    EXPECT_EQ(definition_of(bucket.instructions[0].chosen.problem), "exp");
}

TEST(DataflowLayout, GroupsAreTheirOps) {
    const Context context;
    EXPECT_EQ(problem_ops("linear | f32[2,3] f32[3,4]! f32[4]! -> f32[2,4]", context), "matmul add");
    EXPECT_EQ(problem_ops("softmax axis=(-1) | f32[2,3] -> f32[2,3]", context), "max_reduce sub exp sum div");
    EXPECT_EQ(
        problem_ops("elementwise {1=exp(0):f32 2=exp(1):f32 3=tanh(2):f32} | f32[4] -> f32[4] results (3)", context),
        "2x exp tanh");
    EXPECT_EQ(problem_ops("copy | f32[4] -> f32[4]", context), "");
    EXPECT_EQ(problem_ops("reshape shape=(4,1) | f32[4] -> f32[4,1]", context), "reshape");
}

TEST(DataflowChart, LinesInOneLaneDoNotOverlap) {
    EXPECT_EQ(edge_columns({{0, 2}, {0, 5}, {3, 4}}), (std::vector<int>{0, 1, 0}));
    EXPECT_EQ(edge_columns({{0, 4}, {1, 3}, {4, 6}}), (std::vector<int>{1, 0, 0}));
    const std::vector<RowSpan> spans{{0, 9}, {1, 3}, {2, 8}, {4, 6}, {2, 5}, {7, 9}, {0, 3}};
    const std::vector<int> lanes = edge_columns(spans);
    for (std::size_t i = 0; i < spans.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const bool overlap = spans[i].from < spans[j].to && spans[j].from < spans[i].to;
            if (overlap && spans[i].from != spans[j].from) { EXPECT_NE(lanes[i], lanes[j]) << i << ' ' << j; }
        }
}

}  // namespace
}  // namespace cairn::cli
