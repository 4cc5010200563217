#include "selection/search/explore.hpp"
#include "selection/search/k_best.hpp"
#include "selection/search/numbering.hpp"
#include "selection/search/scc.hpp"
#include "tests/selection/search/random_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

/// Checks all queries on sets of paths against brute force.
namespace cairn::search::test {
namespace {

constexpr int problems = 5000;
constexpr std::size_t max_paths = 250;  // maximum number of paths of a problem

/// Up to 14 alternatives, or that many in each of some equal layers: several roots, cycles, ties, costs of 0, goals
/// that are only provided.
RandomProblemOptions small_make(std::uint64_t seed) {
    RandomProblemOptions make;
    make.goals = 3 + static_cast<int>(seed % 5);
    make.alternatives = 11 + static_cast<int>(seed % 4);
    make.provides = seed % 4 != 0;
    make.only_along = seed % 5 == 0;
    make.ties = seed % 3 == 0;
    make.free = seed % 8 == 1;
    if (seed % 4 != 3) return make;
    make.layers = 3 + static_cast<int>(seed / 8 % 2);
    make.goals = 5;
    make.alternatives = 9;
    make.provides = seed % 8 == 3;
    make.only_along = false;
    return make;
}

struct Seen {
    int without_path = 0, unreachable = 0, with_cycles = 0, cut = 0, shared = 0, many = 0, roots = 0, tied = 0;
};

Exploration all_of(const SearchProblem& problem, bool share) {
    Options options;
    options.only_cheapest = false;
    options.share_regions = share;
    return explore(problem, options);
}

/// Numbers and paths correspond one to one.
void expect_numbers(const Exploration& found, const std::vector<Path>& paths) {
    const Numbering numbering(found.dag, found.paths);
    ASSERT_EQ(numbering.count(), paths.size());
    std::vector<Path> image;
    for (Natural number; number < numbering.count(); number += 1) {
        image.push_back(numbering.unrank(number).value());
        ASSERT_EQ(numbering.rank(image.back().choices), number);
    }
    std::sort(image.begin(), image.end(), comes_first);
    EXPECT_EQ(image, paths);
    EXPECT_EQ(numbering.unrank(numbering.count()), std::nullopt);
}

/// Paths with one choice more, one less, or another one.
void expect_no_numbers(const SearchProblem& problem, const Exploration& found, const std::vector<Path>& paths,
                       std::mt19937_64& random) {
    const Numbering numbering(found.dag, found.paths);
    std::set<std::vector<int>> known;
    for (const Path& path : paths) known.insert(path.choices);
    for (int i = 0; i < 20; ++i) {
        std::set<int> choices;
        if (!paths.empty() && i % 2 == 0) {
            const auto& some = paths[random() % paths.size()].choices;
            choices.insert(some.begin(), some.end());
        }
        for (int changes = 1 + i % 3; changes > 0; --changes)
            if (const int choice = static_cast<int>(random() % static_cast<std::uint64_t>(problem.alternatives() + 1));
                choices.erase(choice) == 0)
                choices.insert(choice);
        const std::vector<int> tried(choices.begin(), choices.end());
        ASSERT_EQ(numbering.rank(tried).has_value(), known.contains(tried));
    }
}

void expect_order(const Exploration& found, const std::vector<Path>& paths) {
    KBestPaths best(found.dag, found.paths);
    std::vector<Path> ordered;
    while (const auto cost = best.next()) {
        ordered.push_back(best.path(best.found() - 1));
        ASSERT_EQ(ordered.back().cost, *cost);
        ASSERT_LE(ordered.size(), paths.size());
    }
    EXPECT_EQ(ordered, paths);
    EXPECT_EQ(best.next(), std::nullopt);
    // From the most expensive on, with all ties.
    const PathDag negated = found.dag.negated();
    KBestPaths dearest(negated, found.paths);
    std::set<std::vector<int>> met;
    for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
        ASSERT_EQ(dearest.next(), -path->cost);
        met.insert(dearest.path(dearest.found() - 1).choices);
    }
    EXPECT_EQ(dearest.next(), std::nullopt);
    EXPECT_EQ(met.size(), paths.size());
}

void check_paths(const SearchProblem& problem, const std::vector<Path>& paths, Seen& seen, std::mt19937_64& random) {
    std::set<int> roots(problem.roots().begin(), problem.roots().end());
    seen.roots += roots.size() > 1;
    seen.without_path += paths.empty();
    seen.many += paths.size() > 50;
    for (std::size_t i = 1; i < paths.size(); ++i)
        if (paths[i].cost == paths[i - 1].cost) {
            ++seen.tied;
            break;
        }
    const std::vector<int> sccs = scc_of_goals(problem);
    seen.with_cycles += std::any_of(sccs.begin(), sccs.end(), [](int scc) { return scc >= 0; });
    for (const bool share : {true, false}) {
        const Exploration found = all_of(problem, share);
        seen.cut += share && found.regions > 1;
        seen.shared += found.regions_solved < found.regions;
        seen.unreachable += share && found.status == Status::unreachable;
        ASSERT_EQ(found.status == Status::found, !paths.empty());
        ASSERT_EQ(fault(found.dag, found.paths), "");
        expect_numbers(found, paths);
        expect_no_numbers(problem, found, paths, random);
        expect_order(found, paths);
    }
}

TEST(Random, CountOrderAndNumbersMatchBruteForce) {
    Seen seen;
    std::mt19937_64 random(1);
    int checked = 0;
    for (std::uint64_t seed = 100'000; checked < problems; ++seed) {
        const SearchProblem problem = random_problem(seed, small_make(seed));
        ASSERT_EQ(fault(problem), "");
        const std::vector<Path> paths = all_paths(problem);
        if (paths.size() > max_paths) continue;
        ++checked;
        SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + to_string(problem));
        check_paths(problem, paths, seen, random);
        if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(seen.without_path, 300);
    EXPECT_GT(seen.unreachable, 100);
    EXPECT_GT(seen.without_path, seen.unreachable + 30) << "goals that exclude each other";
    EXPECT_GT(seen.with_cycles, 300);
    EXPECT_GT(seen.cut, 200);
    EXPECT_GT(seen.shared, 30);
    EXPECT_GT(seen.many, 30);
    EXPECT_GT(seen.roots, 1000);
    EXPECT_GT(seen.tied, 500);
}

TEST(Random, SamplesAreUniform) {
    // Chi-square of 40 draws for each path, of each problem with some paths; and their sum over all problems.
    std::mt19937_64 random(20260101);
    double sum = 0, freedom = 0;
    int tried = 0;
    for (std::uint64_t seed = 200'000; tried < 200; ++seed) {
        const SearchProblem problem = random_problem(seed, small_make(seed));
        const std::vector<Path> paths = all_paths(problem);
        if (paths.size() < 3 || paths.size() > 60) continue;
        ++tried;
        const Exploration found = all_of(problem, true);
        const Numbering numbering(found.dag, found.paths);
        std::map<std::vector<int>, int> drawn;
        for (const Path& path : paths) drawn[path.choices] = 0;
        for (std::size_t i = 0; i < 40 * paths.size(); ++i) {
            const Path path = numbering.sample(std::ref(random)).value();
            ASSERT_TRUE(drawn.contains(path.choices));
            ++drawn[path.choices];
        }
        double chi_square = 0;
        for (const auto& [choices, times] : drawn) chi_square += (times - 40.0) * (times - 40.0) / 40.0;
        const double degrees = static_cast<double>(paths.size()) - 1;
        EXPECT_LT(chi_square, degrees + 6 * std::sqrt(2 * degrees) + 8) << "seed " << seed;
        sum += chi_square;
        freedom += degrees;
    }
    // Approximately normal for this many degrees of freedom; one in a thousand deviates by more than 3.3 sigma.
    EXPECT_NEAR(sum, freedom, 3.3 * std::sqrt(2 * freedom));
}

TEST(Random, TheOrderDoesNotDependOnTheConstructionOfASet) {
    // Costs whose sums are not exact as doubles, each used repeatedly: the order of the same paths, built from shared
    // regions and from one region.
    int shared = 0, compared = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        RandomProblemOptions make;
        make.goals = 5;
        make.alternatives = 10;
        make.provides = seed % 2 == 0;
        make.layers = 2 + static_cast<int>(seed % 7);
        SearchProblem problem = random_problem(seed, make);
        std::mt19937_64 random(seed);
        for (int choice = 0; choice < problem.alternatives(); ++choice)
            problem.set_cost(choice, 0.1 * std::round(problem.cost(choice)));
        const Exploration one = all_of(problem, true), other = all_of(problem, false);
        ASSERT_EQ(one.status, other.status);
        if (one.status != Status::found) continue;
        shared += one.regions_solved < one.regions;
        KBestPaths ones(one.dag, one.paths), others(other.dag, other.paths);
        for (int i = 0; i < 300; ++i, ++compared) {
            const auto cost = ones.next();
            ASSERT_EQ(cost, others.next()) << "seed " << seed << ", path " << i;
            if (!cost) break;
            ASSERT_EQ(ones.path(static_cast<std::size_t>(i)), others.path(static_cast<std::size_t>(i)))
                << "seed " << seed << ", path " << i;
        }
    }
    EXPECT_GT(shared, 50);
    EXPECT_GT(compared, 10'000);
}

}  // namespace
}  // namespace cairn::search::test
