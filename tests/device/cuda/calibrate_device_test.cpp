#include "device/cuda/calibrate_device.hpp"

#include "device/cuda/driver_calls.hpp"
#include "device/cuda/probe_text.hpp"
#include "tests/device/cuda/cuda_fixture.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace cairn::device::cuda {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;

// Seconds after which nothing is left out, on however busy a machine.
constexpr double plenty = 600;

/// What the probes of the stand-in take, on a clock that only they and copies move.
struct Rates {
    double memory = 3e12, cache = 6e12, launch = 2e-6, copy = 5e-6, link = 5e10;
    std::map<std::string, double> flops = {{"f32", 6e13}, {"f16", 6e14}, {"bf16", 5e14}, {"i8", 9e14}, {"tf32", 3e14}};
};

/// Adds the probes, which note how many rounds they run.
class ProbeKernels {
public:
    explicit ProbeKernels(StandInDriver& driver, const Rates& rates = {}) {
        const auto add = [&](const std::string& entry, std::size_t pointers, const auto& seconds) {
            const auto run = [this, entry](const StandInLaunch& launch) {
                const std::size_t symbols = entry == "cairn_probe_read" ? 3 : 2;
                runs[entry].push_back(entry == "cairn_probe_empty" ? 0
                                                                   : launch.pointer<long long>(symbols)[symbols - 2]);
                if (on_run) on_run(entry);
            };
            driver.add_kernel(entry, {pointers, run, seconds});
        };
        add("cairn_probe_empty", 3, [=](const StandInLaunch&) { return rates.launch; });
        add("cairn_probe_read", 5, [=](const StandInLaunch& launch) {
            const long long* const symbols = launch.pointer<long long>(3);
            const double bytes = 16.0 * static_cast<double>(symbols[0]);
            return bytes * static_cast<double>(symbols[1]) / (bytes < 50e6 ? rates.cache : rates.memory);
        });
        for (const ArithmeticProbe& probe : arithmetic_probes(true))
            add(probe.code.entry, 4,
                [rate = rates.flops.at(std::string(to_string(probe.arithmetic))), probe](const StandInLaunch& launch) {
                    const auto rounds = static_cast<double>(launch.pointer<long long>(2)[0]);
                    return probe.operations * rounds * launch.config.grid_x * launch.config.block_x / rate;
                });
        driver.set_copy_seconds(rates.copy, 1 / rates.link);
    }

    std::map<std::string, std::vector<long long>> runs;  // rounds of each launch, by entry
    std::function<void(const std::string& entry)> on_run;
};

class DeviceCalibrations : public CudaTest {
protected:
    /// A calibration by the stand-in's clock.
    std::optional<DeviceCalibration> calibrate(double seconds = thorough_calibration_seconds,
                                               const std::stop_token& stop = {}) {
        const CalibratedDevice device{*backend,
                                      [&](std::size_t bytes) {
                                          if (on_reserve) on_reserve(bytes);
                                          return backend->reserve(bytes, MemoryUse::arena);
                                      },
                                      132,
                                      cache_bytes,
                                      has_tensor_cores,
                                      [&] { return driver.clock() + call_seconds * static_cast<double>(reads++); }};
        return calibrate_device(device, seconds, stop);
    }

    Rates rates;
    ProbeKernels probes{driver, rates};
    std::function<void(std::size_t bytes)> on_reserve;
    std::int64_t cache_bytes = 50 << 20;
    bool has_tensor_cores = true;
    double call_seconds = 0;  // that pass from each reading of the clock to the next, beside the work

private:
    std::int64_t reads = 0;
};

void expect_near(double got, double wanted) { EXPECT_NEAR(got, wanted, 1e-5 * wanted); }

TEST_F(DeviceCalibrations, RatesFollowFromTheTimesOfTheProbes) {
    const auto found = calibrate();
    ASSERT_TRUE(found);
    expect_near(found->bandwidth, rates.memory);
    EXPECT_EQ(found->bandwidth_bytes, 256 << 20) << "a quarter of what is free";
    expect_near(found->cache_bandwidth, rates.cache);
    for (const auto& [name, rate] : rates.flops)
        for (std::size_t i = 0; i < arithmetic_count; ++i)
            if (to_string(static_cast<Arithmetic>(i)) == name) expect_near(found->flops[i], rate);
    EXPECT_EQ(found->flops[static_cast<std::size_t>(Arithmetic::i16)], 0) << "no unit";
    expect_near(found->launch_seconds, rates.launch);
    constexpr double bytes = 32 << 20;
    expect_near(found->upload_bandwidth, bytes / (2 * rates.copy + bytes / rates.link));  // two pieces
    expect_near(found->download_bandwidth, bytes / (rates.copy + bytes / rates.link));
    expect_near(found->link_seconds, rates.copy + 64 / rates.link);
    EXPECT_NEAR(found->noise, 0, 1e-6);
    EXPECT_TRUE(found->is_thorough);
}

