#include "selection/cost/priors.hpp"

#include "autotune/measurement/calibration_records.hpp"
#include "graph/types/unit_table.hpp"
#include "selection/cost/cost.hpp"
#include "tests/autotune/database/environments.hpp"
#include "tests/autotune/database/problem.hpp"
#include "tests/autotune/database/took.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cairn::selection {
namespace {

namespace fs = std::filesystem;

using test::environment, test::EnvironmentParts, test::took;

constexpr const char* shape = "matmul | f32[64,64] f32[64,64]! -> f32[64,64]";
constexpr const char* other_shape = "matmul | f32[64,96] f32[96,64]! -> f32[64,64]";

Kernel one_kernel(const char* id, FeatureSet needs = levels::baseline, bool by_memory = false) {
    Kernel made;
    made.id = id;
    made.definition = "matmul";
    made.needs = needs;
    if (by_memory)
        made.cost = [](const Problem&) { return Cost{1, 4096 * 4, 1}; };
    else
        made.cost = [](const Problem&) { return Cost{2e6, 1, 0.8}; };
    return made;
}

const Kernel a = one_kernel("a@1"), b = one_kernel("b@1"), c = one_kernel("c@1", levels::baseline, true),
             narrow_variant = one_kernel("cpu.avx2.mm@1", levels::avx2),
             wide_variant = one_kernel("cpu.avx512.mm@1", levels::avx512);

Calibration figures(double flops, double bandwidth) {
    Calibration made;
    made.unit_flops[index_of(Unit::f32_baseline)] = flops;
    made.unit_flops[index_of(Unit::f32_avx2)] = 2 * flops;
    made.unit_flops[index_of(Unit::f32_avx512)] = 4 * flops;
    made.flops = 4 * flops;
    made.bandwidth = bandwidth;
    made.cache_bandwidth = 2 * bandwidth;
    made.timer_seconds = 1e-8;
    made.barrier_seconds = 1e-7;
    return made;
}

const Calibration other_rates = figures(1e10, 2e10), own_rates = figures(4e10, 1e10);

/// Shipped timings of invented machines, and the cost model of this one.
class PriorsTest : public testing::Test {
protected:
    PriorsTest() {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        folder = fs::path(CAIRN_BINARY_DIR) / "priors_test" / test->name();
        fs::remove_all(folder);
        fs::create_directories(folder);
        kernels.kernels = {a, b, c, narrow_variant, wide_variant};
        source.environment = {environment({.name = "Here", .features = "avx2+avx512"}), ""};
        source.policy.threads = 2;
        source.features = levels::avx512;
        source.machine = nominal_machine(source.features, 2);
    }
    /// Adds the times of a machine to a shipped database of its own: kernel, problem, seconds.
    struct Row {
        const Kernel& kernel;
        const char* problem;
        double seconds;
    };
    void add(const EnvironmentParts& parts, const std::vector<Row>& rows, const Calibration* machine = &other_rates) {
        TimingDb db(folder / (parts.name + parts.features + ".db"));
        const TimingEnvironment theirs{environment(parts), ""};
        TimingPolicy policy = source.policy;
        policy.threads = parts.threads;
        if (machine != nullptr) autotune::record_calibration(db, theirs, policy, {*machine, true});
        for (const Row& row : rows)
            db.record(test::problem(row.problem), row.kernel.id, theirs, policy, took(row.seconds));
    }
    void read() {
        TimingDbOptions options;
        for (const auto& entry : fs::directory_iterator(folder)) options.shipped_timings.push_back(entry.path());
        timings = std::make_unique<TimingDb>("", nullptr, std::move(options));
        source.timings = timings.get();
        source.priors =
            std::make_shared<const Priors>(*timings, source.environment, source.policy, kernels, source.features);
    }
    Estimate expected(const Kernel& kernel, const char* problem = shape) const {
        return estimate(kernel, test::problem(problem), source);
    }
    double seconds(const Kernel& kernel, const char* problem = shape) const {
        return expected(kernel, problem).seconds;
    }

