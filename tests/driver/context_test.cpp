#include "cairn/context.hpp"

#include "cairn/error.hpp"
#include "device/cpu/affinity.hpp"
#include "device/cpu/cpu_features.hpp"
#include "tests/device/text_context.hpp"
#include "tests/errors/message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace cairn {
namespace {

TEST(Context, TheQuotaIsThatOfTheUsableCpus) {
    const std::optional<double> quota = cpu_quota();
    EXPECT_EQ(quota, device::cgroup_quota());
    const int whole = quota ? std::max(1, static_cast<int>(*quota)) : device::affinity_cpus();
    EXPECT_EQ(usable_cpus(), std::min(whole, device::affinity_cpus()));
}

TEST(Context, RefusesInvalidThreadCounts) {
    for (const int threads : {0, -1, 4097, 100000}) {
        ContextOptions options;
        options.threads = threads;
        try {
            const Context context(options);
            ADD_FAILURE() << threads << " threads";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::argument);
            EXPECT_NE(std::string(error.what()).find("got " + std::to_string(threads)), std::string::npos)
                << error.what();
        }
    }
}

std::string refusal_of(const ContextOptions& options) {
    try {
        const Context context(options);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::argument);
        return error.what();
    }
    return {};
}

TEST(Context, FeaturesAreThoseRequested) {
    const FeatureSet available = device::detect_features();
    EXPECT_EQ(Context().features(), available);
    for (const FeatureSet requested : {FeatureSet(), levels::avx2 & available, available})
        EXPECT_EQ(Context({.features = requested}).features(), requested);
}

TEST(Context, TileRegistersCanBeForgone) {
    const FeatureSet features = Context({.tile_registers = false}).features();
    for (const Feature feature : {Feature::amx_tile, Feature::amx_bf16, Feature::amx_int8})
        EXPECT_FALSE(features.has(feature));
    EXPECT_TRUE(features.includes(levels::avx512 & device::detect_features()));
    EXPECT_EQ(refusal_of({.features = FeatureSet{Feature::amx_tile}, .tile_registers = false}),
              "[context] features amx_tile: tile_registers is false, which excludes amx_tile");
}

TEST(Context, FeaturesThatTheCpuLacksAreNamed) {
    const FeatureSet available = device::detect_features();
    // No CPU has all of them.
    for (const Feature feature : {Feature::avx512_fp16, Feature::amx_int8}) {
        const FeatureSet requested = available | implied_by(feature) | FeatureSet{feature};
        if (requested == available) continue;
        EXPECT_EQ(refusal_of({.features = requested}), "[context] features " + to_string(requested) +
                                                           ": this CPU lacks " + to_string(requested - available) +
                                                           ", it has " + to_string(available));
    }
}

TEST(Context, FeaturesWithoutTheirPrerequisitesAreNamed) {
    EXPECT_EQ(refusal_of({.features = FeatureSet{Feature::avx512}}),
              "[context] features avx512: avx512 requires avx2, which is not among them");
    EXPECT_EQ(refusal_of({.features = FeatureSet{Feature::avx2, Feature::avx512_vnni}}),
              "[context] features avx2+avx512_vnni: avx512_vnni requires avx512, which is not among them");
}

// A device takes kernels of one form: texts, or functions on a device that is simulated.
TEST(Context, KernelsOfTheWrongFormForTheirDeviceAreNamed) {
    const Kernel text =
        test::text_kernel("own.exp@1", "exp", [](const Problem& problem) { return test::text_code(problem, "exp"); });
    ContextOptions options;
    options.extra.kernels = {text};
    EXPECT_EQ(refusal_of(options), "") << "it is for a device that this Context does not have";
    options.extra.devices = {{Device::cuda(), 1e12, 1e12, 1e-6, 1e10, 1e-6}};
    EXPECT_EQ(refusal_of(options),
              "[context] kernel own.exp@1 has code, which needs device cuda: it is simulated, "
              "because it has rates and is not opened");
    Kernel function = text;
    function.code = nullptr;
    function.enqueue = [](const Args&, const DeviceStream&) {};
    options.extra.kernels = {function};
    EXPECT_EQ(refusal_of(options),
              "[context] kernel own.exp@1 has enqueue, which needs device cuda: it is simulated, "
              "because it has rates and is not opened");
    function.enqueue = nullptr;
    function.run = [](const Args&, Team&) {};
    options.extra.kernels = {function};
    EXPECT_EQ(refusal_of(options), "");
    test::TextBackend* backend = nullptr;
    EXPECT_NO_THROW(test::with_text_device({text}, backend));
    EXPECT_EQ(test::message([&] { (void)test::with_text_device({function}, backend); }),
              "[context] kernel own.exp@1 has neither code nor enqueue, but device cuda runs these alone");
}

TEST(Context, KernelsForANewerDeviceAreNotUsed) {
    const Kernel old =
        test::text_kernel("own.exp@1", "exp", [](const Problem& problem) { return test::text_code(problem, "exp"); });
    for (const bool enqueues : {false, true}) {
        Kernel newer = old;
        newer.id = "own.exp@2";
        newer.compute_capability = 90;
        if (enqueues) {
            newer.code = nullptr;
            newer.enqueue = [](const Args&, const DeviceStream&) {};
        }
        std::string log;
        ContextOptions options;
        options.log = [&](LogLevel, std::string_view line) { log += line; };
        test::TextBackend* backend = nullptr;
        const Context context = test::with_text_device({newer, old}, backend, options);
        EXPECT_EQ(context.kernels().kernels[0].id, "own.exp@1");
        EXPECT_EQ(log, "own.exp@2 needs compute capability 9.0, but device cuda has 8.0: it is not used");
    }
}

}  // namespace
}  // namespace cairn
