#include "selection/cost/cost.hpp"

#include "graph/types/unit_table.hpp"
#include "tests/autotune/database/took.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>

namespace cairn::selection {
namespace {

constexpr double overhead = 3e-8;

Problem problem(const std::string& text) {
    auto symbols = Symbols::create();
    return parse_problem(text, *symbols);
}

Kernel kernel(Cost (*cost)(const Problem&), FeatureSet needs = levels::baseline) {
    Kernel result;
    result.id = "test.k@1";
    result.needs = needs;
    result.cost = cost;
    return result;
}

/// 1e9 operations and 1e9 bytes a second, no barrier.
CostModel source() {
    CostModel result;
    result.machine.flops = 1e9;
    result.machine.bandwidth = 1e9;
    return result;
}

double seconds_of(const std::string& text) { return estimate(kernel(nullptr), problem(text), source()).seconds; }

using Sizes = std::vector<std::vector<std::int64_t>>;

TEST(Cost, ARangeIsRepresentedByGeometricMeansOfItsThirds) {
    auto symbols = Symbols::create();
    symbols->add("one", 1, 1);
    symbols->add("wide", 1, 1024);
    symbols->add("none", 0, 0);
    symbols->add("from_none", 0, 100);
    symbols->add("narrow", 63, 64);
    EXPECT_EQ(representative_sizes(*symbols), (Sizes{{1, 3, 0, 2, 63}, {1, 32, 0, 10, 63}, {1, 323, 0, 46, 64}}));
    EXPECT_EQ(representative_sizes(*Symbols::create()), Sizes{{}});
}

TEST(Cost, RangesThatAtMostDoubleHaveOneRepresentative) {
    auto symbols = Symbols::create();
    symbols->add("narrow", 64, 128);
    symbols->add("one", 0, 1);
    EXPECT_EQ(representative_sizes(*symbols), (Sizes{{91, 1}}));
    symbols->add("wide", 64, 130);
    EXPECT_EQ(representative_sizes(*symbols).size(), 3U);
}

TEST(Cost, AProblemHasTheMeanCostOfItsSizes) {
    auto symbols = Symbols::create();
    symbols->add("N", 1, 64);
    const Problem symbolic = parse_problem("exp | f32[N,250] -> f32[N,250]", *symbols);
    const std::vector<SizedProblem> sized = sized_problems_at(symbolic, representative_sizes(*symbols));
    ASSERT_EQ(sized.size(), 3U);
    const Estimate mean = mean_estimate(kernel(nullptr), sized, source());
    EXPECT_DOUBLE_EQ(mean.seconds, (2 + 8 + 32) * 2e-6 / 3 + overhead);
    EXPECT_DOUBLE_EQ(mean.high, 4 * mean.seconds);
    EXPECT_FALSE(mean.measured);
    const Problem fixed = parse_problem("exp | f32[7] -> f32[7]", *symbols);
    EXPECT_EQ(sized_problems_at(fixed, representative_sizes(*symbols)).size(), 1U) << "equal problems stand once";
}

TEST(Cost, WorkIsArithmeticOrMemoryWhicheverIsLonger) {
    const Estimate by_flops = estimate(kernel([](const Problem&) { return Cost{1e6, 1e3, 0.5}; }), {}, source());
    EXPECT_DOUBLE_EQ(by_flops.seconds, 2e-3 + overhead);
    EXPECT_DOUBLE_EQ(by_flops.low, 1e-3 + overhead);  // no kernel is quicker than the peak
    EXPECT_DOUBLE_EQ(by_flops.high, 4 * by_flops.seconds);
    EXPECT_FALSE(by_flops.measured);
    const Estimate by_bytes = estimate(kernel([](const Problem&) { return Cost{1e3, 1e6, 0.5}; }), {}, source());
    EXPECT_DOUBLE_EQ(by_bytes.seconds, 1e-3 + overhead);
    EXPECT_DOUBLE_EQ(by_bytes.low, 0.25e-3 + overhead);
}

TEST(Cost, NoWorkStillCostsACall) {
    CostModel threads = source();
    threads.machine.barrier_seconds = 1e-6;
    EXPECT_DOUBLE_EQ(estimate(kernel([](const Problem&) {
                                  return Cost{0, 0, 1};
                              }),
                              {}, threads)
                         .seconds,
                     overhead + 1e-6);
    EXPECT_DOUBLE_EQ(seconds_of("exp | f32[0,7] -> f32[0,7]"), overhead);
}

TEST(Cost, AKernelOfALowerLevelHasThePeakOfThatLevel) {
    const auto work = [](const Problem&) { return Cost{1e6, 0, 1}; };
    CostModel wide = source();
    wide.features = levels::avx2;
    EXPECT_DOUBLE_EQ(estimate(kernel(work, levels::baseline), {}, wide).seconds, 4e-3 + overhead);
    EXPECT_DOUBLE_EQ(estimate(kernel(work, levels::avx2), {}, wide).seconds, 1e-3 + overhead);
    EXPECT_DOUBLE_EQ(estimate(kernel(work, levels::avx512), {}, wide).seconds, 1e-3 + overhead)
        << "never above the peak";
    const auto moved = [](const Problem&) { return Cost{0, 1e6, 1}; };
    EXPECT_DOUBLE_EQ(estimate(kernel(moved, levels::baseline), {}, wide).seconds, 1e-3 + overhead);
    Kernel low = kernel(moved, levels::baseline), high = kernel(moved, levels::avx2);
    low.id = "test.baseline.k@1";
    high.id = "test.avx2.k@1";
    EXPECT_DOUBLE_EQ(estimate(low, {}, wide).seconds, 1.02e-3 + overhead)
        << "of twins that memory bounds the higher one is tried";
    EXPECT_DOUBLE_EQ(estimate(high, {}, wide).seconds, 1e-3 + overhead);
}

TEST(Cost, AMachineThatWasMeasuredHasAPeakForEachLevelAndReadsOnlyWeightsFromMemory) {
    CostModel measured = source();
    measured.features = levels::avx2;
    measured.machine.unit_flops[index_of(Unit::f32_baseline)] = 5e8;
    measured.machine.unit_flops[index_of(Unit::f32_avx2)] = 1e9;
    measured.machine.cache_bandwidth = 1e10;
    const auto work = [](const Problem&) { return Cost{1e6, 0, 1}; };
    EXPECT_DOUBLE_EQ(estimate(kernel(work, levels::baseline), {}, measured).low, 2e-3 + overhead);
    EXPECT_DOUBLE_EQ(estimate(kernel(work, levels::avx512), {}, measured).low, 1e-3 + overhead);
    const Problem p = problem("add | f32[1000]! f32[1000] -> f32[1000]");
    EXPECT_DOUBLE_EQ(roofline_seconds(kernel(
                                          [](const Problem&) {
                                              return Cost{0, 12000, 1};
                                          },
                                          levels::avx2),
                                      p, measured),
                     4e-6 + 8e-7 + overhead);
}

TEST(Cost, SiblingsRescaleEstimatesAndReduceUncertainty) {
    const Kernel k = kernel([](const Problem&) { return Cost{0, 1e6, 1}; });
    CostModel fitted = source();
    auto timing_transfer = std::make_shared<TimingTransfer>();
    for (int i = 0; i < 9; ++i) timing_transfer->add(k, 3, 1);
    const Fit fit = timing_transfer->of(k);
    fitted.timing_transfer = timing_transfer;
    const Estimate plain = estimate(k, {}, source()), moved = estimate(k, {}, fitted);
    EXPECT_DOUBLE_EQ(moved.seconds, fit.factor * plain.seconds);
    EXPECT_DOUBLE_EQ(moved.high, fit.uncertainty * moved.seconds);
    EXPECT_GT(moved.low, plain.seconds) << "three times as long, and known within less than that";
    EXPECT_DOUBLE_EQ(roofline_seconds(k, {}, fitted), plain.seconds);
}

TEST(Cost, UnmeasuredKernelsRankLastBesideAnIncumbent) {
    const Problem p = problem("exp | f32[1000] -> f32[1000]");
    TimingDb timings{""};
    CostModel costs = source();
    costs.timings = &timings;
    Kernel held = kernel(nullptr), other = kernel(nullptr), measured = kernel(nullptr);
    other.id = "other@1";
    measured.id = "measured@1";
    timings.record(p, measured.id, {}, {}, test::took(0.5));
    costs.incumbent_calls = std::make_shared<const std::set<std::string>>(std::set<std::string>{call_key(held, p)});
    EXPECT_EQ(estimate(held, p, costs).seconds, estimate(held, p, costs).low);
    EXPECT_EQ(estimate(held, p, costs).low, estimate(held, p, source()).low);
    EXPECT_EQ(estimate(measured, p, costs).seconds, 0.5);
    EXPECT_GT(estimate(other, p, costs).seconds, 1);
    EXPECT_TRUE(estimate(other, p, costs).ranked_last);
    EXPECT_NEAR(estimate(other, p, costs).time(), estimate(other, p, source()).seconds, 1e-12)
        << "what is added so that it comes last is no time";
    EXPECT_EQ(estimate(held, p, costs).time(), estimate(held, p, source()).seconds);
    EXPECT_LT(estimate(other, p, costs).seconds,
              estimate(other, problem("exp | f32[100000000] -> f32[100000000]"), costs).seconds)
        << "the quicker still before the slower";
}

TEST(Cost, WithoutACostTheOperandsDetermineIt) {
    EXPECT_DOUBLE_EQ(seconds_of("exp | f32[1000] -> f32[1000]"), 8e-6 + overhead);
    EXPECT_DOUBLE_EQ(seconds_of("add | f32[1000,10] f32[1000,10]:(0,1) -> f32[1000,10]"), 80.04e-6 + overhead)
        << "what is repeated is read once";
    EXPECT_DOUBLE_EQ(seconds_of("elementwise {1=exp(0):u8 2=exp(1):u8 3=exp(2):u8 4=exp(3):u8 5=exp(4):u8} | u8[1000] "
                                "-> u8[1000] results (5)"),
                     20e-6 + overhead)
        << "five steps an element at a quarter of the peak against two bytes";
}

TEST(Cost, AnInvalidCostIsReplacedAndReported) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const Problem p = problem("exp | f32[1000] -> f32[1000]");
    const auto bad = [&](Cost (*cost)(const Problem&)) {
        const Estimate result = estimate(kernel(cost), p, source());
        EXPECT_DOUBLE_EQ(result.seconds, 8e-6 + overhead);
        return result.note;
    };
    EXPECT_EQ(bad([](const Problem&) {
                  return Cost{std::nan(""), 1, 0.5};
              }),
              "default cost: its cost is invalid (nan operations, 1 bytes, efficiency 0.5)");
    EXPECT_NE(bad([](const Problem&) { return Cost{1, std::nan(""), 0.5}; }), "");
    EXPECT_NE(bad([](const Problem&) { return Cost{-1, 1, 0.5}; }), "");
    EXPECT_NE(bad([](const Problem&) { return Cost{1, inf, 0.5}; }), "");
    EXPECT_NE(bad([](const Problem&) { return Cost{1, 1, 0}; }), "");
    EXPECT_NE(bad([](const Problem&) { return Cost{1, 1, 1.01}; }), "");
    EXPECT_NE(bad([](const Problem&) { return Cost{1, 1, std::nan("")}; }), "");
    EXPECT_EQ(estimate(kernel([](const Problem&) { return Cost{1, 1, 1}; }), p, source()).note, "");
}

TEST(Cost, OptimisticEstimatesUseTheLowerBound) {
    CostModel optimistic = source();
    optimistic.optimistic = true;
    const Estimate result = estimate(kernel([](const Problem&) { return Cost{1e6, 0, 0.25}; }), {}, optimistic);
    EXPECT_DOUBLE_EQ(result.seconds, result.low);
    EXPECT_DOUBLE_EQ(result.low, 1e-3 + overhead);
}

TEST(Cost, AMeasurementReplacesTheEstimate) {
    const Problem p = problem("exp | f32[1000] -> f32[1000]");
    TimingDb timings{""};
    CostModel measured = source();
    measured.timings = &timings;
    measured.environment.hard = "here";
    measured.optimistic = true;
    const auto record = [&](const Timing& timing, const std::string& kernel, const std::string& machine = "here") {
        timings.record(p, kernel, {machine, ""}, measured.policy, timing);
    };
    const Timing ok = test::took(0.5);
    Timing censored, failed;
    censored.status = TimingStatus::censored;
    censored.bound = 0.25;
    failed.status = TimingStatus::failed;
    record(ok, "ok@1");
    record(censored, "censored@1");
    record(failed, "failed@1");
    record(ok, "elsewhere@1", "there");
    const auto of = [&](const std::string& id) {
        Kernel k = kernel([](const Problem&) { return Cost{1e6, 0, 1}; });
        k.id = id;
        return estimate(k, p, measured);
    };
    for (const auto& [id, seconds] : {std::pair{"ok@1", 0.5}, {"censored@1", 0.25}}) {
        EXPECT_TRUE(of(id).measured);
        EXPECT_EQ(of(id).seconds, seconds);
        EXPECT_EQ(of(id).low, seconds);
        EXPECT_EQ(of(id).high, seconds);
    }
    EXPECT_GT(of("failed@1").seconds, 1) << "anything that runs is preferred";
    EXPECT_EQ(of("failed@1").time(), 0) << "nothing is known of its time";
    EXPECT_NE(of("failed@1").failure, "");
    EXPECT_TRUE(of("censored@1").is_lower_bound && !of("ok@1").is_lower_bound);
    EXPECT_FALSE(of("elsewhere@1").measured);
}

TEST(Cost, ACoarseTimeMustBeClearlyLessThanTheIncumbent) {
    TimingDb timings{""};
    CostModel costs = source();
    costs.timings = &timings;
    Kernel held = kernel(nullptr), other = kernel(nullptr), steady = kernel(nullptr);
    other.id = "other@1";
    steady.id = "steady@1";
    const Problem exp = problem("exp | f32[256] -> f32[256]");
    Timing coarse = test::took(3e-5);
    coarse.quality = 0;
    for (const Kernel* each : {&held, &other}) timings.record(exp, each->id, {}, {}, coarse);
    timings.record(exp, steady.id, {}, {}, test::took(3e-5));
    EXPECT_EQ(estimate(other, exp, costs).seconds, 3e-5) << "there is no plan in hand";
    costs.incumbent_calls = std::make_shared<const std::set<std::string>>(std::set<std::string>{call_key(held, exp)});
    EXPECT_EQ(estimate(held, exp, costs).seconds, 3e-5);
    EXPECT_EQ(estimate(steady, exp, costs).seconds, 3e-5);
    EXPECT_DOUBLE_EQ(estimate(other, exp, costs).seconds, 3.3e-5);
    EXPECT_TRUE(estimate(other, exp, costs).measured);
    EXPECT_NEAR(estimate(other, exp, costs).time(), 3e-5, 1e-15) << "the tenth is no time";
    EXPECT_EQ(estimate(other, exp, costs).note, "measured in few blocks: counted 10 % slower");
}

TEST(Cost, ACoarseTimeIsAnEstimateIfABetterOneIsRequired) {
    TimingDb timings{""};
    CostModel costs = source();
    costs.timings = &timings;
    const Kernel k = kernel(nullptr);
    const Problem exp = problem("exp | f32[256] -> f32[256]");
    Timing coarse = test::took(3e-5);
    coarse.quality = 0;
    timings.record(exp, k.id, costs.environment, costs.policy, coarse);
    EXPECT_TRUE(estimate(k, exp, costs).measured);
    costs.min_quality = 1;
    const Estimate near = estimate(k, exp, costs);
    EXPECT_FALSE(near.measured);
    EXPECT_DOUBLE_EQ(near.seconds, 3e-5);
    EXPECT_DOUBLE_EQ(near.low, 2e-5);
    EXPECT_DOUBLE_EQ(near.high, 4.5e-5);
    costs.optimistic = true;
    EXPECT_DOUBLE_EQ(estimate(k, exp, costs).seconds, 2e-5);
    timings.record(exp, k.id, costs.environment, costs.policy, test::took(9e-5));
    EXPECT_TRUE(estimate(k, exp, costs).measured);
    EXPECT_DOUBLE_EQ(estimate(k, exp, costs).seconds, 9e-5);

    const Problem log = problem("log | f32[256] -> f32[256]");
    Timing late;
    late.status = TimingStatus::censored;
    late.bound = 6;
    late.quality = 0;
    timings.record(log, k.id, costs.environment, costs.policy, late);
    EXPECT_FALSE(estimate(k, log, costs).measured);
    EXPECT_DOUBLE_EQ(estimate(k, log, costs).low, 4) << "its first run may have found its code cold";
    costs.min_quality = 0;
    EXPECT_DOUBLE_EQ(estimate(k, log, costs).seconds, 6);
    late.status = TimingStatus::failed;
    const Problem sin = problem("sin | f32[256] -> f32[256]");
    costs.min_quality = 1;
    timings.record(sin, k.id, costs.environment, costs.policy, late);
    EXPECT_TRUE(estimate(k, sin, costs).measured) << "it is not tried again";
}

TEST(Cost, NominalMachinesGrowWithLevelAndThreads) {
    const Calibration one = nominal_machine(levels::baseline, 1), two = nominal_machine(levels::baseline, 2);
    EXPECT_EQ(one.barrier_seconds, 0);
    EXPECT_GT(two.barrier_seconds, 0);
    EXPECT_EQ(one.cross_core_transfer_seconds, 0);
    EXPECT_GT(two.cross_core_transfer_seconds, 0);
    EXPECT_EQ(one.cross_core_transfer_byte_seconds, 0);
    EXPECT_GT(two.cross_core_transfer_byte_seconds, 0);
    EXPECT_EQ(two.flops, 2 * one.flops);
    EXPECT_GT(two.bandwidth, one.bandwidth);
    EXPECT_EQ(nominal_machine(levels::baseline, 64).bandwidth, 2 * one.bandwidth)
        << "memory does not grow with threads";
    EXPECT_GT(nominal_machine(levels::avx2, 1).flops, one.flops);
    EXPECT_GT(nominal_machine(levels::avx512, 1).flops, nominal_machine(levels::avx2, 1).flops);
}

TEST(Cost, CrossCoreTransferIsSeparateFromTheTime) {
    CostModel costs_here = source();
    costs_here.machine.cross_core_transfer_seconds = 5e-6;
    Kernel one = kernel(nullptr);
    const SizedProblem sized(problem("exp | f32[4] -> f32[4]"));
    const Estimate all = mean_estimate(one, {&sized, 1}, costs_here);
    EXPECT_EQ(all.cross_core_transfer, 5e-6);
    EXPECT_EQ(all.seconds, estimate(one, sized, costs_here).seconds);
    // Of the bytes that are not weights, half were written by the other of two threads.
    costs_here.machine.cross_core_transfer_byte_seconds = 1e-9;
    costs_here.policy.threads = 2;
    const SizedProblem wide(problem("add | f32[250] f32[250]! -> f32[250]"));
    EXPECT_NEAR(mean_estimate(one, {&wide, 1}, costs_here).cross_core_transfer, 5e-6 + 1000 * 1e-9, 1e-12);
    const SizedProblem both[] = {sized, wide};
    EXPECT_NEAR(mean_estimate(one, both, costs_here).cross_core_transfer, 5e-6 + (16 + 1000) / 2 * 1e-9, 1e-12);
    // Bytes beyond the capacity of the caches always come from memory.
    const SizedProblem huge(problem("exp | f32[9999999] -> f32[9999999]"));
    EXPECT_NEAR(mean_estimate(one, {&huge, 1}, costs_here).cross_core_transfer, 5e-6 + (1 << 20) * 1e-9, 1e-9);
    one.device = Device::cuda();
    costs_here.devices = {{Device::cuda(), 1e9, 1e9, 0, 1e9, 0}};
    EXPECT_EQ(mean_estimate(one, {&sized, 1}, costs_here).cross_core_transfer, 0) << "threads of the CPU hand on";
}

TEST(Cost, ATimeOfADeviceKernelBelongsToTheDevice) {
    TimingDb timings{""};
    CostModel known = source();
    known.timings = &timings;
    known.environment.hard = "here";
    known.policy.threads = 4;
    known.others[Device::cuda()] = {{"a card", ""}, {"its link", ""}, {.threads = 1}, RateSource::nominal};
    known.devices = {{Device::cuda(), 1e9, 1e9, 0, 1e9, 0}};
    Kernel on_device = kernel(nullptr);
    on_device.device = Device::cuda();
    const Problem one = problem("exp | f32[4] -> f32[4]");
    timings.record(one, on_device.id, {"here", ""}, known.policy, test::took(1));
    EXPECT_FALSE(estimate(on_device, one, known).measured) << "a row of the CPU's kernel of that id";
    EXPECT_TRUE(estimate(kernel(nullptr), one, known).measured);
    timings.record(one, on_device.id, {"a card", ""}, known.policy, test::took(3));
    EXPECT_FALSE(estimate(on_device, one, known).measured) << "with the threads of the CPU";
    timings.record(one, on_device.id, {"a card", ""}, {.threads = 1}, test::took(2));
    EXPECT_EQ(estimate(on_device, one, known).seconds, 2);
    EXPECT_EQ(estimate(kernel(nullptr), one, known).seconds, 1);
    known.policy.threads = 2;
    EXPECT_EQ(estimate(on_device, one, known).seconds, 2) << "whatever the CPU's threads";
    EXPECT_FALSE(estimate(kernel(nullptr), one, known).measured);
}

TEST(Cost, ATimeOfACopyBelongsToTheLink) {
    CostModel known = source();
    known.environment.hard = "here";
    known.others[Device::cuda()] = {{"a card", ""}, {"its link", ""}, {.threads = 1}, RateSource::nominal};
    Kernel copy = kernel(nullptr);
    copy.definition = "copy_to";
    EXPECT_EQ(environment_of(copy, known).hard, "here") << "of the CPU";
    copy.device = Device::cuda();
    EXPECT_EQ(environment_of(copy, known).hard, "its link");
    EXPECT_EQ(environment_of_programs(known).hard, "here");
    known.programs.hard = "a card beside here";
    EXPECT_EQ(environment_of_programs(known).hard, "a card beside here");
}

TEST(Cost, AByteOnADeviceIsPricedByTheBandwidthOfTheDevice) {
    CostModel model;
    model.devices = {{Device::cuda(), 1e13, 4e12, 1e-6, 1e10, 1e-5}, {Device::cuda(1), 1e13, 5e9, 1e-6, 1e10, 1e-5}};
    EXPECT_DOUBLE_EQ(kept_byte_price(Device::cpu, model), 1);
    EXPECT_DOUBLE_EQ(kept_byte_price(Device::cuda(), model), 1e10 / 4e12);
    EXPECT_DOUBLE_EQ(kept_byte_price(Device::cuda(1), model), 1) << "no more than on the host";
    EXPECT_DOUBLE_EQ(kept_byte_price(Device::cuda(2), model), 1) << "unknown rates";
}

TEST(Cost, LimitsOfADeviceAreToldIfItsRatesWereMeasured) {
    CostModel known = source();
    known.is_calibrated = true;
    known.devices = {{Device::cuda(), 1e9, 1e9, 0, 1e9, 0}};
    Kernel on_device = kernel(nullptr);
    const Problem one = problem("exp | f32[4] -> f32[4]");
    EXPECT_GT(estimate(on_device, one, known).memory, 0);
    on_device.device = Device::cuda();
    EXPECT_EQ(estimate(on_device, one, known).memory, 0);
    known.others[Device::cuda()].rates = RateSource::nominal;
    EXPECT_EQ(estimate(on_device, one, known).memory, 0);
    known.others[Device::cuda()].rates = RateSource::measured;
    EXPECT_GT(estimate(on_device, one, known).memory, 0);
}

}  // namespace
}  // namespace cairn::selection
