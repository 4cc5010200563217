#include "tests/device/cuda/stand_in_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace cairn::device::cuda {

StandInMemory::~StandInMemory() {
    while (!device_.empty()) free(reinterpret_cast<DeviceAddress>(device_.begin()->first));
    while (!pinned_.empty()) unpin(pinned_.begin()->first);
}

DeviceAddress StandInMemory::allocate(std::size_t bytes) {
    if (bytes > free_bytes()) return 0;
    const int file = memfd_create("device", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) throw std::bad_alloc();
    // One byte more, so that the address of the end belongs to no other memory.
    void* const base = mmap(nullptr, bytes + 1, PROT_NONE, MAP_SHARED, file, 0);
    void* const alias = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (base == MAP_FAILED || alias == MAP_FAILED) throw std::bad_alloc();
    std::memset(alias, 0xCD, bytes);
    device_[static_cast<std::byte*>(base)] = {bytes, static_cast<std::byte*>(alias)};
    used_ += bytes;
    ++version_;
    return reinterpret_cast<DeviceAddress>(base);
}

bool StandInMemory::free(DeviceAddress address) {
    const auto found = device_.find(reinterpret_cast<std::byte*>(address));
    if (found == device_.end()) return false;
    munmap(found->first, found->second.bytes + 1);
    munmap(found->second.alias, found->second.bytes);
    used_ -= found->second.bytes;
    device_.erase(found);
    ++version_;
    return true;
}

void* StandInMemory::pin(std::size_t bytes) {
    auto* const data = static_cast<std::byte*>(std::malloc(bytes));
    if (data == nullptr) throw std::bad_alloc();
    pinned_[data] = {bytes, data};
    ++version_;
    return data;
}

bool StandInMemory::unpin(void* address) {
    if (pinned_.erase(static_cast<std::byte*>(address)) == 0) return false;
    std::free(address);
    ++version_;
    return true;
}

std::vector<std::pair<const std::byte*, std::size_t>> StandInMemory::ranges() const {
    std::vector<std::pair<const std::byte*, std::size_t>> found;
    for (const Ranges* const ranges : {&device_, &pinned_})
        for (const auto& [address, range] : *ranges) found.emplace_back(range.alias, range.bytes);
    return found;
}

std::byte* StandInMemory::find(const Ranges& ranges, const void* address, std::size_t bytes) {
    auto* const at = static_cast<std::byte*>(const_cast<void*>(address));
    const auto after = ranges.upper_bound(at);
    if (after == ranges.begin()) return nullptr;
    const auto& [base, range] = *std::prev(after);
    const auto offset = static_cast<std::size_t>(at - base);
    return offset <= range.bytes && bytes <= range.bytes - offset ? range.alias + offset : nullptr;
}

std::byte* StandInMemory::host(const void* address, std::size_t bytes) const {
    std::byte* const found = find(device_, address, bytes);
    return found != nullptr ? found : find(pinned_, address, bytes);
}

std::byte* StandInMemory::device(DeviceAddress address, std::size_t bytes) const {
    return find(device_, reinterpret_cast<const void*>(address), bytes);
}

bool StandInMemory::is_pinned(const void* address) const { return find(pinned_, address, 1) != nullptr; }

std::vector<std::string> StandInMemory::allocations() const {
    std::vector<std::string> lines;
    for (const auto& [base, range] : device_) lines.push_back(std::to_string(range.bytes) + " bytes of device memory");
    for (const auto& [base, range] : pinned_) lines.push_back(std::to_string(range.bytes) + " bytes of pinned memory");
    return lines;
}

}  // namespace cairn::device::cuda
