#include "selection/choose/constrained_selection.hpp"

#include "cairn/cairn.hpp"
#include "tests/autotune/database/took.hpp"
#include "tests/selection/choose/bucket_set.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace cairn::selection {
namespace {

/// A product with a weight of its own, with an exact kernel and an inexact one.
struct ConstrainedProduct {
    double exact, fast;  ///< seconds
    double error;        ///< of the fast kernel
    std::int64_t columns = 0;
};

/// An output of a chain of products, and the largest combined error up to there.
struct Seen {
    std::size_t behind;  ///< number of products up to there
    double limit;
};

struct Chain {
    std::vector<ConstrainedProduct> products;
    std::vector<Seen> seen;
};

Refusal accepts_all(const Problem&) { return {}; }
void nothing(const Args&, Team&) {}

// Products of eight columns are equal; each other one has its own number of columns.
constexpr std::int64_t alike = 8, first_columns = 16;
constexpr double error_of_alike = 1e-3;
std::vector<double> errors_by_columns;
double stated_error(const Problem& problem) {
    const std::int64_t columns = problem.outputs[0].shape[1].constant();
    return columns == alike ? error_of_alike : errors_by_columns.at(static_cast<std::size_t>(columns - first_columns));
}

class ConstrainedSelectionTest : public testing::Test {
protected:
    ConstrainedSelectionTest() {
        std::erase_if(kernels.kernels, [](const Kernel& kernel) { return kernel.definition == "matmul"; });
        for (const bool is_fast : {true, false}) {
            Kernel kernel;
            kernel.id = is_fast ? "test.fast@1" : "test.exact@1";
            kernel.definition = "matmul";
            kernel.accepts = accepts_all;
            kernel.run = nothing;
            if (is_fast) kernel.error = stated_error;
            kernels.kernels.push_back(kernel);
        }
        costs.machine = nominal_machine(levels::baseline, 1);
        costs.timings = &timings;
        costs.tolerance = 1;
    }

    /// Selects all chains together, each as a bucket.
    Selections selections(std::vector<Chain> chains, const Options& options = {}) {
        BucketSet programs;
        errors_by_columns.clear();
        for (Chain& chain : chains) {
            Graph graph("g");
            Tensor value = graph.input("x", DType::f32, {1, 8});
            for (std::size_t r = 0; r < chain.products.size(); ++r) {
                ConstrainedProduct& product = chain.products[r];
                if (product.columns == 0) {
                    product.columns = first_columns + static_cast<std::int64_t>(errors_by_columns.size());
                    errors_by_columns.push_back(product.error);
                }
                value =
                    matmul(value, graph.weight("w" + std::to_string(&chain - chains.data()) + "_" + std::to_string(r),
                                               DType::f32, {value.shape()[1], product.columns}));
                store(value, product);
                for (const Seen& seen : chain.seen)
                    if (seen.behind == r) graph.output("y" + std::to_string(r), value);
            }
            std::vector<OutputTolerance> own;
            for (const Seen& seen : chain.seen)
                own.push_back({"y" + std::to_string(seen.behind),
                               seen.limit > 0 ? Tolerance::relative(seen.limit) : Tolerance::exact()});
            programs.add(graph, kernels, costs, 1, {}, {},
                         accuracy::error_budgets_of(*graph.data(), Tolerance::exact(), own));
        }
        return select(programs.buckets(), options);
    }

    static std::vector<bool> is_fast(const Selection& selection) {
        std::vector<bool> fast;
        for (const Choice& choice : selection.chosen)
            if (choice.candidate.kernel->definition == "matmul")
                fast.push_back(choice.candidate.kernel->error != nullptr);
        return fast;
    }
    static auto count_of_fast(const Selection& selection) {
        const std::vector<bool> fast = is_fast(selection);
        return std::count(fast.begin(), fast.end(), true);
    }

