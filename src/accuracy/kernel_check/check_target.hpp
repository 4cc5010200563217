#pragma once

#include "accuracy/kernel_check/kernel_runner.hpp"
#include "device/backend.hpp"

#include <memory>
#include <vector>

namespace cairn::kernel_check {

/// What a kernel is checked on: the CPU with one to several threads, or a device that compiles its kernels.
class CheckTarget {
public:
    /// The CPU, with 1, 2, .. max_threads threads of its own.
    explicit CheckTarget(int max_threads);
    /// A device, which must outlive it.
    explicit CheckTarget(device::Backend& backend);

    bool is_cpu() const noexcept { return !cpus_.empty(); }
    int max_threads() const noexcept { return static_cast<int>(runners_.size()); }
    /// Runs kernels with this number of threads.
    KernelRunner& runner(int threads) const { return *runners_[static_cast<std::size_t>(threads - 1)]; }
    device::Backend& backend() const { return runners_.front()->backend(); }

private:
    std::vector<std::unique_ptr<device::CpuBackend>> cpus_;
    std::vector<std::unique_ptr<KernelRunner>> runners_;
};

}  // namespace cairn::kernel_check
