#include "device/cpu/topology.hpp"

#include "device/cpu/affinity.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace cairn::device {
namespace {

namespace fs = std::filesystem;

/// A fake machine: two dies of four cores, two threads a core (CPU c and c + 8), two cores to a second-level cache.
class Topology : public ::testing::Test {
protected:
    Topology()
        : root_(fs::path(CAIRN_BINARY_DIR) / "topology_test" /
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
        fs::remove_all(root_);
        for (int cpu = 0; cpu < 16; ++cpu) {
            const int core = cpu % 8, pair = core / 2 * 2, die = core / 4 * 4;
            write(cpu, "topology/thread_siblings_list", list(core, core) + "," + list(core + 8, core + 8));
            cache(cpu, 0, "1", "Data", list(core, core) + "," + list(core + 8, core + 8));
            cache(cpu, 1, "1", "Instruction", "0-15");
            cache(cpu, 2, "2", "Unified", list(pair, pair + 1) + "," + list(pair + 8, pair + 9));
            cache(cpu, 3, "3", "Unified", list(die, die + 3) + "," + list(die + 8, die + 11));
        }
    }
    ~Topology() override { fs::remove_all(root_); }
    static std::string list(int from, int to) { return std::to_string(from) + "-" + std::to_string(to); }
    void write_file(const std::string& path, const std::string& text) const {
        const fs::path file = root_.string() + path;
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text << "\n";
    }
    void write(int cpu, const std::string& name, const std::string& text) const {
        write_file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/" + name, text);
    }
    void cache(int cpu, int index, const std::string& level, const std::string& type, const std::string& cpus) const {
        const std::string folder = "cache/index" + std::to_string(index) + "/";
        write(cpu, folder + "level", level);
        write(cpu, folder + "type", type);
        write(cpu, folder + "shared_cpu_list", cpus);
    }
    std::string of(const std::vector<int>& cpus) const { return topology_of(cpus, root_.string()); }

    fs::path root_;
};

TEST_F(Topology, ReportsSharedCaches) {
    EXPECT_EQ(of({0}), "[(1)]");
    EXPECT_EQ(of({0, 8}), "[(2)]") << "one core";
    EXPECT_EQ(of({0, 1}), "[(2x1)]") << "a second-level cache";
    EXPECT_EQ(of({0, 2}), "[2x(1)]") << "a last-level cache";
    EXPECT_EQ(of({0, 4}), "2x[(1)]") << "nothing";
    EXPECT_EQ(of({0, 1, 2, 3, 4, 5, 6, 7}), "2x[2x(2x1)]");
    EXPECT_EQ(of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}), "2x[2x(2x2)]");
    EXPECT_EQ(of({0, 1, 2, 8}), "[(2 1) (1)]");
}

TEST_F(Topology, DoesNotDependOnCpuNumbers) {
    EXPECT_EQ(of({0, 8, 4}), of({3, 7, 15}));
    EXPECT_EQ(of({0, 1, 2}), of({4, 6, 7}));
}

TEST_F(Topology, DistinguishesCoreTypes) {
    write_file("/sys/devices/cpu_atom/cpus", "6-7,14-15");
    EXPECT_EQ(of({0, 6}), "[(1slow)] [(1)]");
    write(1, "cpu_capacity", "446");
    EXPECT_NE(of({0, 1}), of({2, 3}));
}

TEST_F(Topology, UnreportedCachesAreNotShared) {
    EXPECT_EQ(of({}), "unknown");
    EXPECT_EQ(of({30, 31}), "2x[(1)]");
    for (const int cpu : {0, 1}) {
        write(cpu, "topology/thread_siblings_list", "x");
        write(cpu, "cache/index2/shared_cpu_list", "-");
        write(cpu, "cache/index3/shared_cpu_list", "");
    }
    EXPECT_EQ(of({0, 1}), "2x[(1)]");
}

TEST(AffinityMask, IsTheMaskOfTheThread) {
    const std::vector<int> mask = affinity_mask();
    EXPECT_EQ(static_cast<int>(mask.size()), affinity_cpus());
    EXPECT_NE(topology_of(mask), "unknown");
}

}  // namespace
}  // namespace cairn::device
