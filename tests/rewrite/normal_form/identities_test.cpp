#include "rewrite/normal_form/identities.hpp"

#include "cairn/graph.hpp"
#include "graph/ir/verify.hpp"
#include "rewrite/normal_form/normal_forms.hpp"
#include "tests/graph/ir/random_graph.hpp"
#include "tests/rewrite/normal_form/identity_examples.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace cairn::test {
namespace {

using normal_form::Identity, normal_form::IdentityTable, normal_form::Laws;

std::vector<IdentityExample> all_examples() {
    std::vector<IdentityExample> examples;
    for (const auto family : {arithmetic_examples(), logic_examples(), structure_examples()})
        examples.insert(examples.end(), family.begin(), family.end());
    return examples;
}

Graph graph_of(const IdentityExample& example) {
    return parse_graph("graph g (N in 1..8)" + std::string(example.graph));
}

std::vector<Identity> rows_of(std::string_view name) {
    std::vector<Identity> rows;
    for (const Identity& row : normal_form::all_identities())
        if (row.name == name) rows.push_back(row);
    return rows;
}

std::vector<Identity> rows_without(std::string_view name) {
    std::vector<Identity> rows;
    for (const Identity& row : normal_form::all_identities())
        if (row.name != name) rows.push_back(row);
    return rows;
}

// The laws that an example is shown with: those of its identity, and of definitions if it says so.
Laws laws_of(const IdentityExample& example) {
    Laws laws = example.in_definitions ? Laws::of_definitions() : Laws{};
    for (const Identity& row : rows_of(example.identity)) laws = laws | row.laws;
    return laws;
}

// True if the outputs `left` and `right` have one form by the identities of a table.
bool have_one_form(const Graph& graph, const IdentityTable& table) {
    const ir::GraphData& data = *graph.data();
    normal_form::Normalizer normalizer(table);
    std::vector<normal_form::ScaledTerm> forms;
    normal_form::normalize_graph(data, {}, {}, normalizer, forms, [](ir::NodeId) { return true; });
    return normalizer.same(forms[data.outputs().at(0).node], forms[data.outputs().at(1).node]);
}

class IdentityTest : public ::testing::TestWithParam<IdentityExample> {};

TEST_P(IdentityTest, BothSidesHaveOneForm) {
    ASSERT_FALSE(rows_of(GetParam().identity).empty()) << "no identity has this name";
    const Graph graph = graph_of(GetParam());
    EXPECT_EQ(ir::verify(*graph.data()), "");
    EXPECT_TRUE(have_one_form(graph, IdentityTable::under(laws_of(GetParam())))) << to_string(graph);
}

TEST_P(IdentityTest, WithoutTheRowTheyDiffer) {
    const std::vector<Identity> rows = rows_of(GetParam().identity), others = rows_without(GetParam().identity);
    ASSERT_FALSE(rows.empty());
    const bool is_stored = std::holds_alternative<normal_form::ByRepresentation>(rows[0].applied);
    EXPECT_EQ(have_one_form(graph_of(GetParam()), IdentityTable(others, laws_of(GetParam()))), is_stored);
}

TEST_P(IdentityTest, WithoutOneOfItsLawsTheyDiffer) {
    const Laws laws = laws_of(GetParam());
    for (const Identity& row : rows_of(GetParam().identity))
        for (const normal_form::LawInfo& info : normal_form::law_table()) {
            if (!row.laws.has(info.law)) continue;
            Laws others;
            for (const normal_form::LawInfo& other : normal_form::law_table())
                if (other.law != info.law && laws.has(other.law)) others = others | Laws{other.law};
            EXPECT_FALSE(have_one_form(graph_of(GetParam()), IdentityTable::under(others))) << info.name;
        }
}

TEST_P(IdentityTest, BothSidesHaveOneValue) {
    const Graph graph = graph_of(GetParam());
    for (const auto& sizes : random_sizes(*graph.data(), 4, 1)) {
        const auto outputs = interpreter::interpret(*graph.data(), random_inputs(*graph.data(), sizes, 1)).outputs;
        EXPECT_EQ(difference(outputs.at("left"), outputs.at("right"), 1e-6), "");
    }
}

INSTANTIATE_TEST_SUITE_P(Examples, IdentityTest, ::testing::ValuesIn(all_examples()), [](const auto& info) {
    return std::string(info.param.identity) + "_" + std::to_string(info.index);
});

TEST(Identities, EachHasAnExample) {
    std::set<std::string_view> shown;
    for (const IdentityExample& example : all_examples()) shown.insert(example.identity);
    for (const Identity& row : normal_form::all_identities())
        EXPECT_TRUE(shown.contains(row.name)) << row.name << " has no example";
}

TEST(Identities, HaveLaws) {
    for (const Identity& row : normal_form::all_identities()) {
        EXPECT_FALSE(row.name.empty());
        EXPECT_NE(row.law.find(" -> "), std::string_view::npos) << row.name;
    }
}

TEST(Identities, EachSetOfLawsHasItsTable) {
    for (std::size_t i = 0; i < Laws::count; ++i)
        EXPECT_EQ(IdentityTable::under(Laws::of_index(i)).laws(), Laws::of_index(i));
}

}  // namespace
}  // namespace cairn::test
