#include "device/cpu/cpu_info.hpp"

#include "device/cpu/cpu_features.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cairn::device {
namespace {

// `  AMD   EPYC ` -> `AMD EPYC`
std::string squeezed(const std::string& text) {
    std::istringstream words(text);
    std::string out;
    for (std::string word; words >> word;) out += (out.empty() ? "" : " ") + word;
    return out;
}

void note_cache(CpuInfo& info, int level, bool holds_data, std::int64_t bytes) {
    if (!holds_data || bytes <= 0) return;
    if (level == 1) info.l1d_bytes = std::max(info.l1d_bytes, bytes);
    if (level == 2) info.l2_bytes = std::max(info.l2_bytes, bytes);
    if (level == 3) info.l3_bytes = std::max(info.l3_bytes, bytes);
}

#if defined(__x86_64__)

void read_identity(CpuInfo& info) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0, &a, &b, &c, &d) == 0) return;
    char vendor[13] = {};
    std::memcpy(vendor, &b, 4);
    std::memcpy(vendor + 4, &d, 4);
    std::memcpy(vendor + 8, &c, 4);
    info.vendor = vendor;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) return;
    const int family = a >> 8 & 15;
    info.stepping = static_cast<int>(a & 15);
    info.family = family == 15 ? family + static_cast<int>(a >> 20 & 255) : family;
    info.model = static_cast<int>(a >> 4 & 15);
    if (family == 15 || family == 6) info.model += static_cast<int>(a >> 16 & 15) << 4;
}

void read_name(CpuInfo& info) {
    unsigned words[12] = {};
    for (unsigned i = 0; i < 3; ++i) {
        unsigned* const w = words + 4 * i;
        if (__get_cpuid(0x80000002 + i, w, w + 1, w + 2, w + 3) == 0) return;
    }
    char name[sizeof words + 1] = {};
    std::memcpy(name, words, sizeof words);
    info.name = squeezed(name);
}

// The deterministic cache leaf: 4 on Intel, 0x8000001d on AMD, in the same format.
void read_caches(CpuInfo& info) {
    const bool amd = info.vendor == "AuthenticAMD" || info.vendor == "HygonGenuine";
    for (unsigned i = 0; i < 32; ++i) {
        unsigned a = 0, b = 0, c = 0, d = 0;
        if (__get_cpuid_count(amd ? 0x8000001d : 4, i, &a, &b, &c, &d) == 0) return;
        const unsigned type = a & 31;  // 0 no more, 1 data, 2 instruction, 3 both
        if (type == 0) return;
        const std::int64_t ways = (b >> 22) + 1, partitions = (b >> 12 & 1023) + 1, line = (b & 4095) + 1;
        note_cache(info, static_cast<int>(a >> 5 & 7), type != 2, ways * partitions * line * (std::int64_t{c} + 1));
    }
}

#else

void read_identity(CpuInfo&) {}
void read_caches(CpuInfo&) {}
void read_name(CpuInfo& info) {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
            info.name = squeezed(line.substr(colon + 1));
            return;
        }
    }
}

#endif

// Reads the caches of the first CPU from sysfs: `level` 2, `type` Unified, `size` 1024K.
void read_system_caches(CpuInfo& info) {
    for (int i = 0; i < 16; ++i) {
        const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i);
        std::ifstream level_file(folder + "/level"), type_file(folder + "/type"), size_file(folder + "/size");
        int level = 0;
        std::string type;
        std::int64_t size = 0;
        if (!(level_file >> level) || !(type_file >> type) || !(size_file >> size)) return;
        char unit = 0;
        if (size_file >> unit) size *= unit == 'K' ? 1 << 10 : unit == 'M' ? 1 << 20 : 1;
        note_cache(info, level, type != "Instruction", size);
    }
}

}  // namespace

CpuInfo cpu_info() {
    CpuInfo info;
    info.features = detect_features();
    read_identity(info);
    read_name(info);
    read_caches(info);
    if (info.l1d_bytes == 0 && info.l2_bytes == 0) read_system_caches(info);
    return info;
}

}  // namespace cairn::device
