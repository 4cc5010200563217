#include "device/cuda/kernel_resources.hpp"

#include <algorithm>
#include <charconv>

namespace cairn::device::cuda {
namespace {

/// The number that ends just before `unit`, as 256 in `used 1 barriers, 256 bytes smem`; 0 if there is none.
std::int64_t number_before(std::string_view line, std::string_view unit) {
    const auto end = line.find(unit);
    if (end == std::string_view::npos) return 0;
    const auto last_other = line.substr(0, end).find_last_not_of("0123456789");
    const auto begin = last_other == std::string_view::npos ? 0 : last_other + 1;
    std::int64_t number = 0;
    std::from_chars(line.data() + begin, line.data() + end, number);
    return number;
}

/// The text between `before` and `after`; empty if the line lacks either.
std::string_view between(std::string_view line, std::string_view before, std::string_view after) {
    const auto at = line.find(before);
    if (at == std::string_view::npos) return {};
    const auto begin = at + before.size();
    const auto end = line.find(after, begin);
    return end == std::string_view::npos ? std::string_view() : line.substr(begin, end - begin);
}

}  // namespace

std::vector<KernelResources> kernel_resources(std::string_view log) {
    std::vector<KernelResources> kernels;
    while (!log.empty()) {
        const auto end = std::min(log.find('\n'), log.size());
        const std::string_view line = log.substr(0, end);
        log.remove_prefix(std::min(end + 1, log.size()));
        if (const std::string_view entry = between(line, "Compiling entry function '", "'"); !entry.empty()) {
            kernels.emplace_back().entry = entry;
            continue;
        }
        if (kernels.empty()) continue;
        KernelResources& kernel = kernels.back();
        kernel.spill_store_bytes += number_before(line, " bytes spill stores");
        kernel.spill_load_bytes += number_before(line, " bytes spill loads");
        kernel.stack_bytes = std::max({kernel.stack_bytes, number_before(line, " bytes stack frame"),
                                       number_before(line, " bytes cumulative stack size")});
        kernel.registers = std::max(kernel.registers, number_before(line, " registers"));
        kernel.barriers = std::max(kernel.barriers, number_before(line, " barriers"));
        kernel.shared_bytes = std::max(kernel.shared_bytes, number_before(line, " bytes smem"));
    }
    return kernels;
}

}  // namespace cairn::device::cuda
