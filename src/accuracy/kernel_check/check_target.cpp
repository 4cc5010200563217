#include "accuracy/kernel_check/check_target.hpp"

#include "device/cpu/cpu_backend.hpp"

namespace cairn::kernel_check {

CheckTarget::CheckTarget(int max_threads) {
    for (int threads = 1; threads <= max_threads; ++threads) {
        cpus_.push_back(device::cpu_backend(threads));
        runners_.push_back(std::make_unique<KernelRunner>(*cpus_.back()));
    }
}

CheckTarget::CheckTarget(device::Backend& backend) { runners_.push_back(std::make_unique<KernelRunner>(backend)); }

}  // namespace cairn::kernel_check
