#pragma once

#include "device/cuda/driver_types.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cairn::device::cuda {

/// Device memory and pinned host memory of the stand-in driver. Device memory is mapped twice: its addresses have no
/// permission at all, and what runs on the device uses the second mapping. It is full of 0xCD when it is allocated.
class StandInMemory {
public:
    explicit StandInMemory(std::size_t bytes) : capacity_(bytes) {}
    ~StandInMemory();
    StandInMemory(const StandInMemory&) = delete;
    StandInMemory& operator=(const StandInMemory&) = delete;

    DeviceAddress allocate(std::size_t bytes);  ///< 0: out of memory
    bool free(DeviceAddress address);           ///< false: there is no such allocation
    void* pin(std::size_t bytes);
    bool unpin(void* address);

    /// Where the host can access bytes of device memory or pinned memory; null if they are not within one allocation.
    std::byte* host(const void* address, std::size_t bytes = 0) const;
    std::byte* device(DeviceAddress address, std::size_t bytes) const;  ///< of device memory alone
    bool is_pinned(const void* address) const;
    std::size_t capacity() const noexcept { return capacity_; }
    std::size_t free_bytes() const noexcept { return capacity_ - used_; }
    /// Where the host can access what is allocated, on the device and pinned, and its bytes.
    std::vector<std::pair<const std::byte*, std::size_t>> ranges() const;
    /// Changes with each allocation and each one that is freed.
    std::uint64_t version() const noexcept { return version_; }
    /// A line for each allocation.
    std::vector<std::string> allocations() const;

private:
    struct Range {
        std::size_t bytes;
        std::byte* alias;
    };
    using Ranges = std::map<std::byte*, Range>;
    static std::byte* find(const Ranges& ranges, const void* address, std::size_t bytes);

    std::size_t capacity_, used_ = 0;
    std::uint64_t version_ = 0;
    Ranges device_, pinned_;
};

}  // namespace cairn::device::cuda
