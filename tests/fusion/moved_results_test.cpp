#include "fusion/moved_results.hpp"

#include "cairn/ops.hpp"
#include "tests/fusion/match_check.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace cairn::test {
namespace {

std::vector<fusion::Match> moved(const Proposed& proposed) {
    std::vector<fusion::Match> found;
    for (const fusion::Match& match : proposed.matches)
        if (!match.moved.empty()) found.push_back(match);
    return found;
}

class MovedResults : public testing::Test {
protected:
    Graph g{"g"};
    const Dim t = g.symbol("T", 1, 4), past = g.symbol("P", 0, 8);
    const Tensor x = g.input("x", DType::f32, {t, 6}), w = g.input("w", DType::f32, {6, 6});
    State state = g.state("s", DType::f32, {past, 6}, 0, 16);
    State heads = g.state("h", DType::f32, {2, past, 3}, 1, 16);

    std::string text(const Tensor& read) {
        g.output("y", read);
        const Proposed made = proposed(g);
        EXPECT_EQ(fusion::verify(*made.graph, alternatives::EClasses(*made.graph), made.matches, definitions()), "");
        return to_string(moved(made));
    }
    Tensor split(const Tensor& value) const { return transpose(reshape(value, {t, 2, 3}), {1, 0, 2}); }
};

TEST_F(MovedResults, ProducersOfRowsAppendThem) {
    EXPECT_EQ(text(state.append(exp(x))),
              "elementwise {1=exp(0):f32} results (1) (%0) -> (%5) over (%4)\nexp (%0) -> (%5) over (%4)\n");
}

TEST_F(MovedResults, EachMatchOfTheRowsHasAMovedForm) {
    EXPECT_EQ(text(state.append(sin(exp(x)))),
              "elementwise {1=exp(0):f32 2=sin(1):f32} results (2) (%0) -> (%6) over (%4, %5)\n"
              "sin (%4) -> (%6) over (%5)\n");
}

TEST_F(MovedResults, RowsMayBeReshapedAndTransposed) {
    EXPECT_EQ(text(heads.append(split(exp(x)))),
              "elementwise {1=exp(0):f32} results (1) (%0) -> (%7) over (%4, %5, %6)\n"
              "exp (%0) -> (%7) over (%4, %5, %6)\n");
}

TEST_F(MovedResults, MovedInputsHaveNoMovedForm) {
    state.append(x);
    EXPECT_EQ(text(heads.append(split(x))), "");
}

TEST_F(MovedResults, APartOfAValueHasNoMovedForm) { EXPECT_EQ(text(state.append(slice(exp(x), 0, 0, 1))), ""); }

TEST_F(MovedResults, AVersionOfAnotherStateHasNoMovedForm) {
    State other = g.state("o", DType::f32, {past, 6}, 0, 16);
    EXPECT_EQ(text(state.append(other.append(x))), "");
}

TEST_F(MovedResults, AWriteHasNoMovedForm) {
    EXPECT_EQ(text(g.state("f", DType::f32, {1, 6}).assign(exp(sum(x, {0}, true)))), "");
}

TEST_F(MovedResults, AValueAppendedTwiceHasTwoMovedForms) {
    const Tensor rows = exp(x);
    state.append(rows);
    const std::string of_each = text(state.append(rows));
    EXPECT_NE(of_each.find("exp (%0) -> (%5) over (%4)\n"), std::string::npos) << of_each;
    EXPECT_NE(of_each.find("exp (%0) -> (%6) over (%4)\n"), std::string::npos) << of_each;
}

// Merged heads: a reshape of a transpose is a copy.
TEST_F(MovedResults, AResultOfACopyingReshapeIsWrittenToItsTarget) {
    const Tensor transposed = transpose(exp(g.input("z", DType::f32, {2, t, 3})), {1, 0, 2});
    EXPECT_EQ(text(sin(reshape(transposed, {t, 6}))),
              "elementwise {1=exp(0):f32} results (1) (%4) -> (%7) over (%5, %6)\n"
              "exp (%4) -> (%7) over (%5, %6)\n");
}

TEST_F(MovedResults, AViewHasNoMovedForm) {
    g.output("z", sin(transpose(exp(x), {1, 0})));
    EXPECT_EQ(text(sin(reshape(exp(x), {t, 2, 3}))), "");
}

TEST_F(MovedResults, ATransposedOutputIsWrittenTransposed) {
    EXPECT_EQ(text(transpose(exp(x), {1, 0})),
              "elementwise {1=exp(0):f32} results (1) (%0) -> (%5) over (%4)\nexp (%0) -> (%5) over (%4)\n");
}

class ColumnsOfProducts : public MovedResults {
protected:
    const Tensor w3 = g.input("w3", DType::f32, {6, 18});
    const Tensor product = matmul(x, w3);
    static Tensor part(const Tensor& whole, int i) { return slice(whole, -1, 6 * i, 6 * i + 6); }
    /// The matches with several outputs.
    std::string of_several(const Tensor& read) {
        g.output("y", read);
        const Proposed made = proposed(g);
        EXPECT_EQ(fusion::verify(*made.graph, alternatives::EClasses(*made.graph), made.matches, definitions()), "");
        std::vector<fusion::Match> found = moved(made);
        std::erase_if(found, [](const fusion::Match& match) { return match.outputs.size() == 1; });
        return to_string(found);
    }
};

TEST_F(ColumnsOfProducts, AreWrittenToTheirTargets) {
    const Tensor all = state.append(part(product, 0)), other = heads.append(split(part(product, 2)));
    EXPECT_EQ(of_several(sum(part(product, 1)) + sum(all) + sum(other)),
              "fused columns=(0,0,12) {2=matmul(0,1):f32} results (2,2,2) (%0, %4) -> (%5, %7, %11) over (%6, %8, %9, "
              "%10)\n");
}

TEST_F(ColumnsOfProducts, OfAnEpilogueAreMoved) {
    const Tensor biased = exp(product + 1.0F);
    EXPECT_EQ(of_several(sum(biased) + sum(state.append(part(biased, 1)))),
              "fused columns=(0,6) {2=matmul(0,1):f32 3=const(1):f32 4=add(2,3):f32 5=exp(4):f32} results (5,5) (%0, "
              "%4) -> (%8, %10) over (%5, %7, %9)\n");
}

TEST_F(ColumnsOfProducts, OfOtherValuesHaveNoMovedForm) {
    const Tensor rows = exp(g.input("z", DType::f32, {t, 18}));
    heads.append(split(part(rows, 1)));
    EXPECT_EQ(of_several(state.append(slice(matmul(x, w), 0, 0, 1))), "");
}

// The second append would require the first, which may depend on other outputs of the match.
TEST_F(ColumnsOfProducts, AreAppendedToTheVersionBeforeTheRun) {
    state.append(part(product, 0));
    const std::string found = of_several(state.append(part(product, 1)));
    EXPECT_EQ(found.find("columns=(0,0) "), found.find("columns=")) << found;
    EXPECT_NE(found, "");
}

TEST_F(MovedResults, DetectsFaultyMovedResults) {
    g.output("y", heads.append(split(exp(x))));
    g.output("z", state.append(sin(x)));
    struct Case {
        std::function<void(fusion::Match&)> spoil;
        const char* fault;
    };
    const Case cases[] = {
        {[](fusion::Match& match) { match.moved[0][0] = 100000; }, "names node %100000"},
        {[](fusion::Match& match) { match.moved[0].pop_back(); }, "holds another value"},
        {[](fusion::Match& match) { std::swap(match.moved[0][1], match.moved[0][2]); }, " moved"},
        {[](fusion::Match& match) { match.outputs = {match.moved[0][0]}; }, "which is not the result of a move"},
        {[](fusion::Match& match) { match.definition = "cos"; }, "does not compute %"},
        {[](fusion::Match& match) { match.moved.push_back({}); }, "moves results it does not have"},
    };
    for (const Case& c : cases) {
        Proposed made = proposed(g);
        const auto match = std::find_if(made.matches.begin(), made.matches.end(), [](const fusion::Match& each) {
            return each.is_moved(0) && each.moved[0].size() == 3;
        });
        ASSERT_NE(match, made.matches.end());
        c.spoil(*match);
        const std::string fault =
            fusion::verify(*made.graph, alternatives::EClasses(*made.graph), made.matches, definitions());
        EXPECT_NE(fault.find(c.fault), std::string::npos) << c.fault << ": " << fault;
    }
}

TEST_F(ColumnsOfProducts, WithOtherTargetsAreFaults) {
    g.output("y", state.append(part(product, 1)));
    g.output("z", product);
    Proposed made = proposed(g);
    const auto match = std::find_if(made.matches.begin(), made.matches.end(),
                                    [](const fusion::Match& each) { return each.outputs.size() == 2; });
    ASSERT_NE(match, made.matches.end());
    match->attributes = {{"columns", std::vector<Dim>{0, 5}}};
    const std::string fault =
        fusion::verify(*made.graph, alternatives::EClasses(*made.graph), made.matches, definitions());
    EXPECT_NE(fault.find("does not compute %"), std::string::npos) << fault;
}

TEST(MovedResultsOfRandomGraphs, AreFoundAndProved) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const Proposed made = proposed(random_graph(seed));
        EXPECT_EQ(fusion::verify(*made.graph, alternatives::EClasses(*made.graph), moved(made), definitions()), "")
            << seed;
        found += static_cast<int>(moved(made).size());
    }
    EXPECT_GT(found, 20);
}

}  // namespace
}  // namespace cairn::test
