#include "apps/cli/machine_diagnostics.hpp"

#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace cairn::cli {
namespace {

/// Files of a fake system.
class MachineDiagnostics : public testing::Test {
protected:
    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((temp / path).parent_path());
        std::ofstream(temp / path) << text << '\n';
    }
    MachineDiagnostic fact(const std::string& name) const {
        for (const MachineDiagnostic& each : machine_diagnostics(temp / ""))
            if (each.name == name) return each;
        ADD_FAILURE() << name;
        return {};
    }
    test::TempFolder temp;
};

TEST_F(MachineDiagnostics, UnreportedFactsAreUnknown) {
    for (const char* name : {"governor", "turbo", "huge pages"}) {
        EXPECT_EQ(fact(name).value, "unknown");
        EXPECT_EQ(fact(name).advice, "");
    }
}

TEST_F(MachineDiagnostics, Governor) {
    write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave");
    EXPECT_EQ(fact("governor").value, "powersave");
    EXPECT_THAT(fact("governor").advice, testing::HasSubstr("performance"));
    write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance");
    EXPECT_EQ(fact("governor").advice, "");
}

TEST_F(MachineDiagnostics, Turbo) {
    write("sys/devices/system/cpu/cpufreq/boost", "1");
    EXPECT_EQ(fact("turbo").value, "on");
    EXPECT_NE(fact("turbo").advice, "");
    write("sys/devices/system/cpu/intel_pstate/no_turbo", "1");
    EXPECT_EQ(fact("turbo").value, "off");
    EXPECT_EQ(fact("turbo").advice, "");
}

TEST_F(MachineDiagnostics, HugePages) {
    write("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]");
    EXPECT_EQ(fact("huge pages").value, "never");
    EXPECT_NE(fact("huge pages").advice, "");
    write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
    EXPECT_EQ(fact("huge pages").value, "madvise");
    EXPECT_EQ(fact("huge pages").advice, "");
}

TEST_F(MachineDiagnostics, Quota) {
    EXPECT_EQ(quota_diagnostic(std::nullopt).value, "none");
    EXPECT_EQ(quota_diagnostic(std::nullopt).advice, "");
    EXPECT_EQ(quota_diagnostic(1.5).value, "1.5 CPUs");
    EXPECT_THAT(quota_diagnostic(1.5).advice, testing::HasSubstr("no more threads"));
}

}  // namespace
}  // namespace cairn::cli
