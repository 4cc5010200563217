#include "autotune/measurement/device_rates.hpp"

#include "autotune/measurement/calibrate.hpp"
#include "autotune/measurement/calibration_records.hpp"
#include "cairn/cairn.hpp"
#include "tests/autotune/measurement/calibrated_device.hpp"
#include "tests/errors/message.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cairn::autotune {
namespace {

using test::device_calibration;
using test::nominal_rates;
using test::with_calibrated_devices;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Calibrates, and notes with how many seconds.
class Calibrations {
public:
    test::CalibratedBackend::Calibrate function() {
        return [this](double seconds, const std::stop_token&) {
            asked.push_back(seconds);
            device::DeviceCalibration made = device_calibration();
            made.is_thorough = seconds >= thorough_seconds;
            return made;
        };
    }
    std::vector<double> asked = {};
};

KnownRates rates_of_first(const Context& context, double seconds) {
    return rates_of(context, context.kernels().devices.at(0), seconds);
}

TEST(DeviceRates, MeasuredOnesFollowFromACalibration) {
    const DeviceRates nominal = nominal_rates("H100", Device::cuda(1)),
                      measured = measured_rates(nominal, device_calibration());
    EXPECT_EQ(measured.device, Device::cuda(1));
    EXPECT_EQ(measured.name, "H100");
    EXPECT_EQ(measured.flops, 5e13);
    EXPECT_EQ(measured.bandwidth, 3e12);
    EXPECT_EQ(measured.cache_bandwidth, 6e12);
    EXPECT_EQ(measured.launch_seconds, 1e-6);
    EXPECT_DOUBLE_EQ(measured.link_bandwidth, 1.6e10) << "a byte there and back takes 1e-10 s and 2.5e-11 s";
    EXPECT_EQ(measured.link_seconds, 8e-6);
    EXPECT_EQ(measured.arithmetic_flops[static_cast<std::size_t>(Arithmetic::f16)], 6e14);
    EXPECT_EQ(measured.arithmetic_flops[static_cast<std::size_t>(Arithmetic::i8)], 0) << "as f32";
}

TEST(DeviceRates, AreNominalUntilTheyAreMeasuredOnce) {
    Calibrations calibrations;
    const Context context = with_calibrated_devices({nominal_rates("H100")}, calibrations.function());
    EXPECT_EQ(rates_of_first(context, 0).source, RateSource::nominal);
    EXPECT_EQ(rates_of_first(context, 0).rates.flops, 1e15);
    EXPECT_THAT(calibrations.asked, IsEmpty());
    const KnownRates brief = rates_of_first(context, 0.05);
    EXPECT_EQ(brief.source, RateSource::measured);
    EXPECT_DOUBLE_EQ(brief.rates.flops, 5e13);
    rates_of_first(context, 0.05);
    EXPECT_THAT(calibrations.asked, ElementsAre(0.05)) << "once";
    rates_of_first(context, 10);
    EXPECT_THAT(calibrations.asked, ElementsAre(0.05, 10)) << "again, thoroughly";
    for (const double seconds : {10.0, 0.05, 0.0}) {
        const KnownRates again = rates_of_first(context, seconds);
        EXPECT_EQ(again.source, RateSource::measured);
        EXPECT_EQ(again.rates.flops, brief.rates.flops) << "to the bit, so that choices are the same";
    }
    EXPECT_THAT(calibrations.asked, ElementsAre(0.05, 10));
    EXPECT_EQ(context.impl()->timings->size(), 0U) << "they are no times";
}

TEST(DeviceRates, AreFoundByLaterProcessesOnTheSameDevice) {
    const test::TempFolder temp;
    Calibrations calibrations;
    const auto source_with = [&](const std::string& name, double seconds, Device device = Device::cuda()) {
        ContextOptions options;
        options.timing_db = temp / "t.db";
        const Context context =
            with_calibrated_devices({nominal_rates(name, device)}, calibrations.function(), options);
        const RateSource source = rates_of_first(context, seconds).source;
        EXPECT_TRUE(context.impl()->timings->flush());
        return source;
    };
    EXPECT_EQ(source_with("H100 | driver 13.0 | NVRTC 13.0", 1), RateSource::measured);
    EXPECT_EQ(source_with("H100 | driver 13.0 | NVRTC 13.0", 0), RateSource::measured);
    for (const char* other :
         {"H200 | driver 13.0 | NVRTC 13.0", "H100 | driver 13.1 | NVRTC 13.0", "H100 | driver 13.0 | NVRTC 13.1"})
        EXPECT_EQ(source_with(other, 0), RateSource::nominal) << other;
    EXPECT_EQ(source_with("H100 | driver 13.0 | NVRTC 13.0", 0, Device::cuda(1)), RateSource::nominal)
        << "another link";
    EXPECT_EQ(calibrations.asked.size(), 1U);
}

TEST(DeviceRates, DevicesOfDifferentCardsKeepApart) {
    int calibrated = 0;
    const auto calibrate = [&](double, const std::stop_token&) {
        device::DeviceCalibration made = device_calibration();
        made.flops[static_cast<std::size_t>(Arithmetic::f32)] *= ++calibrated;
        return made;
    };
    const Context context =
        with_calibrated_devices({nominal_rates("H100"), nominal_rates("A100", Device::cuda(1))}, calibrate);
    const std::vector<DeviceRates>& devices = context.kernels().devices;
    rates_of(context, devices[0], 1);
    rates_of(context, devices[1], 1);
    EXPECT_DOUBLE_EQ(device_rates(context, Device::cuda(0)).rates.flops, 5e13);
    EXPECT_DOUBLE_EQ(device_rates(context, Device::cuda(1)).rates.flops, 10e13);
}

TEST(DeviceRates, StatedOnesStay) {
    Calibrations calibrations;
    const Context simulated({.extra = test::second_device(nominal_rates("mine"))});
    EXPECT_EQ(rates_of_first(simulated, 1).source, RateSource::stated);
    const Context other = test::with_second_device(nominal_rates("mine"));
    EXPECT_EQ(rates_of_first(other, 1).source, RateSource::stated);
    ContextOptions options;
    options.extra.devices = {nominal_rates("mine")};
    options.extra.devices[0].flops = 7;
    const Context own = with_calibrated_devices({nominal_rates("H100")}, calibrations.function(), options);
    EXPECT_EQ(rates_of_first(own, 1).source, RateSource::stated);
    EXPECT_EQ(rates_of_first(own, 1).rates.flops, 7);
    EXPECT_THAT(calibrations.asked, IsEmpty());
}

TEST(DeviceRates, ADeviceThatCannotBeMeasuredKeepsNominalOnes) {
    std::vector<std::string> lines;
    ContextOptions options;
    options.log = [&](LogLevel, std::string_view line) { lines.emplace_back(line); };
    const Context full = with_calibrated_devices(
        {nominal_rates("H100")},
        [](double, const std::stop_token&) -> std::optional<device::DeviceCalibration> {
            throw Error(ErrorKind::memory, "cuda", "900 bytes are needed");
        },
        options);
    EXPECT_EQ(rates_of_first(full, 1).source, RateSource::nominal);
    EXPECT_THAT(lines, ElementsAre("the rates of the device cuda cannot be measured: [cuda] 900 bytes are needed"));
    lines.clear();
    const Context slow = with_calibrated_devices(
        {nominal_rates("H100")}, [](double, const std::stop_token&) { return std::nullopt; }, options);
    EXPECT_EQ(rates_of_first(slow, 1).source, RateSource::nominal);
    EXPECT_THAT(lines, ElementsAre(HasSubstr("takes too long")));
    EXPECT_THAT(test::message([&] { calibrate(slow, Device::cuda()); }),
                HasSubstr("the device cuda cannot be measured"));
}

TEST(DeviceRates, AStopIsPassedOn) {
    const Context context = with_calibrated_devices(
        {nominal_rates("H100")}, [](double, const std::stop_token& stop) -> std::optional<device::DeviceCalibration> {
            if (stop.stop_requested()) throw Cancelled("calibrate");
            return device_calibration();
        });
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(rates_of(context, context.kernels().devices[0], 1, stop.get_token()), Cancelled);
    EXPECT_EQ(rates_of_first(context, 0).source, RateSource::nominal);
}

TEST(DeviceRates, CalibrateMeasuresAndStoresNothing) {
    Calibrations calibrations;
    const Context context = with_calibrated_devices({nominal_rates("H100")}, calibrations.function());
    EXPECT_EQ(calibrate(context, Device::cuda()).flops, 5e13);
    EXPECT_THAT(calibrations.asked, ElementsAre(thorough_seconds));
    EXPECT_EQ(device_rates(context, Device::cuda()).source, RateSource::nominal);
    for (const auto& call : {std::function<void()>([&] { calibrate(context, Device::cuda(3)); }),
                             std::function<void()>([&] { device_rates(context, Device::cpu); })})
        EXPECT_THAT(test::message(call), HasSubstr("has no rates in this Context"));
}

TEST(DeviceRates, SourcesHaveNames) {
    EXPECT_EQ(to_string(RateSource::stated), "stated");
    EXPECT_EQ(to_string(RateSource::nominal), "nominal");
    EXPECT_EQ(to_string(RateSource::measured), "measured");
}

Graph chain() {
    Graph g("chain");
    Tensor x = g.input("x", DType::f32, {64, 64});
    for (int i = 0; i < 4; ++i) x = exp(x);
    g.output("y", x);
    return g;
}

// Which rates a compile uses shows in what its explanation expects.
TEST(DeviceRates, CompilesUseThemAndSaySo) {
    Calibrations calibrations;
    const Context context = with_calibrated_devices({nominal_rates("H100")}, calibrations.function());
    const auto notes = [&](const CompileOptions& options) {
        return compile(chain(), context, options).explain().notes;
    };
    const std::string nominal =
        "times of cuda that are not measured are estimated by nominal rates: tune on it, which measures them";
    EXPECT_THAT(notes({.mode = Mode::off}), ElementsAre(nominal));
    EXPECT_THAT(notes({.mode = Mode::cached}), ElementsAre(nominal));
    EXPECT_THAT(calibrations.asked, IsEmpty()) << "nothing is measured in these modes";
    EXPECT_THAT(notes({.mode = Mode::quick, .tune_seconds = 0.01}), ElementsAre(nominal)) << "nor in so short a time";
    EXPECT_THAT(calibrations.asked, IsEmpty());
    const std::string measured = "times of cuda that are not measured are estimated by its measured rates";
    EXPECT_THAT(notes({.mode = Mode::quick, .tune_seconds = 0.4}), ElementsAre(measured));
    EXPECT_THAT(calibrations.asked, ElementsAre(0.05)) << "an eighth: a quarter is for the CPU and the device";
    EXPECT_THAT(notes({.mode = Mode::cached}), ElementsAre(measured));
    EXPECT_THAT(to_string(compile(chain(), context, {.mode = Mode::cached}).explain()), HasSubstr(measured));
}

}  // namespace
}  // namespace cairn::autotune