TEST_F(DeviceCalibrations, BlocksAreAsLongAsTheClockNeeds) {
    ASSERT_TRUE(calibrate());
    const std::vector<long long>& rounds = probes.runs.at("cairn_probe_f32");
    ASSERT_GE(rounds.size(), 11U) << "the first, which is not counted, one that sets the length, and nine";
    EXPECT_EQ(rounds[0], 1);
    EXPECT_EQ(rounds[1], 1);
    const std::vector<long long> last(rounds.end() - 10, rounds.end());
    EXPECT_THAT(last, Each(last.front()));
    const double seconds = 128.0 * static_cast<double>(last.front()) * 132 * 4 * 256 / rates.flops.at("f32");
    EXPECT_GE(seconds, 1e-3);
    EXPECT_LT(seconds, 3e-3);
    EXPECT_EQ(probes.runs.at("cairn_probe_empty").size(), 10U * (200 + 8));
}

TEST_F(DeviceCalibrations, ABriefOneHasFewerBlocksAndSaysSo) {
    const auto found = calibrate(0.1);
    ASSERT_TRUE(found);
    expect_near(found->bandwidth, rates.memory);
    EXPECT_FALSE(found->is_thorough);
    EXPECT_EQ(probes.runs.at("cairn_probe_empty").size(), 4U * (200 + 8));
}

TEST_F(DeviceCalibrations, AWorkingSetThatTheCacheMayHoldIsNotThorough) {
    cache_bytes = 100 << 20;
    const auto found = calibrate();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->bandwidth_bytes, 256 << 20) << "not four times as much";
    EXPECT_FALSE(found->is_thorough);
}

TEST_F(DeviceCalibrations, WithoutTensorCoresOnlyF32IsMeasured) {
    has_tensor_cores = false;
    const auto found = calibrate();
    ASSERT_TRUE(found);
    for (std::size_t i = 0; i < arithmetic_count; ++i)
        EXPECT_EQ(found->flops[i] > 0, static_cast<Arithmetic>(i) == Arithmetic::f32);
    EXPECT_EQ(probes.runs.count("cairn_probe_f16"), 0U);
}

TEST_F(DeviceCalibrations, ADeviceThatIsTooSlowIsGivenUp) {
    rates.memory = 5e8;
    ProbeKernels slow(driver, rates);
    EXPECT_FALSE(calibrate(0.1)) << "one pass over the working set takes 0.54 s, and there is 1 s for all";
    EXPECT_EQ(slow.runs.at("cairn_probe_read").size(), 5U) << "a little of it, and two passes";
    EXPECT_EQ(slow.runs.count("cairn_probe_f32"), 0U);
}

TEST_F(DeviceCalibrations, ADeviceThatIsFarTooSlowIsGivenUpBeforeTheWorkingSetIsReserved) {
    rates.memory = rates.cache = 2e8;
    ProbeKernels slow(driver, rates);
    std::size_t reserved = 0;
    on_reserve = [&](std::size_t bytes) { reserved += bytes; };
    EXPECT_FALSE(calibrate(0.1)) << "one pass over the working set takes 1.34 s";
    EXPECT_EQ(slow.runs.at("cairn_probe_read").size(), 3U);
    EXPECT_LT(reserved, 2U << 20);
}

// As on a GPU, where a call allocates, captures and instantiates a graph.
TEST_F(DeviceCalibrations, WhatACallTakesTheHostIsNotTakenForASlowDevice) {
    call_seconds = 4e-3;
    const auto found = calibrate();
    ASSERT_TRUE(found) << "256 calls of the host would take longer than a calibration may";
    expect_near(found->bandwidth, rates.memory);
}

TEST_F(DeviceCalibrations, ASlowDeviceHasFewerBlocksAndSaysSo) {
    rates.memory = 5e9;
    ProbeKernels slow(driver, rates);
    const auto found = calibrate(0.5);
    ASSERT_TRUE(found);
    expect_near(found->bandwidth, rates.memory);
    EXPECT_FALSE(found->is_thorough);
    EXPECT_EQ(slow.runs.at("cairn_probe_empty").size(), 2U * (200 + 8)) << "one block";
}

TEST_F(DeviceCalibrations, AStopEndsItWithinOneBlock) {
    for (const std::string last : {"cairn_probe_read", "cairn_probe_i8", "cairn_probe_empty"}) {
        std::stop_source stop;
        std::size_t runs = 0;
        probes.on_run = [&](const std::string& entry) {
            if (entry == last && ++runs == 3) stop.request_stop();
        };
        EXPECT_THROW(calibrate(thorough_calibration_seconds, stop.get_token()), Cancelled);
        EXPECT_LE(runs, last == "cairn_probe_empty" ? 8U : 3U) << "the launches of one program are one block";
    }
    std::stop_source stop;
    stop.request_stop();
    driver.clear_calls();
    EXPECT_THROW(calibrate(thorough_calibration_seconds, stop.get_token()), Cancelled);
    EXPECT_THAT(driver.calls(), IsEmpty());
}

