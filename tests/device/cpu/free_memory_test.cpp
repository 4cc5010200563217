#include "device/cpu/free_memory.hpp"

#include "tests/device/cpu/own_files.hpp"

namespace cairn::device {
namespace {

class FreeMemory : public OwnFiles {
protected:
    std::optional<std::int64_t> bytes() const { return free_memory(root_.string()); }
};

TEST_F(FreeMemory, NothingToRead) { EXPECT_EQ(bytes(), std::nullopt); }

TEST_F(FreeMemory, IsTheAvailableMemoryOfTheSystem) {
    write("/proc/meminfo", "MemTotal:  2000 kB\nMemFree:   10 kB\nMemAvailable:  1000 kB\n");
    EXPECT_EQ(bytes(), 1000 * 1024);
}

TEST_F(FreeMemory, IsLimitedByEveryControlGroup) {
    write("/proc/meminfo", "MemAvailable:  1000 kB\n");
    unified("/a/b");
    write("/sys/fs/cgroup/a/b/memory.max", "max\n");
    write("/sys/fs/cgroup/a/b/memory.current", "5000\n");
    EXPECT_EQ(bytes(), 1000 * 1024);
    write("/sys/fs/cgroup/a/memory.max", "90000\n");
    write("/sys/fs/cgroup/a/memory.current", "50000\n");
    EXPECT_EQ(bytes(), 40000);
    write("/sys/fs/cgroup/a/memory.stat", "anon 30000\ninactive_file 20000\nactive_file 7\n");
    EXPECT_EQ(bytes(), 60000);
    write("/sys/fs/cgroup/a/memory.current", "100000\n");
    EXPECT_EQ(bytes(), 10000);
    write("/sys/fs/cgroup/a/memory.current", "200000\n");
    EXPECT_EQ(bytes(), 0);
}

TEST_F(FreeMemory, VersionOne) {
    write("/proc/self/cgroup", "5:memory:/x\n");
    write("/proc/self/mountinfo", "35 31 0:30 / /cg/memory rw - cgroup cgroup rw,memory\n");
    write("/cg/memory/x/memory.limit_in_bytes", "70000\n");
    write("/cg/memory/x/memory.usage_in_bytes", "30000\n");
    write("/cg/memory/x/memory.stat", "inactive_file 1\ntotal_inactive_file 500\n");
    EXPECT_EQ(bytes(), 40500);
}

TEST_F(FreeMemory, OfThisProcess) {
    const std::optional<std::int64_t> free_bytes = free_memory();
    if (free_bytes) { EXPECT_GT(*free_bytes, 0); }
}

}  // namespace
}  // namespace cairn::device
