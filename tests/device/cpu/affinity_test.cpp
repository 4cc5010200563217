#include "device/cpu/affinity.hpp"

#include "tests/device/cpu/own_files.hpp"

#include <gtest/gtest.h>

#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace cairn::device {
namespace {

class Quota : public OwnFiles {
protected:
    std::optional<double> quota() const { return cgroup_quota(root_.string()); }
};

TEST_F(Quota, NothingToRead) { EXPECT_EQ(quota(), std::nullopt); }

TEST_F(Quota, UnifiedInANamespace) {
    unified("/");
    EXPECT_EQ(quota(), std::nullopt);
    write("/sys/fs/cgroup/cpu.max", "max 100000\n");
    EXPECT_EQ(quota(), std::nullopt);
    write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
    EXPECT_EQ(quota(), 1.5);
}

TEST_F(Quota, UnifiedUsesTheLowestQuotaOfAllParents) {
    unified("/a/b");
    write("/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
    EXPECT_EQ(quota(), 4.0);
    write("/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
    EXPECT_EQ(quota(), 2.0);
    write("/sys/fs/cgroup/cpu.max", "300000 100000\n");
    EXPECT_EQ(quota(), 2.0);
}

TEST_F(Quota, VersionOneWithTheContainerAsMountRoot) {
    write("/proc/self/cgroup", "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x/job\n0::/\n");
    write("/proc/self/mountinfo",
          "34 31 0:29 /docker/x /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
          "35 31 0:30 /docker/x /cg/cpuset rw - cgroup cgroup rw,cpuset\n");
    write("/cg/cpu/job/cpu.cfs_period_us", "50000\n");
    write("/cg/cpu/job/cpu.cfs_quota_us", "-1\n");
    EXPECT_EQ(quota(), std::nullopt);
    write("/cg/cpu/job/cpu.cfs_quota_us", "125000\n");
    EXPECT_EQ(quota(), 2.5);
    write("/cg/cpu/cpu.cfs_period_us", "100000\n");
    write("/cg/cpu/cpu.cfs_quota_us", "100000\n");
    EXPECT_EQ(quota(), 1.0);
}

TEST_F(Quota, InvalidText) {
    unified("/../../elsewhere");
    write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
    EXPECT_EQ(quota(), std::nullopt);
    for (const char* text : {"", "x y\n", "0 0\n", "-5 100000\n", "100000\n", "1e999 1\n"}) {
        unified("/");
        write("/sys/fs/cgroup/cpu.max", text);
        EXPECT_EQ(quota(), std::nullopt) << text;
    }
    write("/proc/self/mountinfo", "- \n - cgroup2\n1 2 3 / /sys/fs/cgroup\n\n");
    EXPECT_EQ(quota(), std::nullopt);
    write("/proc/self/cgroup", "\n:\n::\nnonsense\n");
    EXPECT_EQ(quota(), std::nullopt);
}

TEST(Affinity, UsableCpusAreThoseOfTheMask) {
    EXPECT_GE(usable_cpus(), 1);
    EXPECT_LE(usable_cpus(), affinity_cpus());
}

#if defined(__linux__)
TEST(Affinity, FollowsTheMask) {
    std::thread([] {
        cpu_set_t mask;
        ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
        int first = 0;
        while (!CPU_ISSET(first, &mask)) ++first;
        CPU_ZERO(&mask);
        CPU_SET(first, &mask);
        ASSERT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);  // of this thread alone
        EXPECT_EQ(affinity_cpus(), 1);
        EXPECT_EQ(usable_cpus(), 1);
    }).join();
}
#endif

}  // namespace
}  // namespace cairn::device
