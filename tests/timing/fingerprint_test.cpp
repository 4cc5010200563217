#include "timing/fingerprint.hpp"

#include "cairn/tuning.hpp"
#include "device/cpu/affinity.hpp"
#include "device/cpu/cpu_info.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn::timing {
namespace {

using testing::HasSubstr;

TimingEnvironment of(ContextOptions options = {}) { return environment_of(*Context(std::move(options)).parts()); }

TEST(Fingerprint, IsTheSameForTheSameContext) {
    EXPECT_EQ(of().hard, of().hard);
    EXPECT_EQ(of({.timing_db = {}, .log = [](LogLevel, std::string_view) {}}).hard, of().hard);
}

TEST(Fingerprint, NamesWhatChangesTimes) {
    const std::string hard = of({.threads = 3}).hard;
    const device::CpuInfo cpu = device::cpu_info();
    EXPECT_THAT(hard, HasSubstr("cairn " + std::string(version())));
    EXPECT_THAT(hard, HasSubstr("model " + std::to_string(cpu.model) + " stepping " + std::to_string(cpu.stepping)));
    EXPECT_THAT(hard, HasSubstr("L3 " + std::to_string(cpu.l3_bytes)));
    EXPECT_THAT(hard, HasSubstr("threads 3 cpus " + std::to_string(device::affinity_cpus())));
    EXPECT_THAT(hard, testing::Not(HasSubstr("|  |"))) << "what is not known is written as unknown";
}

TEST(Fingerprint, ThreadsAndTheLevelInUseTellContextsApart) {
    EXPECT_NE(of({.threads = 2}).hard, of().hard);
    EXPECT_THAT(of({.max_isa = Isa::baseline}).hard, HasSubstr("baseline of "));
    if (device::cpu_info().isa != Isa::baseline) { EXPECT_NE(of({.max_isa = Isa::baseline}).hard, of().hard); }
}

TEST(Fingerprint, IsWhatProgramsAskFor) {
    const Context context({.threads = 2});
    const TimingEnvironment asked = timing_environment(context), own = environment_of(*context.parts());
    EXPECT_EQ(asked.hard, own.hard);
    EXPECT_EQ(asked.soft, own.soft);
}

TEST(Fingerprint, TheRestIsForTheRecord) {
    EXPECT_THAT(of().soft, testing::MatchesRegex(".+ .+ [|] governor .+"));
    EXPECT_EQ(of({.threads = 2}).soft, of().soft);
}

}  // namespace
}  // namespace cairn::timing
