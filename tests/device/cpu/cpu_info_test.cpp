#include "device/cpu/cpu_info.hpp"

#include "device/cpu/cpu_features.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace cairn::device {
namespace {

TEST(CpuInfo, IsConstant) {
    const CpuInfo a = cpu_info(), b = cpu_info();
    EXPECT_EQ(a.vendor, b.vendor);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.l2_bytes, b.l2_bytes);
    EXPECT_EQ(a.features, detect_features());
}

#if defined(__x86_64__) && defined(__linux__)
std::string system_value(const std::string& key) {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind(key + "\t", 0) == 0) return line.substr(std::min(line.find(':') + 2, line.size()));
    }
    return {};
}

TEST(CpuInfo, MatchesTheSystem) {
    const CpuInfo info = cpu_info();
    EXPECT_EQ(info.vendor, system_value("vendor_id"));
    EXPECT_EQ(info.name, system_value("model name"));
    EXPECT_EQ(std::to_string(info.family), system_value("cpu family"));
    EXPECT_EQ(std::to_string(info.model), system_value("model"));
    EXPECT_EQ(std::to_string(info.stepping), system_value("stepping"));
}

TEST(CpuInfo, CachesGrowWithTheLevel) {
    const CpuInfo info = cpu_info();
    EXPECT_GE(info.l1d_bytes, 8 << 10);
    EXPECT_LE(info.l1d_bytes, 1 << 20);
    EXPECT_GE(info.l2_bytes, info.l1d_bytes);
    EXPECT_TRUE(info.l3_bytes == 0 || info.l3_bytes >= info.l2_bytes);
}
#endif

}  // namespace
}  // namespace cairn::device
