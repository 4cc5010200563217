#include "runtime/kernel_cache_folder.hpp"

#include "cairn/error.hpp"
#include "runtime/file_io.hpp"
#include "runtime/kernel_binary_text.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>
#include <vector>

namespace cairn::runtime {

std::shared_ptr<const device::KernelBinary> KernelCacheFolder::find(const std::string& key) {
    const std::filesystem::path file = file_of(key);
    std::error_code fault;
    if (!std::filesystem::is_regular_file(file, fault)) return nullptr;
    ParsedBinaries parsed;
    try {
        parsed = parse_kernel_binaries(read_file(file, "kernel cache", "the code"));
    } catch (const Error&) { return nullptr; }  // removed meanwhile, or not readable: it is written anew
    if (parsed.is_damaged || parsed.binaries.size() != 1) return nullptr;
    const bool is_named_so = parsed.binaries[0]->keys == std::vector<std::string>{key};
    return is_named_so ? std::move(parsed.binaries[0]) : nullptr;
}

void KernelCacheFolder::store(const device::KernelBinary& binary) {
    if (binary.keys.size() != 1) return;
    try {
        // Without waiting for the disk: a file that a crash leaves incomplete has a wrong digest.
        write_file(file_of(binary.keys[0]), to_string(binary), "kernel cache", Durability::none);
    } catch (const Error& error) {
        if (is_failure_logged_.exchange(true) || !log_) return;
        log_(LogLevel::warning, fmt::format("compiled kernels are not kept: {}", error.what()));
    }
}

}  // namespace cairn::runtime