    fs::path folder;
    KernelSet kernels;
    std::unique_ptr<TimingDb> timings;
    CostModel source;
};

const EnvironmentParts theirs{.name = "There", .features = "avx2+avx512"};

TEST_F(PriorsTest, TimesOfOtherMachinesAreExpectedForAnUnknownOne) {
    add(theirs, {{a, shape, 3e-3}, {b, shape, 1e-3}, {c, shape, 2e-3}});
    read();
    EXPECT_DOUBLE_EQ(seconds(a), 3e-3);
    EXPECT_DOUBLE_EQ(seconds(b), 1e-3);
    EXPECT_DOUBLE_EQ(seconds(c), 2e-3);
    EXPECT_EQ(*expected(a).from, "There, avx2+avx512, 2 threads");
    EXPECT_FALSE(expected(a).measured);
    EXPECT_FALSE(source.timings->find(test::problem(shape), a.id, source.environment, source.policy));
    EXPECT_EQ(timings->size(), 0U) << "nothing is stored as if it were of this machine";
}

TEST_F(PriorsTest, ATimeIsScaledByTheLimitingResource) {
    add(theirs, {{a, shape, 3e-3}, {b, shape, 1e-3}, {c, shape, 2e-3}});
    read();
    source.machine = own_rates;
    source.is_calibrated = true;
    EXPECT_NEAR(seconds(a), 3e-3 / 4, 1e-5);
    EXPECT_NEAR(seconds(b), 1e-3 / 4, 1e-5);
    EXPECT_NEAR(seconds(a) / seconds(b), 3, 1e-9) << "the same binds both: the ranking is theirs";
    EXPECT_NEAR(seconds(c), 2e-3 * 2, 4e-4);
}

TEST_F(PriorsTest, UnknownCallsAreEstimatedForTheSameMachine) {
    add(theirs, {{a, shape, 2e6 / 1e10 / 0.8}});
    read();
    const double unknown = seconds(b);
    EXPECT_NEAR(unknown, 2e6 / 1e10 / 0.8, 1e-6) << "the limits are those that the time of the other lies under";
    EXPECT_EQ(expected(b).from, nullptr) << "it is in no shipped timings";
    source.time_scale = 5;
    EXPECT_NEAR(seconds(a), 5 * 2e6 / 1e10 / 0.8, 1e-5);
    EXPECT_NEAR(seconds(b) / seconds(a), 1, 1e-2) << "whatever is fitted is fitted to both";
}

TEST_F(PriorsTest, TimesAtOtherSizesWeighLess) {
    add(theirs, {{a, other_shape, 4 * 2e6 / 1e10 / 0.8}});
    read();
    const double alone = seconds(b);
    EXPECT_GT(seconds(a), 1.1 * alone);
    EXPECT_LT(seconds(a), 2 * alone);
    EXPECT_EQ(*expected(a).from, "There, avx2+avx512, 2 threads, at other sizes");
}

TEST_F(PriorsTest, ManyOwnTimesAtOtherSizesWeighMore) {
    add(theirs, {{a, shape, 1e-3}});
    read();
    auto own = std::make_shared<TimingTransfer>(), all = std::make_shared<TimingTransfer>();
    source.timing_transfer = own;
    source.expected = all;
    const double before = seconds(a), roofline = expected_roofline_seconds(a, test::problem(shape), source);
    double last = before;
    for (int i = 0; i < 3; ++i) {
        own->add(a, 20e-3, roofline);
        all->add(a, 20e-3, roofline);
        EXPECT_GT(seconds(a), last);
        last = seconds(a);
    }
    EXPECT_DOUBLE_EQ(before, 1e-3);
    EXPECT_LT(last, 20e-3);
}

TEST_F(PriorsTest, TheIntervalContainsThatWithoutPriors) {
    const Estimate alone = expected(a);
    for (const double seconds_of_other : {1e-9, 1e-4, 10.}) {
        fs::remove(folder / "Thereavx512.db");
        add(theirs, {{a, shape, seconds_of_other}});
        read();
        const Estimate with = expected(a);
        EXPECT_LE(with.low, alone.low);
        EXPECT_GE(with.high, alone.high);
        EXPECT_LE(with.low, with.seconds);
        EXPECT_GE(with.high, with.seconds);
        source.priors = nullptr;
    }
}

TEST_F(PriorsTest, TheNearestMachineWithTheCallIsUsed) {
    add({.name = "Far", .features = "avx2+avx512", .threads = 16}, {{a, shape, 9e-3}, {b, shape, 8e-3}});
    add({.vendor = "Other", .name = "Nearer", .features = "avx2+avx512"}, {{a, shape, 2e-3}});
    read();
    EXPECT_EQ(*expected(a).from, "Nearer, avx2+avx512, 2 threads");
    EXPECT_EQ(*expected(b).from, "Far, avx2+avx512, 16 threads");
    EXPECT_DOUBLE_EQ(seconds(a), 2e-3);
    EXPECT_EQ(source.priors->environments().size(), 2U);
}

TEST_F(PriorsTest, ALowerVariantIsNotFasterThanAnUntimedHigherOne) {
    add({.name = "Old", .features = "avx2"}, {{narrow_variant, shape, 2e-5}});
    read();
    EXPECT_DOUBLE_EQ(seconds(narrow_variant), 2e-5) << "far below what its limits say";
    EXPECT_LT(seconds(wide_variant), 2e-5);
    ASSERT_NE(expected(wide_variant).from, nullptr);
    EXPECT_EQ(*expected(wide_variant).from, "Old, avx2, 2 threads");
    add(theirs, {{narrow_variant, shape, 1e-3}, {wide_variant, shape, 2e-3}});
    read();
    EXPECT_LT(seconds(narrow_variant), seconds(wide_variant)) << "unless times of that level say so";
}

TEST_F(PriorsTest, ALowerVariantIsNotFasterThanASlowHigherOne) {
    add(theirs, {{wide_variant, shape, 5e-3}});
    read();
    EXPECT_GT(seconds(narrow_variant), 5e-3);
}

TEST_F(PriorsTest, ACensoredKernelIsExpectedToBeSlower) {
    TimingDb db(folder / "slow.db");
    Timing slow;
    slow.status = TimingStatus::censored;
    slow.bound = 7e-3;
    const TimingEnvironment environment{test::environment(theirs), ""};
    autotune::record_calibration(db, environment, source.policy, {other_rates, true});
    db.record(test::problem(shape), a.id, environment, source.policy, slow);
    slow.bound = 1e-9;
    db.record(test::problem(shape), b.id, environment, source.policy, slow);
    slow.status = TimingStatus::failed;
    db.record(test::problem(other_shape), a.id, environment, source.policy, slow);
    read();
    EXPECT_DOUBLE_EQ(seconds(a), 7e-3);
    EXPECT_NEAR(seconds(b), 2e6 / 1e10 / 0.8, 1e-6) << "slower than next to nothing";
    EXPECT_EQ(expected(a, other_shape).from, nullptr) << "that it failed there says nothing";
}

TEST_F(PriorsTest, UnparsableEnvironmentsAreIgnored) {
    TimingDb db(folder / "invented.db");
    db.record(test::problem(shape), a.id, {"invented", ""}, source.policy, took(1));
    db.record(test::problem(shape), b.id, source.environment, source.policy, took(2));
    read();
    EXPECT_TRUE(source.priors->empty());
    EXPECT_TRUE(expected(b).measured) << "shipped timings may be of this machine too";
    EXPECT_EQ(expected(b).from, nullptr);
}

TEST_F(PriorsTest, ErrorsApplyToAllMachines) {
    const TimingEnvironment environment{test::environment(theirs), ""};
    add(theirs, {{b, shape, 1e-3}});
    TimingDb(folder / "Thereavx512.db").record_error(test::problem(shape), a.id, environment, {2e-3, 0, 1e-3, "", ""});
    TimingDb own(folder / "own.db");
    own.record_error(test::problem(other_shape), a.id, source.environment, {5e-4, 0, 1e-3, "", ""});
    read();
    EXPECT_DOUBLE_EQ(measured_error(test::problem(shape), a, source)->relative, 2e-3);
    EXPECT_DOUBLE_EQ(measured_error(test::problem(other_shape), a, source)->relative, 5e-4);
    EXPECT_FALSE(measured_error(test::problem(shape), b, source));
    EXPECT_TRUE(find_error_violation(test::problem(other_shape), a, source))
        << "there it exceeded the error it states here";
    EXPECT_FALSE(find_error_violation(test::problem(shape), b, source));
}

}  // namespace
}  // namespace cairn::selection
