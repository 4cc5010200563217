#include "apps/cli/device_diagnostics.hpp"

#include <gmock/gmock.h>

#include <map>
#include <string>

namespace cairn::cli {
namespace {

using testing::HasSubstr;

DeviceInfo h100() {
    DeviceInfo info;
    info.name = "NVIDIA H100 80GB HBM3";
    info.compute_capability = 90;
    info.multiprocessors = 132;
    info.cache_bytes = 50 << 20;
    info.memory_bytes = std::int64_t{80} << 30;
    info.free_bytes = std::int64_t{79} << 30;
    info.driver = "13.0 (580.82.07)";
    info.compiler = "13.0";
    info.compiler_path = "/usr/local/cuda/lib64/libnvrtc.so.13";
    info.cublaslt = "13.1.0";
    info.cublaslt_path = "/usr/local/cuda/lib64/libcublasLt.so.13";
    return info;
}

KnownRates rates(RateSource source) {
    KnownRates known{{Device::cuda(), 6e13, 3.05e12, 1e-6, 2.5e10, 8e-6}, source};
    if (source == RateSource::measured) {
        known.rates.cache_bandwidth = 6e12;
        known.rates.arithmetic_flops[static_cast<std::size_t>(Arithmetic::f32)] = 6e13;
        known.rates.arithmetic_flops[static_cast<std::size_t>(Arithmetic::f16)] = 6.1e14;
    }
    return known;
}

std::map<std::string, std::string> values(const std::vector<MachineDiagnostic>& facts) {
    std::map<std::string, std::string> values;
    for (const MachineDiagnostic& fact : facts) {
        EXPECT_TRUE(values.emplace(fact.name, fact.value).second) << fact.name;
        EXPECT_EQ(fact.advice, "") << fact.name;
    }
    return values;
}

TEST(DeviceDiagnostics, TellWhatADeviceIsAndItsMeasuredRates) {
    const auto facts = values(facts_of(Device::cuda(1), h100(), rates(RateSource::measured), "now"));
    EXPECT_EQ(facts.at("cuda:1"), "NVIDIA H100 80GB HBM3, compute capability 9.0, 132 multiprocessors, L2 of 50 MiB");
    EXPECT_EQ(facts.at("cuda:1 memory"), "79 GiB of 80 GiB free");
    EXPECT_EQ(facts.at("cuda:1 driver"), "13.0 (580.82.07)");
    EXPECT_EQ(facts.at("cuda:1 NVRTC"), "13.0, /usr/local/cuda/lib64/libnvrtc.so.13");
    EXPECT_EQ(facts.at("cuda:1 cuBLASLt"), "13.1.0, /usr/local/cuda/lib64/libcublasLt.so.13");
    EXPECT_EQ(facts.at("cuda:1 rates"), "measured now");
    EXPECT_EQ(facts.at("cuda:1 read bandwidth"), "3.05 TB/s");
    EXPECT_EQ(facts.at("cuda:1 cache bandwidth"), "6 TB/s");
    EXPECT_EQ(facts.at("cuda:1 f32"), "60 TFLOP/s");
    EXPECT_EQ(facts.at("cuda:1 f16"), "610 TFLOP/s");
    EXPECT_EQ(facts.count("cuda:1 i8"), 0U);
    EXPECT_EQ(facts.at("cuda:1 launch"), "1 us");
    EXPECT_EQ(facts.at("cuda:1 link"), "25 GB/s, 8 us a copy");
}

TEST(DeviceDiagnostics, NominalRatesSayHowTheyAreMeasured) {
    const auto facts = values(facts_of(Device::cuda(), h100(), rates(RateSource::nominal), ""));
    EXPECT_EQ(facts.at("cuda rates"), "nominal: cairn tune --device cuda measures them");
    EXPECT_EQ(facts.count("cuda cache bandwidth"), 0U);
    EXPECT_EQ(facts.at("cuda f32"), "60 TFLOP/s");
    EXPECT_EQ(
        values(facts_of(Device::cuda(), h100(), rates(RateSource::measured), "2026-11-28T07:00:00Z")).at("cuda rates"),
        "measured 2026-11-28T07:00:00Z");
}

TEST(DeviceDiagnostics, AMissingCompilerIsAProblem) {
    DeviceInfo info = h100();
    info.compiler = "";
    info.compiler_path = "NVRTC cannot be opened: /absent";
    for (const MachineDiagnostic& fact : facts_of(Device::cuda(), info, rates(RateSource::nominal), ""))
        if (fact.name == "cuda NVRTC")
            EXPECT_THAT(fact.advice, HasSubstr("NVRTC cannot be opened: /absent"));
        else
            EXPECT_EQ(fact.advice, "") << fact.name;
}

TEST(DeviceDiagnostics, AMissingCublasltIsTold) {
    DeviceInfo info = h100();
    info.cublaslt = "";
    info.cublaslt_path = "cuBLASLt was not found: /absent";
    EXPECT_EQ(values(facts_of(Device::cuda(), info, rates(RateSource::nominal), "")).at("cuda cuBLASLt"),
              "none: cuBLASLt was not found: /absent");
}

TEST(DeviceDiagnostics, ADriverThatCannotBeUsedIsAProblemANoneIsNot) {
    const MachineDiagnostic none = absence_of({{}, "the CUDA driver cannot be opened: libcuda.so.1", false});
    EXPECT_EQ(none.name, "GPU");
    EXPECT_EQ(none.value, "none: the CUDA driver cannot be opened: libcuda.so.1");
    EXPECT_EQ(none.advice, "");
    const MachineDiagnostic old = absence_of({{}, "the CUDA driver supports CUDA 12.4", true});
    EXPECT_EQ(old.value, "none");
    EXPECT_EQ(old.advice, "the CUDA driver supports CUDA 12.4");
}

}  // namespace
}  // namespace cairn::cli