    /// The least seconds within the limits over all choices of fast kernels, by brute force.
    static double least_seconds(const Chain& chain) {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t fast = 0; fast < std::size_t{1} << chain.products.size(); ++fast) {
            double seconds = 0, squares = 0;
            bool fits = true;
            for (std::size_t r = 0; r < chain.products.size(); ++r) {
                const bool is_fast = (fast >> r & 1U) != 0;
                seconds += is_fast ? chain.products[r].fast : chain.products[r].exact;
                squares += is_fast ? chain.products[r].error * chain.products[r].error : 0;
                for (const Seen& seen : chain.seen)
                    fits = fits && (seen.behind != r || std::sqrt(squares) <= seen.limit);
            }
            if (fits) least = std::min(least, seconds);
        }
        return least;
    }

    KernelSet kernels = cpu_kernels();
    TimingDb timings{{}};
    CostModel costs;

private:
    void store(const Tensor& value, const ConstrainedProduct& product) {
        Problem problem;
        problem.definition = "matmul";
        const ir::Node& node = value.graph()->node(value.id());
        for (const ir::NodeId operand : node.operands) {
            const ir::Node& made = value.graph()->node(operand);
            problem.inputs.push_back(TensorDesc::dense(made.dtype, made.shape));
            problem.inputs.back().bound = made.op == ir::Op::weight;
        }
        problem.outputs.push_back(TensorDesc::dense(node.dtype, node.shape));
        for (const bool is_fast : {true, false}) {
            const Timing timing = test::took(is_fast ? product.fast : product.exact);
            timings.record(problem, is_fast ? "test.fast@1" : "test.exact@1", costs.environment, costs.policy, timing);
        }
    }
};

TEST_F(ConstrainedSelectionTest, TheFastestIsSelectedIfItFits) {
    const Selections found = selections({{{{2, 1, 1e-3}, {2, 1, 1e-3}}, {{1, 2e-3}}}});
    EXPECT_EQ(found.buckets[0].seconds, 2);
    EXPECT_TRUE(found.exact);
    ASSERT_EQ(found.buckets[0].errors.size(), 1U);
    EXPECT_EQ(found.buckets[0].errors[0].bound, "output \"y1\"");
    EXPECT_DOUBLE_EQ(found.buckets[0].errors[0].error, std::sqrt(2) * 1e-3);
    EXPECT_EQ(found.buckets[0].errors[0].limit, 2e-3);
}

TEST_F(ConstrainedSelectionTest, SquaresOfErrorsThatContributeAddUp) {
    const Selections found = selections({{{{2, 1, 1e-3}, {3, 1, 1e-3}}, {{1, 1.4e-3}}}});
    EXPECT_EQ(is_fast(found.buckets[0]), (std::vector<bool>{false, true}));
    EXPECT_EQ(found.buckets[0].errors[0].error, 1e-3);
}

TEST_F(ConstrainedSelectionTest, NothingInexactContributesToAnExactOutput) {
    Chain chain;
    chain.products.assign(3, {2, 1, 1e-3});
    chain.seen = {{1, 0.0}, {2, 1.0}};
    const Selections found = selections({chain});
    EXPECT_EQ(is_fast(found.buckets[0]), (std::vector<bool>{false, false, true}));
}

// Two small gains for the error of a large one, which gains more per squared error: no multiplier alone finds them
// (duality gap).
TEST_F(ConstrainedSelectionTest, CoversWithinADualityGapAreFound) {
    const std::vector<Seen> seen{{2, 1.14e-2}};
    Selections found = selections({{{{8, 1, 1e-2}, {5, 1, 7.75e-3}, {5, 1, 7.75e-3}}, seen}});
    EXPECT_EQ(found.buckets[0].seconds, 10) << "both small ones";
    found = selections({{{{11, 1, 1e-2}, {5, 1, 7.75e-3}, {5, 1, 7.75e-3}}, seen}});
    EXPECT_EQ(found.buckets[0].seconds, 11) << "the large one";
    EXPECT_TRUE(found.exact);
}

// Equal layers have equal gains per unit: without tie-breaking all of them or none would be taken.
TEST_F(ConstrainedSelectionTest, AsManyEqualLayersAreInexactAsFit) {
    Chain chain;
    for (int layer = 0; layer < 48; ++layer) chain.products.push_back({2, 1, error_of_alike, alike});
    for (const int fitting : {1, 10, 33, 47}) {
        chain.seen = {{47, std::sqrt(fitting + 0.4) * error_of_alike}};
        const Selections found = selections({chain});
        EXPECT_EQ(count_of_fast(found.buckets[0]), fitting);
        EXPECT_TRUE(found.exact) << fitting;
    }
}

