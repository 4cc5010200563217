#include "device/cpu/topology.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace cairn::device {
namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// `0-2,8` -> 0 1 2 8
std::vector<int> parse_list(std::string_view list) {
    std::vector<int> numbers;
    const auto number = [&](int& value) {
        const auto [end, fault] = std::from_chars(list.data(), list.data() + list.size(), value);
        list.remove_prefix(static_cast<std::size_t>(end - list.data()));
        return fault == std::errc();
    };
    for (int from = 0, to = 0; number(from);) {
        to = from;
        if (list.starts_with('-')) {
            list.remove_prefix(1);
            if (!number(to)) break;
        }
        for (int cpu = from; cpu <= to; ++cpu) numbers.push_back(cpu);
        if (!list.starts_with(',')) break;
        list.remove_prefix(1);
    }
    return numbers;
}

/// CPUs grouped by what they share; a group is identified by its first CPU.
class Groups {
public:
    bool knows(int cpu) const { return first_.contains(cpu); }
    void add(int cpu, const std::vector<int>& sharing) {
        const int first = sharing.empty() ? cpu : sharing.front();
        first_[cpu] = first;
        for (const int other : sharing) first_[other] = first;
    }
    int of(int cpu) const { return first_.at(cpu); }

private:
    std::map<int, int> first_;
};

/// `2 2 1` -> `2x2 1`
std::string counted(std::vector<std::string> parts) {
    std::sort(parts.begin(), parts.end(), std::greater<>());
    std::string text;
    for (std::size_t i = 0, next = 0; i < parts.size(); i = next) {
        while (next < parts.size() && parts[next] == parts[i]) ++next;
        text += text.empty() ? "" : " ";
        text += next - i > 1 ? std::to_string(next - i) + "x" + parts[i] : parts[i];
    }
    return text;
}

struct Machine {
    Groups cores, second, last;
    std::set<int> slow;
    std::map<int, std::string> capacity;

    Machine(std::span<const int> cpus, const std::string& root) {
        for (const int cpu : parse_list(first_line(root + "/sys/devices/cpu_atom/cpus"))) slow.insert(cpu);
        for (const int cpu : cpus) {
            const std::string folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
            capacity[cpu] = first_line(folder + "/cpu_capacity");
            if (!cores.knows(cpu)) cores.add(cpu, parse_list(first_line(folder + "/topology/thread_siblings_list")));
            if (!second.knows(cpu) || !last.knows(cpu)) read_caches(cpu, folder);
        }
    }
    void read_caches(int cpu, const std::string& folder) {
        std::map<std::string, std::vector<int>> sharing;  // by level
        for (int i = 0; i < 16; ++i) {
            const std::string index = folder + "/cache/index" + std::to_string(i);
            const std::string level = first_line(index + "/level");
            if (level.empty()) break;
            if (first_line(index + "/type") != "Instruction")
                sharing[level] = parse_list(first_line(index + "/shared_cpu_list"));
        }
        if (!second.knows(cpu)) second.add(cpu, sharing["2"]);
        if (!last.knows(cpu)) last.add(cpu, sharing.contains("3") ? sharing["3"] : sharing["2"]);
    }
    std::string kind(int cpu) const { return (slow.contains(cpu) ? "slow" : "") + capacity.at(cpu); }
};

}  // namespace

std::string topology_of(std::span<const int> cpus, const std::string& root) {
    const Machine machine(cpus, root);
    std::map<int, std::map<int, std::map<int, std::vector<int>>>> groups;
    for (const int cpu : cpus)
        groups[machine.last.of(cpu)][machine.second.of(cpu)][machine.cores.of(cpu)].push_back(cpu);
    std::vector<std::string> all;
    for (const auto& [first_of_last, seconds] : groups) {
        std::vector<std::string> in_last;
        for (const auto& [first_of_second, cores] : seconds) {
            std::vector<std::string> in_second;
            for (const auto& [first, threads] : cores)
                in_second.push_back(std::to_string(threads.size()) + machine.kind(threads.front()));
            in_last.push_back("(" + counted(std::move(in_second)) + ")");
        }
        all.push_back("[" + counted(std::move(in_last)) + "]");
    }
    return all.empty() ? "unknown" : counted(std::move(all));
}

}  // namespace cairn::device
