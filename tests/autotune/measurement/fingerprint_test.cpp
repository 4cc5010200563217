#include "autotune/measurement/fingerprint.hpp"

#include "autotune/database/key.hpp"
#include "cairn/tuning.hpp"
#include "device/cpu/affinity.hpp"
#include "device/cpu/cpu_info.hpp"
#include "device/cpu/topology.hpp"
#include "graph/types/isa_levels.hpp"
#include "graph/types/knobs.hpp"
#include "kernels/cpu/build_info.hpp"
#include "tests/autotune/database/problem.hpp"
#include "tests/autotune/measurement/calibrated_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sched.h>
#include <set>
#include <string>

#include <thread>
#include <utility>
#include <vector>

// kernels/cpu/build_info.cpp, as compiled by three other builds.
namespace cairn::kernels::cpu {
std::string plain_build();
std::string slower_build();
std::string checked_build();
}  // namespace cairn::kernels::cpu

namespace cairn::autotune {
namespace {

using testing::HasSubstr;

TimingEnvironment of(ContextOptions options = {}) { return environment_of(*Context(std::move(options)).impl()); }

TEST(Fingerprint, IsTheSameForTheSameContext) {
    EXPECT_EQ(of().hard, of().hard);
    EXPECT_EQ(of({.timing_db = {}, .log = [](LogLevel, std::string_view) {}}).hard, of().hard);
}

TEST(Fingerprint, ContainsEveryPropertyThatChangesTimes) {
    const std::string hard = of({.threads = 3}).hard;
    const device::CpuInfo cpu = device::cpu_info();
    EXPECT_THAT(hard, HasSubstr("cairn " + std::string(version())));
    EXPECT_THAT(hard, HasSubstr("model " + std::to_string(cpu.model) + " stepping " + std::to_string(cpu.stepping)));
    EXPECT_THAT(hard, HasSubstr("L3 " + std::to_string(cpu.l3_bytes)));
    EXPECT_THAT(hard, HasSubstr("threads 3 cpus " + device::topology_of(device::affinity_mask()) + " quota "));
    EXPECT_THAT(hard, testing::EndsWith(kernels::cpu::build_info()));
    EXPECT_THAT(hard, testing::Not(HasSubstr("|  |"))) << "what is not known is written as unknown";
}

TEST(Fingerprint, DistinguishesThreadsAndFeatures) {
    EXPECT_NE(of({.threads = 2}).hard, of().hard);
    EXPECT_THAT(of({.features = levels::baseline}).hard,
                HasSubstr("| baseline of " + to_string(device::cpu_info().features) + " |"));
    EXPECT_THAT(of().hard, HasSubstr("| " + to_string(device::cpu_info().features) + " of "));
    const FeatureSet available = device::cpu_info().features;
    for (const Feature feature : all_features) {
        const FeatureSet less = available - FeatureSet{feature};
        if (available.has(feature) && missing_prerequisites(less).empty()) {
            EXPECT_NE(of({.features = less}).hard, of().hard) << to_string(feature);
        }
    }
}

TEST(Fingerprint, DistinguishesDevices) {
    const auto beside = [](const char* name) {
        ContextOptions options;
        options.extra = test::second_device({Device::cuda(), 1e12, 1e12, 1e-6, 1e10, 1e-6, name});
        const Context context(options);
        const Context::Impl& impl = *context.impl();
        EXPECT_EQ(environment_of(impl, Device::cpu).hard, environment_of(impl).hard);
        return std::pair(environment_of(impl, Device::cuda()).hard, environment_of(impl).hard);
    };
    const auto [device, cpu] = beside("H100, driver 580.82");
    EXPECT_EQ(device, "cuda H100, driver 580.82 beside " + cpu);
    EXPECT_EQ(beside("").first, "cuda unknown beside " + cpu);
}

TimingEnvironment of_device(const ContextOptions& options, const std::string& name, Device device = Device::cuda()) {
    const Context context = test::with_calibrated_devices({test::nominal_rates(name, device)}, {}, options);
    return environment_of(*context.impl(), device);
}

TEST(Fingerprint, ADeviceIsNamedWithoutTheCpu) {
    const std::string library = "cairn " + std::string(version()) + " | cuda | ";
    const std::string hard = of_device({}, "H100 | driver 13.0 | NVRTC 13.0").hard;
    EXPECT_EQ(hard, library + "H100 | driver 13.0 | NVRTC 13.0");
    EXPECT_EQ(of_device({}, "").hard, library + "private memory") << "rates without a name: what the device says";
    EXPECT_EQ(of_device({.threads = 3, .features = levels::baseline}, "H100 | driver 13.0 | NVRTC 13.0").hard, hard)
        << "threads and features of the CPU are no part of it";
    EXPECT_EQ(of_device({}, "H100 | driver 13.0 | NVRTC 13.0", Device::cuda(1)).hard, hard) << "an equal card";
    ContextOptions built;
    built.extra.build = "mine 7";
    EXPECT_EQ(of_device(built, "H100").hard, library + "H100 | mine 7") << "the program may have kernels for it";
}

TEST(Fingerprint, AnotherDriverLeavesTheCpuAsItIs) {
    const auto cpu_beside = [](const std::string& name) {
        const Context context = test::with_calibrated_devices({test::nominal_rates(name)}, {});
        return environment_of(*context.impl()).hard;
    };
    EXPECT_EQ(cpu_beside("H100 | driver 13.0"), of().hard);
    EXPECT_EQ(cpu_beside("H100 | driver 13.1"), of().hard);
}

TEST(Fingerprint, CopiesDependOnTheHostAndItsLink) {
    const auto link = [](int threads, Device device) {
        const Context context =
            test::with_calibrated_devices({test::nominal_rates("H100", device)}, {}, {.threads = threads});
        return link_environment_of(*context.impl(), device).hard;
    };
    const device::CpuInfo cpu = device::cpu_info();
    EXPECT_THAT(link(1, Device::cuda()), testing::StartsWith(of_device({}, "H100").hard + " | link of cuda to "));
    EXPECT_THAT(link(1, Device::cuda()),
                testing::EndsWith("model " + std::to_string(cpu.model) + " stepping " + std::to_string(cpu.stepping)));
    EXPECT_EQ(link(2, Device::cuda()), link(1, Device::cuda())) << "not on threads";
    EXPECT_NE(link(1, Device::cuda(1)), link(1, Device::cuda())) << "it may be attached elsewhere";
}

TEST(Fingerprint, ProgramsOfSeveralDevicesDependOnAll) {
    const Context context = test::with_calibrated_devices(
        {test::nominal_rates("H100"), test::nominal_rates("A100", Device::cuda(1))}, {}, {.threads = 2});
    const Context::Impl& impl = *context.impl();
    EXPECT_EQ(program_environment_of(impl).hard,
              of_device({}, "H100").hard + " and " + of_device({}, "A100").hard + " beside " + of({.threads = 2}).hard);
    EXPECT_EQ(program_environment_of(*Context().impl()).hard, of().hard);
    EXPECT_EQ(policy_of(impl, Device::cpu).threads, 2);
    EXPECT_EQ(policy_of(impl, Device::cuda()).threads, 2) << "of its backend";
    std::vector<std::string> all;
    for (const TimingEnvironment& each : timing_environments(context)) all.push_back(each.hard);
    EXPECT_THAT(
        all, testing::ElementsAre(of({.threads = 2}).hard, of_device({}, "H100").hard,
                                  link_environment_of(impl, Device::cuda()).hard, of_device({}, "A100").hard,
                                  link_environment_of(impl, Device::cuda(1)).hard, program_environment_of(impl).hard));
    EXPECT_EQ(timing_environment(context, Device::cuda(1)).hard, of_device({}, "A100").hard);
    EXPECT_THROW(timing_environment(context, Device::cuda(2)), Error);
    EXPECT_EQ(timing_environments(Context()).size(), 1U);
}

TEST(Fingerprint, DistinguishesBuilds) {
    using namespace kernels::cpu;
    EXPECT_THAT(plain_build(), testing::MatchesRegex("(gcc|clang) [0-9].*, ndebug,.* -O2.*, eigen 3[.].*"));
    EXPECT_THAT(slower_build(), HasSubstr(" -O1"));
    EXPECT_NE(slower_build(), plain_build());
    EXPECT_THAT(checked_build(), HasSubstr(", assertions,"));
    EXPECT_NE(checked_build(), plain_build());
    EXPECT_EQ(plain_build().find("-W"), std::string::npos) << "warnings change no code";
    EXPECT_EQ(plain_build().find("-g1"), std::string::npos);
}

TEST(Fingerprint, IncludesTheBuildOfCustomKernels) {
    ContextOptions options;
    options.extra.build = "mine 7";
    EXPECT_THAT(of(options).hard, HasSubstr("| mine 7; " + kernels::cpu::build_info()));
}

// Two CPUs of a mask may share a core, a cache or nothing; a single CPU differs from two.
TEST(Fingerprint, DependsOnTheAffinityMask) {
    const std::vector<int> cpus = device::affinity_mask();
    const std::string all = of().hard;
    std::string one;
    std::thread([&] {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(static_cast<std::size_t>(cpus.front()), &set);
        ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
        one = of().hard;
    }).join();
    EXPECT_EQ(one == all, cpus.size() == 1);
}

// Everything that changes times is part of the key of rows.
TEST(Fingerprint, EveryPartIsInTheKey) {
    const auto key = [](const ContextOptions& options, const std::string& kernel, const TimingPolicy& policy) {
        return Key{to_string(test::problem()), kernel, of(options).hard, {}, policy_text(policy)}.id();
    };
    ContextOptions built;
    built.extra.build = "-O1";
    const std::string plain = key({}, "k@1", {});
    EXPECT_EQ(key({}, "k@1", {}), plain);
    EXPECT_NE(key(built, "k@1", {}), plain) << "flags";
    EXPECT_NE(key({.threads = 2}, "k@1", {}), plain) << "threads";
    EXPECT_NE(key({}, "k@2", {}), plain) << "the kernel's version";
    EXPECT_NE(key({}, "k@1", {.threads = 2}), plain);
    Kernel set;
    set.id = "k@1";
    set.knobs = {{"depth", {2, 1}}, {"ahead", {4, 8, 16}}};
    std::set<std::string> keys;
    for (const Kernel& setting : all_settings(set)) keys.insert(key({}, setting.id, {}));
    EXPECT_EQ(keys.size(), 6u) << "every knob";
    EXPECT_TRUE(keys.contains(plain)) << "what was stored before there were knobs";
    EXPECT_NE(key({}, "k@1", {.cold = false}), plain);
    EXPECT_NE(key({}, "k@1", {.inputs = "ones"}), plain);
}

TEST(Fingerprint, IsReturnedByTimingEnvironment) {
    const Context context({.threads = 2});
    const TimingEnvironment returned = timing_environment(context), own = environment_of(*context.impl());
    EXPECT_EQ(returned.hard, own.hard);
    EXPECT_EQ(returned.soft, own.soft);
}

TEST(Fingerprint, OtherPropertiesAreRecordedWithoutEffect) {
    EXPECT_THAT(of().soft, testing::MatchesRegex(".+ .+ [|] governor .+ [|] microcode .+ [|] huge pages .+ [|] .+"));
    EXPECT_EQ(of({.threads = 2}).soft, of().soft);
}

}  // namespace
}  // namespace cairn::autotune
