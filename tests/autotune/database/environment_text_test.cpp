#include "autotune/database/environment_text.hpp"

#include "autotune/measurement/fingerprint.hpp"
#include "device/cpu/cpu_info.hpp"
#include "tests/autotune/database/environments.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <vector>

namespace cairn::autotune {
namespace {

EnvironmentText parsed(const std::string& hard) {
    const auto text = parse_environment(hard);
    EXPECT_TRUE(text) << hard;
    return text.value_or(EnvironmentText());
}

TEST(EnvironmentTexts, FingerprintsAreParsed) {
    ContextOptions options;
    options.threads = 3;
    options.features = levels::avx2 & device::cpu_info().features;
    const Context context(options);
    const EnvironmentText text = parsed(environment_of(*context.impl()).hard);
    const device::CpuInfo cpu = device::cpu_info();
    EXPECT_EQ(text.version, version());
    EXPECT_EQ(text.threads, 3);
    EXPECT_EQ(text.features, context.features());
    EXPECT_EQ(text.caches, (std::array<std::int64_t, 3>{cpu.l1d_bytes, cpu.l2_bytes, cpu.l3_bytes}));
    EXPECT_EQ(text.vendor, cpu.vendor.empty() ? "unknown" : cpu.vendor);
    EXPECT_EQ(text.build, context.kernels().build);
}

TEST(EnvironmentTexts, HaveAReadableName) {
    EXPECT_EQ(short_name(parsed(test::environment({.features = "avx2+avx512", .threads = 2}))),
              "Twelve, avx2+avx512, 2 threads");
    EXPECT_EQ(short_name(parsed(test::environment({.name = "unknown", .threads = 1}))), "Maker, avx2, 1 thread");
}

TEST(EnvironmentTexts, OtherTextsAreRefused) {
    const std::string whole = test::environment({});
    EXPECT_TRUE(parse_environment(whole));
    for (const char* part : {"cairn ", " | Maker", "L2 ", "threads ", "avx2", "2097152"}) {
        std::string broken = whole;
        broken.replace(broken.find(part), std::string(part).size(), "");
        EXPECT_FALSE(parse_environment(broken)) << broken;
    }
    for (const std::string text : {"", "invented", "cairn", " | | | | | | | "}) EXPECT_FALSE(parse_environment(text));
    EXPECT_FALSE(parse_environment(test::environment({.threads = 0})));
    EXPECT_FALSE(parse_environment(test::environment({.features = "avx2+avx99"})));
    EXPECT_EQ(parsed(test::environment({.features = "avx2+avx_vnni"})).features,
              (FeatureSet{Feature::avx2, Feature::avx_vnni}));
}

TEST(EnvironmentTexts, DistanceComparesFeaturesThenThreadsThenVendorAndCaches) {
    const EnvironmentText own = parsed(test::environment({}));
    // Each is farther away than the ones before.
    const std::vector<test::EnvironmentParts> far{{},
                                                  {.build = "other 1"},
                                                  {.name = "Thirteen"},
                                                  {.l3 = 64 << 20},
                                                  {.l3 = 256 << 20},
                                                  {.vendor = "Other"},
                                                  {.threads = 4},
                                                  {.threads = 16},
                                                  {.features = "avx2+avx_vnni"},
                                                  {.features = "avx2+avx512+avx512_vnni"},
                                                  {.features = "baseline"},
                                                  {.features = "amx_tile"}};
    EXPECT_EQ(environment_distance(own, own), EnvironmentDistance());
    for (std::size_t i = 1; i < far.size(); ++i)
        EXPECT_LT(environment_distance(own, parsed(test::environment(far[i - 1]))),
                  environment_distance(own, parsed(test::environment(far[i]))))
            << i;
}

}  // namespace
}  // namespace cairn::autotune