TEST_F(ConstrainedSelectionTest, FindsTheFastestWithinTheBudget) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> seconds(1, 3), gain(-0.5, 1), error(1e-4, 1e-2);
    for (int round = 0; round < 30; ++round) {
        std::vector<Chain> chains(1 + round % 3);
        for (Chain& chain : chains) {
            for (int r = 0; r < 8; ++r) {
                const double exact = seconds(random);
                chain.products.push_back({exact, exact - gain(random), error(random)});
            }
            chain.seen = {{3, error(random)}, {7, 2 * error(random)}};
        }
        const Selections found = selections(chains);
        EXPECT_TRUE(found.exact) << round;
        for (std::size_t b = 0; b < chains.size(); ++b) {
            EXPECT_NEAR(found.buckets[b].seconds, least_seconds(chains[b]), 1e-9) << round << ", bucket " << b;
            for (const ErrorBudgetUse& bound : found.buckets[b].errors)
                EXPECT_LE(bound.error, bound.limit * (1 + 1e-9));
        }
    }
}

// A looser tolerance admits all that a tighter one admits: with the same stored times it is never slower.
TEST_F(ConstrainedSelectionTest, ALooserToleranceIsNeverSlower) {
    std::mt19937 random(6);
    std::uniform_real_distribution<double> seconds(1, 3), error(1e-4, 1e-2);
    for (int round = 0; round < 10; ++round) {
        Chain chain;
        for (int r = 0; r < 8; ++r) chain.products.push_back({seconds(random), seconds(random), error(random)});
        double last = std::numeric_limits<double>::infinity(), sum = 0;
        for (const ConstrainedProduct& product : chain.products) sum += product.error;
        for (const double limit : {0.0, 1e-4, 1e-3, 5e-3, 1e-2, 2e-2, sum * (1 + 1e-9)}) {
            chain.seen = {{7, limit}};
            const double now = selections({chain}).buckets[0].seconds;
            EXPECT_LE(now, last) << round << ", " << limit;
            last = now;
        }
        double fastest = 0;
        for (const ConstrainedProduct& product : chain.products) fastest += std::min(product.exact, product.fast);
        EXPECT_NEAR(last, fastest, 1e-9);
    }
}

TEST_F(ConstrainedSelectionTest, AnUnreachableToleranceIsReportedWithTheLeastError) {
    std::erase_if(kernels.kernels, [](const Kernel& kernel) { return kernel.id == "test.exact@1"; });
    try {
        selections({{{{2, 1, 1e-3}, {2, 1, 2e-3}}, {{1, 2.2e-3}}}});
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::unsupported);
        EXPECT_NE(std::string(error.what())
                      .find("the combined error of output \"y1\" is at most 0.0022: the least is "
                            "0.002236"),
                  std::string::npos)
            << error.what();
    }
}

TEST_F(ConstrainedSelectionTest, TinyAndHugeErrorsHaveSquares) {
    for (const double error : {1e-200, 1e200}) {
        const Selections found = selections({{{{2, 1, error}, {2, 1, error}}, {{1, 0.5}}}});
        EXPECT_EQ(count_of_fast(found.buckets[0]), error < 1 ? 2 : 0);
    }
}

TEST_F(ConstrainedSelectionTest, WithoutASearchEveryKernelIsExact) {
    const Selections found = selections({{{{2, 1, 1e-3}}, {{0, 1}}}}, {.search = false});
    EXPECT_EQ(is_fast(found.buckets[0]), (std::vector<bool>{false}));
}

TEST_F(ConstrainedSelectionTest, AStopRequestIsObserved) {
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(selections({{{{2, 1, 1e-3}}, {{0, 1e-4}}}}, {.stop = source.get_token()}), Cancelled);
}

}  // namespace
}  // namespace cairn::selection
