#include "fusion/solve_numbers.hpp"

#include "cairn/composites.hpp"
#include "rewrite/normal_form/normal_forms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace cairn::test {
namespace {

using fusion::CoefficientPair;
using Numbers = std::span<const double>;

/// Pairs of the values of functions for given numbers and for `wanted`.
fusion::PairsOf pairs_of(std::vector<std::function<double(Numbers)>> coefficients, std::vector<double> wanted) {
    return [=](Numbers numbers) {
        std::vector<CoefficientPair> pairs;
        for (const auto& coefficient : coefficients) pairs.push_back({coefficient(numbers), coefficient(wanted)});
        return std::optional(pairs);
    };
}

void expect_solved(const std::vector<std::function<double(Numbers)>>& coefficients, const std::vector<double>& wanted) {
    const auto solved =
        fusion::solve_numbers(pairs_of(coefficients, wanted), std::vector<double>(wanted.size(), 0x1p-7));
    ASSERT_EQ(solved.size(), 1U);
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(solved[0][i], wanted[i], 1e-9 * std::fabs(wanted[i]));
}

TEST(SolveNumbers, ByTheLawOfACoefficient) {
    for (const double s : {0.25, 3.0, 1e-6, 1e6}) {
        expect_solved({[](Numbers) { return 7.0; }, [](Numbers n) { return -2 * n[0]; }}, {s});
        expect_solved({[](Numbers n) { return 1 / (n[0] * n[0]); }}, {s});
    }
    for (const double s : {-5.0, 0.5, 20.0}) {
        expect_solved({[](Numbers n) { return 3 * n[0] - 1; }}, {s});
        expect_solved({[](Numbers n) { return std::pow(n[0], 3); }}, {s});
        expect_solved({[](Numbers n) { return -std::exp(2 * n[0]); }}, {s});
    }
    expect_solved({[](Numbers n) { return 1 + std::log(n[0]); }}, {12});
}

TEST(SolveNumbers, InSequence) {
    expect_solved({[](Numbers n) { return n[0] * n[1]; }, [](Numbers n) { return n[1]; }}, {3, -0.2});
    expect_solved({[](Numbers n) { return n[0] + n[1] * n[2]; }, [](Numbers n) { return n[1] / n[2]; },
                   [](Numbers n) { return n[2]; }},
                  {3, -2, 8});
}

TEST(SolveNumbers, OfNumbersThatActTogetherTheFirstIsOne) {
    const auto solved = fusion::solve_numbers(pairs_of({[](Numbers n) { return n[0] * n[1]; }}, {3, 5}), {0.1, 0.1});
    ASSERT_EQ(solved.size(), 1U);
    EXPECT_EQ(solved[0][0], 1);
    EXPECT_NEAR(solved[0][1], 15, 1e-9);
}

TEST(SolveNumbers, ReturnsSeveralIfCoefficientsDisagree) {
    const auto solved = fusion::solve_numbers(
        [](Numbers n) -> std::optional<std::vector<CoefficientPair>> {
            return std::vector<CoefficientPair>{{n[0], 2}, {1 / n[0], 2}, {3 * n[0], 6}};
        },
        {0.1});
    ASSERT_EQ(solved.size(), 2U);
    EXPECT_NEAR(solved[0][0], 2, 1e-9);
    EXPECT_NEAR(solved[1][0], 0.5, 1e-9);
}

TEST(SolveNumbers, ReturnsNoneIfFormsDiffer) {
    EXPECT_TRUE(fusion::solve_numbers(
                    [](Numbers) -> std::optional<std::vector<CoefficientPair>> { return std::nullopt; }, {0.1})
                    .empty());
}

/// The pairs between the forms of two functions of one input.
std::optional<std::vector<CoefficientPair>> pairs_between(const std::function<Tensor(const Tensor&)>& made,
                                                          const std::function<Tensor(const Tensor&)>& wanted) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4}), a = made(x), b = wanted(x);
    const normal_form::NormalForms forms(*g.data());
    return fusion::coefficient_pairs(forms.normalizer(), forms[a.id()], forms[b.id()]);
}

TEST(SolveNumbers, PairsDoNotDependOnWhichPartIsScaledToOne) {
    const auto pairs = pairs_between([](const Tensor& x) { return abs(tanh(x) * 4 + sin(x) * 2); },
                                     [](const Tensor& x) { return abs(tanh(x) + sin(x) * 3); });
    ASSERT_TRUE(pairs);
    const auto has = [&](double made, double wanted) {
        return std::any_of(pairs->begin(), pairs->end(), [&](const CoefficientPair& pair) {
            return std::fabs(pair.made - made) < 1e-12 && std::fabs(pair.wanted - wanted) < 1e-12;
        });
    };
    EXPECT_TRUE((has(0.5, 3) && has(4, 1)) || (has(2, 1. / 3) && has(2, 3)));
}

TEST(SolveNumbers, OtherFunctionsHaveNoPairs) {
    EXPECT_FALSE(pairs_between([](const Tensor& x) { return abs(x); }, [](const Tensor& x) { return abs(sin(x)); }));
    EXPECT_FALSE(pairs_between([](const Tensor& x) { return abs(x); }, [](const Tensor& x) { return abs(x) + 1; }));
}

}  // namespace
}  // namespace cairn::test