// By the clock of the machine, which the stand-in does not move.
TEST_F(DeviceCalibrations, NothingStaysAllocated) {
    const auto before = driver.leaks();
    driver.clear_calls();
    const auto found = backend->calibrate(plenty, {});
    ASSERT_TRUE(found);
    expect_near(found->bandwidth, rates.memory);
    expect_near(found->flops[static_cast<std::size_t>(Arithmetic::f16)], rates.flops.at("f16"));
    EXPECT_GT(found->upload_bandwidth, 0);
    EXPECT_EQ(driver.leaks(), before) << "what the device has itself";
    EXPECT_EQ(driver.count("cuModuleLoadData"), 1) << "all probes are one program";
    EXPECT_EQ(nvrtc.texts.size(), 1U);
    for (const auto& [make, end] :
         {std::pair{"cuMemAlloc_v2", "cuMemFree_v2"}, std::pair{"cuMemHostAlloc", "cuMemFreeHost"},
          std::pair{"cuEventCreate", "cuEventDestroy_v2"}, std::pair{"cuModuleLoadData", "cuModuleUnload"}}) {
        EXPECT_GT(driver.count(make), 0);
        EXPECT_EQ(driver.count(make), driver.count(end)) << make;
    }
}

TEST(CalibrationFaults, WithoutTheCompilerTheReasonIsGiven) {
    StandInDriver driver(4 << 20);
    const auto backend = cuda_backend(0, driver.table(), std::make_shared<Nvrtc>(LibraryFolders{"/absent", ""}));
    EXPECT_THAT(message_of(ErrorKind::unsupported, [&] { backend->calibrate(0.1, {}); }),
                ::testing::HasSubstr("/absent/libnvrtc.so.13"));
}

class CalibrationCalls : public ::testing::TestWithParam<Result> {};

/// Calls that free something, or without which nothing can be freed.
const std::set<std::string> releasing = {"cuMemFree_v2",       "cuMemFreeHost",       "cuModuleUnload",
                                         "cuEventDestroy_v2",  "cuCtxPushCurrent_v2", "cuGraphDestroy",
                                         "cuGraphExecDestroy", "cuStreamDestroy_v2"};

// Each call of a calibration fails in turn; of a call that is made very often, the first, the second and the last.
TEST_P(CalibrationCalls, MayFail) {
    StandInNvrtc nvrtc;
    std::map<std::string, std::int64_t> counts;
    const auto run = [&](const std::string& symbol, std::int64_t nth) {
        StandInDriver driver(4 << 20);
        ProbeKernels probes(driver);
        auto backend = cuda_backend(0, driver.table(), nvrtc.nvrtc());
        driver.clear_calls();
        if (nth > 0) driver.fail(symbol, nth, GetParam());
        bool has_thrown = false;
        try {
            EXPECT_TRUE(backend->calibrate(plenty, {}));
        } catch (const Error&) { has_thrown = true; }  // any other exception fails the test
        if (nth == 0)
            for (const std::string& call : driver.calls()) ++counts[call];
        EXPECT_EQ(driver.failed_call(), nth == 0 ? "" : symbol);
        const bool is_lost = nth > 0 && outcome_of(GetParam()) == Outcome::lost;
        // Destructors wait for the stream, too.
        const bool may_be_ignored = symbol == "cuCtxPopCurrent_v2" || symbol == "cuStreamSynchronize";
        if (nth > 0 && !releasing.contains(symbol) && !may_be_ignored) { EXPECT_TRUE(has_thrown) << symbol; }
        if (!is_lost) {
            const auto memory = backend->reserve(64, MemoryUse::arena);
            const std::vector<std::byte> ones(64, std::byte{1});
            std::vector<std::byte> read(64);
            memory->write({0, 64, 1, 64}, ones.data());
            memory->read({0, 64, 1, 64}, read.data());
            EXPECT_EQ(read, ones) << symbol;
        }
        backend.reset();
        // A graph that cannot be destroyed keeps using its module.
        if (symbol != "cuGraphExecDestroy") { EXPECT_THAT(driver.violations(), IsEmpty()) << symbol << ' ' << nth; }
        if (!is_lost && !releasing.contains(symbol)) { EXPECT_THAT(driver.leaks(), IsEmpty()) << symbol << ' ' << nth; }
    };
    run("", 0);
    constexpr std::int64_t often = 12;
    std::size_t failed = 0;
    for (const auto& [symbol, count] : std::map(counts))
        for (std::int64_t nth = 1; nth <= count; ++nth)
            if (count <= often || nth <= 2 || nth == count) {
                run(symbol, nth);
                ++failed;
            }
    EXPECT_GT(counts.size(), 12U);
    EXPECT_GT(failed, 60U);
}

INSTANTIATE_TEST_SUITE_P(Results, CalibrationCalls,
                         ::testing::Values(Result::out_of_memory, Result::illegal_address, Result::invalid_value));

}  // namespace
}  // namespace cairn::device::cuda
