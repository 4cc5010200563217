#pragma once

#include "cairn/context.hpp"
#include "device/kernel_binary.hpp"

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

namespace cairn::runtime {

/// A kernel cache in a folder: a file for each kernel, named by its key, with a digest of its contents. Several
/// processes may use it at once. A file that is damaged, incomplete or named otherwise counts as missing, and is
/// replaced when its kernel is compiled. That a file cannot be written is logged once.
class KernelCacheFolder final : public device::KernelCache {
public:
    KernelCacheFolder(std::filesystem::path folder, LogSink log) : folder_(std::move(folder)), log_(std::move(log)) {}

    std::shared_ptr<const device::KernelBinary> find(const std::string& key) override;
    void store(const device::KernelBinary& binary) override;

private:
    std::filesystem::path file_of(const std::string& key) const { return folder_ / (key + ".code"); }

    std::filesystem::path folder_;
    LogSink log_;
    std::atomic<bool> is_failure_logged_ = false;
};

}  // namespace cairn::runtime
