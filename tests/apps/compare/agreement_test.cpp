#include "apps/compare/agreement.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn::compare {
namespace {

TEST(Accuracy, CountsRowsWithLabels) {
    const std::vector<DataRow> rows{{.label = "a"}, {.label = "b"}, {}, {.label = "a"}};
    const std::vector<Answer> answers{{.label = "a"}, {.label = "a"}, {.label = "a"}, {.label = "a"}};
    EXPECT_DOUBLE_EQ(accuracy_of(rows, answers).value(), 2.0 / 3);
    EXPECT_FALSE(accuracy_of(std::vector<DataRow>(4), answers)) << "no labels are known";
    EXPECT_FALSE(accuracy_of(rows, std::vector<Answer>(4))) << "the answers are no labels";
    EXPECT_FALSE(accuracy_of(rows, {}));
}

TEST(Agreement, LabelsAndTokensMustBeEqual) {
    const std::vector<Answer> one{{.label = "a", .values = {1, 0}}, {.label = "b", .values = {0, 1}}},
        other{{.label = "a", .values = {2, 0}}, {.label = "a", .values = {0, 1}}};
    const Agreement labels = agreement_of(one, other, Task::classify, 1);
    EXPECT_EQ(labels.share, 0.5);
    EXPECT_EQ(labels.difference, 0.5);
    const std::vector<Answer> some{{.tokens = {1, 2}}, {.tokens = {3}}}, others{{.tokens = {1, 2}}, {.tokens = {3, 4}}};
    const Agreement tokens = agreement_of(some, others, Task::generate, 1);
    EXPECT_EQ(tokens.share, 0.5);
    EXPECT_FALSE(tokens.difference);
}

TEST(Agreement, VectorsAgreeWithinTheTolerance) {
    const std::vector<Answer> one{{.values = {3, 4}}, {.values = {0, 0}}, {.values = {1}}};
    const std::vector<Answer> other{{.values = {3, 4.05}}, {.values = {0, 0}}, {.values = {1, 1}}};
    EXPECT_DOUBLE_EQ(agreement_of(one, other, Task::embed, 0.011).share, 2.0 / 3);
    EXPECT_DOUBLE_EQ(agreement_of(one, other, Task::embed, 0.001).share, 1.0 / 3);
    EXPECT_FALSE(agreement_of(one, other, Task::embed, 0.001).difference) << "vectors of other lengths";
    const Agreement two = agreement_of(std::span(one).first(2), std::span(other).first(2), Task::embed, 0.001);
    EXPECT_NEAR(two.difference.value(), 0.05 / std::hypot(3, 4.05), 1e-12);
}

TEST(Agreement, NaNAgreesWithNothing) {
    const std::vector<Answer> one{{.values = {NAN}}, {.values = {1}}};
    const Agreement agreement = agreement_of(one, one, Task::run, 1);
    EXPECT_EQ(agreement.share, 0.5);
    EXPECT_FALSE(agreement.difference);
}

}  // namespace
}  // namespace cairn::compare
