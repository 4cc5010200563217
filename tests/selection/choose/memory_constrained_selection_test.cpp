#include "selection/choose/memory_constrained_selection.hpp"

#include "cairn/cairn.hpp"
#include "tests/selection/choose/bucket_set.hpp"
#include "tests/selection/choose/packed_product_fixture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace cairn::selection {
namespace {

/// A product with a weight of its own: its seconds with the weight as stored and packed, and columns of 4 KiB.
struct OwnWeight {
    double stored, packed;
    std::int64_t columns;
};

bool is_packed(const Choice& choice) {
    return choice.candidate.problem->definition == "matmul" && !choice.candidate.kernel->packed_inputs.empty();
}

/// The bytes of a selection: its packed weights, and a page for each product that is not packed.
std::int64_t bytes_of(const Selections& selections) {
    std::int64_t bytes = 0;
    for (const Choice& choice : selections.buckets.at(0).chosen)
        if (choice.candidate.problem->definition == "matmul")
            bytes += is_packed(choice) ? choice.candidate.problem->outputs[0].shape[1].constant() * 4096 : 4096;
    return bytes;
}

class MemoryConstrainedSelectionTest : public PackedProductFixture {
protected:
    void make(std::vector<OwnWeight> of) {
        weights = std::move(of);
        seconds_of.clear();
        for (const OwnWeight& weight : weights) seconds_of.push_back({weight.stored, weight.packed});
        Graph graph("g");
        for (std::size_t r = 0; r < weights.size(); ++r) {
            const std::string name = std::to_string(r);
            const auto rows = static_cast<std::int64_t>(r) + 1;
            graph.output("y" + name, matmul(graph.input("x" + name, DType::f32, {rows, 1024}),
                                            graph.weight("w" + name, DType::f32, {1024, weights[r].columns})));
        }
        programs.clear();
        programs.add(graph, kernels, costs);
    }
    ConstrainedSelection within(std::int64_t limit, const Options& options = {}) {
        bytes_calls = 0;
        const std::function<std::int64_t(const Selections&)> counted = [&](const Selections& s) {
            return ++bytes_calls, bytes_of(s);
        };
        return select_within_memory(programs.buckets(), {limit, counted}, options);
    }
    /// The least cost within the limit over all choices of packed weights, by brute force.
    double least_cost(std::int64_t limit) const {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t packed = 0; packed < std::size_t{1} << weights.size(); ++packed) {
            double cost = 0;
            std::int64_t bytes = 0;
            for (std::size_t r = 0; r < weights.size(); ++r) {
                const bool is_packed = (packed >> r & 1U) != 0;
                cost += is_packed ? weights[r].packed : weights[r].stored;
                bytes += (is_packed ? weights[r].columns : 1) * 4096;
            }
            if (bytes <= limit) least = std::min(least, cost);
        }
        return least;
    }

    std::vector<OwnWeight> weights;
    BucketSet programs;
    int bytes_calls = 0;
};

TEST_F(MemoryConstrainedSelectionTest, TheUnconstrainedSelectionIsUsedIfItFits) {
    make({{2e-3, 1e-3, 100}, {1e-3, 2e-3, 200}});
    const ConstrainedSelection found = within(101 * 4096);
    ASSERT_TRUE(found.selections && found.is_proved);
    EXPECT_NEAR(found.selections->buckets[0].seconds, 2e-3, 1e-6);
    EXPECT_EQ(bytes_calls, 1);
}

TEST_F(MemoryConstrainedSelectionTest, AnUnreachableLimitReportsTheLeastBytes) {
    make({{2e-3, 1e-3, 100}, {1e-3, 2e-3, 200}});
    const ConstrainedSelection found = within(2 * 4096 - 1);
    EXPECT_FALSE(found.selections || found.is_proved);
    EXPECT_EQ(found.least_bytes, 2 * 4096);
    EXPECT_TRUE(within(2 * 4096).selections);
}

// Two small gains for the bytes of a large one, which costs more per byte: no multiplier alone finds them (duality
// gap).
TEST_F(MemoryConstrainedSelectionTest, CoversWithinADualityGapAreFound) {
    make({{11e-3, 1e-3, 100}, {5e-3, 1e-3, 60}, {5e-3, 1e-3, 60}});
    const ConstrainedSelection found = within(121 * 4096);
    ASSERT_TRUE(found.selections && found.is_proved);
    EXPECT_NEAR(found.selections->buckets[0].seconds, 11e-3, 1e-6) << "the large one";
    make({{8e-3, 1e-3, 100}, {5e-3, 1e-3, 60}, {5e-3, 1e-3, 60}});
    EXPECT_NEAR(within(121 * 4096).selections->buckets[0].seconds, 10e-3, 1e-6) << "both small ones";
}

TEST_F(MemoryConstrainedSelectionTest, FindsTheCheapestWithinTheLimit) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> gain(-0.5, 2);
    for (int round = 0; round < 25; ++round) {
        std::vector<OwnWeight> all;
        std::int64_t sum = 0;
        for (int r = 0; r < 9; ++r) {
            // Kept bytes have a price of their own; the gains are far larger.
            const bool is_twin = !all.empty() && random() % 3 == 0;
            const std::int64_t columns = is_twin ? all.back().columns : 8 + static_cast<std::int64_t>(random() % 64);
            all.push_back(is_twin ? all.back() : OwnWeight{3, 3 - gain(random), columns});
            sum += columns;
        }
        make(all);
        double last = 0;
        for (int fifths = 5; fifths >= 0; --fifths) {
            const std::int64_t limit = std::max<std::int64_t>(sum * fifths / 5, 9) * 4096;
            const ConstrainedSelection found = within(limit);
            ASSERT_TRUE(found.selections) << "round " << round << ", " << fifths;
            EXPECT_TRUE(found.is_proved) << "round " << round << ", " << fifths;
            EXPECT_LE(bytes_of(*found.selections), limit);
            const double seconds = found.selections->buckets[0].seconds;
            EXPECT_NEAR(seconds, least_cost(limit), 1e-2) << "round " << round << ", " << fifths;
            EXPECT_GE(seconds, last - 1e-2) << "fewer bytes take no less time";
            EXPECT_LT(bytes_calls, 80);
            last = seconds;
        }
    }
}

TEST_F(MemoryConstrainedSelectionTest, AStopRequestIsObserved) {
    make({{2e-3, 1e-3, 100}});
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(within(0, {.stop = source.get_token()}), Cancelled);
}

}  // namespace
}  // namespace cairn::selection
