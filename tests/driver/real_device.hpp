#pragma once

#include "cairn/context.hpp"
#include "device/cuda/driver_table.hpp"
#include "device/kernel_binary.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cairn::test {

/// The first GPU, as EmulatedDevice is used.
class RealDevice {
public:
    static constexpr std::uint64_t random_graphs = 100;
    static constexpr int text_tokens = 100;

    /// A Context with the GPU, at rates that make it faster than the CPU in everything, and with up to 8 threads, which
    /// compile kernels. They share what they compile: one test compiles the kernels of a model.
    Context context(ContextOptions options = {}) const;
    /// The same with these options as they are, without kernels of other Contexts, as in a process of its own. With
    /// a folder of CUDA's libraries it has their NVRTC, or none.
    Context process_context(ContextOptions options = {}) const;
    /// Kernels that this process has launched, alone or in graphs, and graphs.
    std::int64_t launches() const;
    std::int64_t graph_launches() const;
    std::vector<std::string> faults() const { return {}; }
    /// For the host program's own use of the device.
    std::shared_ptr<const device::cuda::DriverTable> driver_table() const;

private:
    Context open(ContextOptions options, std::shared_ptr<device::KernelCache> cache) const;
};

}  // namespace cairn::test
