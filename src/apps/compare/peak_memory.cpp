#include "apps/compare/peak_memory.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace cairn::compare {
namespace {

namespace fs = std::filesystem;

/// An entry in kB of a status file, in bytes.
std::optional<double> status_entry(const fs::path& process, std::string_view key) {
    std::ifstream file(process / "status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(key)) return 1024 * std::strtod(line.c_str() + key.size(), nullptr);
    return {};
}

/// The group of a process, the third word behind its name in brackets; 0 if it has ended.
int group_of(const fs::path& process) {
    std::ifstream file(process / "stat");
    std::string line;
    std::getline(file, line);
    const std::size_t end = line.rfind(')');
    if (end == line.npos) return 0;
    std::istringstream words(line.substr(end + 1));
    std::string state;
    int parent = 0, group = 0;
    words >> state >> parent >> group;
    return words ? group : 0;
}

const fs::path self = "/proc/self";

}  // namespace

std::optional<double> resident_bytes() { return status_entry(self, "VmRSS:"); }
std::optional<double> peak_resident_bytes() { return status_entry(self, "VmHWM:"); }
void reset_peak() { std::ofstream(self / "clear_refs") << 5; }

std::optional<double> peak_bytes_of_group(int group) {
    std::optional<double> sum;
    std::error_code fault;
    for (fs::directory_iterator entry("/proc", fault), end; !fault && entry != end; entry.increment(fault)) {
        const std::string name = entry->path().filename().string();
        if (!std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; })) continue;
        if (group_of(entry->path()) != group) continue;
        if (const auto peak = status_entry(entry->path(), "VmHWM:")) sum = sum.value_or(0) + *peak;
    }
    return sum;
}

}  // namespace cairn::compare
