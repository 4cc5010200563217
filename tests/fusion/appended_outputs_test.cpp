#include "cairn/ops.hpp"
#include "fusion/match.hpp"
#include "rewrite/simplify/simplify.hpp"
#include "tests/driver/attending_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

/// Definitions that read a state together with its new rows, and also provide these rows.
namespace cairn::test {
namespace {

std::vector<Tensor> join(std::span<const Tensor> in, const Attributes&) { return {concat({in[0], in[1]}, 0)}; }

Definition joining() {
    Definition made;
    made.name = "join";
    made.build = join;
    made.patterns = {"join | f32[P,D] f32[T,D]"};
    return made;
}

class AppendedOutputs : public testing::Test {
protected:
    /// The matches of the definitions. All matches are verified.
    std::string matches() {
        const auto graph = simplify::simplify(*g.data()).graph;
        const std::vector<fusion::Match> all = fusion::propose(*graph, definitions);
        EXPECT_EQ(fusion::verify(*graph, alternatives::EClasses(*graph), all, definitions), "");
        std::vector<fusion::Match> found = all;
        std::erase_if(found, [&](const fusion::Match& match) {
            return std::ranges::find(definitions, match.definition, &Definition::name) == definitions.end();
        });
        return to_string(found);
    }
    void read(const Tensor& all_keys, const Tensor& all_values) {
        g.output("y", matmul(exp(matmul(x, transpose(all_keys, {1, 0}))), all_values));
    }

    const std::vector<Definition> definitions{attending_kernels().definitions.at(0), joining()};
    Graph g{"g"};
    const Dim t = g.symbol("T", 1, 4), past = g.symbol("P", 0, 8);
    const Tensor x = g.input("x", DType::f32, {t, 6});
    const Tensor w = g.input("w", DType::f32, {6, 6}), u = g.input("u", DType::f32, {6, 6});
    State keys = g.state("k", DType::f32, {past, 6}, 0, 16);
    State values = g.state("v", DType::f32, {past, 6}, 0, 16);
    const Tensor k = matmul(x, w), v = matmul(x, u);
};

TEST_F(AppendedOutputs, AreFoundAsRowsAndAsAppends) {
    const Tensor all_keys = keys.append(k), all_values = values.append(v);
    read(all_keys, all_values);
    EXPECT_EQ(matches(),
              "attend (%0, %1, %2, %3, %4) -> (%12, %5, %6) over (%7, %8, %9, %10, %11)\n"
              "attend (%0, %1, %2, %3, %4) -> (%12, %7, %8) over (%5, %6, %9, %10, %11)\n");
}

TEST_F(AppendedOutputs, OfTheGraphThatJoinsRowsItselfAreFoundToo) {
    keys.append(k);
    values.append(v);
    read(concat({keys.read(), k}, 0), concat({values.read(), v}, 0));
    const std::string found = matches();
    EXPECT_EQ(std::ranges::count(found, '\n'), 4) << found;
    EXPECT_NE(found.find("attend"), std::string::npos) << found;
}

TEST_F(AppendedOutputs, OnlyThoseThatAreAppendedAreMoved) {
    read(keys.append(k), concat({values.read(), v}, 0));
    const std::string found = matches();
    EXPECT_NE(found.find("attend"), found.rfind("attend")) << "with and without the append\n" << found;
}

TEST_F(AppendedOutputs, OfOneValueAreAppendedToEachState) {
    const Tensor all_keys = keys.append(k), all_values = values.append(k);
    read(all_keys, all_values);
    EXPECT_EQ(matches(), "attend (%0, %1, %1, %3, %4) -> (%11, %6, %7) over (%5, %8, %9, %10)\n");
}

TEST_F(AppendedOutputs, OfOneValueTwiceAreAFault) {
    const Tensor all_keys = keys.append(k), all_values = values.append(k);
    read(all_keys, all_values);
    const auto graph = simplify::simplify(*g.data()).graph;
    std::vector<fusion::Match> all = fusion::propose(*graph, definitions);
    const auto match = std::ranges::find(all, "attend", &fusion::Match::definition);
    ASSERT_NE(match, all.end());
    match->outputs = match->computed();
    match->moved.clear();
    const std::string fault = fusion::verify(*graph, alternatives::EClasses(*graph), all, definitions);
    EXPECT_NE(fault.find("provides a value twice"), std::string::npos) << fault;
}

TEST_F(AppendedOutputs, OtherRowsThanThoseOfTheDefinitionAreNotFound) {
    const Tensor all_keys = keys.append(k);
    read(all_keys, values.append(v + 1.0F));
    EXPECT_EQ(matches(), "");
}

// The definition reads the rows that were appended before its own.
TEST_F(AppendedOutputs, OfALaterVersionAreNotMoved) {
    keys.append(x);
    values.append(x);
    const Tensor all_keys = keys.append(k), all_values = values.append(v);
    read(all_keys, all_values);
    EXPECT_EQ(matches(), "attend (%0, %1, %2, %7, %8) -> (%14, %5, %6) over (%9, %10, %11, %12, %13)\n");
}

// A kernel of it would write a new state beside the old one.
TEST_F(AppendedOutputs, AConcatDefinitionProvidesNoVersion) {
    g.output("y", exp(keys.append(k)));
    EXPECT_EQ(matches(), "");
    g.output("z", exp(concat({keys.read(), k}, 0)));
    const std::string found = matches();
    EXPECT_EQ(found.find("join"), 0U) << found;
    EXPECT_EQ(std::ranges::count(found, '\n'), 1) << found;
}

}  // namespace
}  // namespace cairn::test
