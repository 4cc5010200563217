#include "tests/rewrite/laws_page/laws_page.hpp"

#include "rewrite/alternatives/equivalence_rule.hpp"
#include "rewrite/normal_form/identity.hpp"
#include "rewrite/simplify/rule.hpp"

#include <set>
#include <string_view>

namespace cairn::test {
namespace {

constexpr std::string_view introduction = R"(# Laws

Every identity that Cairn relies on, printed from the tables of the code; `laws_page_test` fails if this page differs from
them. `left -> right` reads: the left side is replaced by the right one, or also computed as it. `@` is a product of
matrices, `^` a power; *number* is a constant, *bound* what depends on weights and constants alone. The columns say where a law
holds (nothing: everywhere) and what it does to the rounding of floats; integers and booleans are always equal.

)";

constexpr std::string_view rounding = R"(## Rounding

A result is a sum of terms, products of what is given, multiplied out. `Tolerance::exact()` admits all laws below
([0018](decisions/0018-exact-tolerance-and-error-budget.md)); [numbers.md](numbers.md) says what holds for NaN, infinities and zeros.

| rounding | error bound |
|---|---|
| exact, of `simplify` | none: equal bits, except of NaN |
| rounded, of `simplify` | both sides are within the rounding of their ops of the real value |
| exact | (terms + 16) eps of the sum of the absolute values of the terms, in any order; with exponentials one side may overflow or underflow where the other does not |
)";

constexpr std::string_view simplify_text = R"(
## Rules of simplify

The right side is never worse and replaces the left one ([add a rule](add_a_rule.md)). Rows: `src/rewrite/simplify/`.

)";

constexpr std::string_view alternatives_text = R"(
## Equivalence rules

Both sides stay in the graph, and the search selects by time ([add an expression](add_an_expression.md)). The normal form proves
each use under the laws in the last column. Rows: `src/rewrite/alternatives/expand.cpp`.

)";

constexpr std::string_view normal_form_text = R"(
## Identities of the normal form

Values are compared, and definitions matched, after these are applied. The right side is what the form contains. A row whose law
is not allowed is not used. Rows: `src/rewrite/normal_form/identities.cpp`; each has an example in
`tests/rewrite/normal_form/identities_test.cpp` that has equal forms with the row and different ones without it.

)";

constexpr std::string_view heading = "| name | law | where it holds | rounding |\n|---|---|---|---|\n";

// Equal rows for several ops are one line.
class Table {
public:
    void add(std::string_view name, std::string_view law, std::string_view where, std::string_view effect) {
        std::string line = "| `" + std::string(name) + "` | `" + std::string(law) + "` | " + std::string(where) +
                           (where.empty() ? "| " : " | ") + std::string(effect) + " |\n";
        if (lines_.insert(line).second) text_ += line;
    }
    const std::string& text() const { return text_; }

private:
    std::set<std::string> lines_;
    std::string text_{heading};
};

}  // namespace

std::string laws_page() {
    std::string page = std::string(introduction) + std::string(rounding);
    for (const normal_form::LawInfo& law : normal_form::law_table())
        page += "| " + std::string(law.name) + " | " + std::string(law.bound) + " |\n";
    Table rules, expressions, identities;
    for (const simplify::Rule& row : simplify::all_rules())
        rules.add(row.name, row.law, row.where, simplify::to_string(row.rounding));
    for (const alternatives::EquivalenceRule& row : alternatives::all_equivalence_rules())
        expressions.add(row.name, row.law, row.where, to_string(row.laws));
    for (const normal_form::Identity& row : normal_form::all_identities())
        identities.add(row.name, row.law, row.where, to_string(row.laws));
    page += std::string(simplify_text) + rules.text();
    page += std::string(alternatives_text) + expressions.text();
    return page + std::string(normal_form_text) + identities.text();
}

}  // namespace cairn::test
