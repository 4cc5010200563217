#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>

namespace cairn::device::cuda {

/// The allocations on a device, by address. Thread-safe.
class AddressRanges {
public:
    void add(const std::byte* begin, std::size_t bytes) {
        const std::scoped_lock lock(mutex_);
        ranges_[begin] = bytes;
    }
    void remove(const std::byte* begin) noexcept {
        const std::scoped_lock lock(mutex_);
        ranges_.erase(begin);
    }
    /// The beginning of the allocation that holds all the bytes; null if none does. Its end is the address of an
    /// operand without elements.
    const std::byte* find(const void* address, std::size_t bytes = 0) const noexcept {
        const std::scoped_lock lock(mutex_);
        const auto* const at = static_cast<const std::byte*>(address);
        const auto after = ranges_.upper_bound(at);
        if (after == ranges_.begin()) return nullptr;
        const auto& [begin, size] = *std::prev(after);
        const auto offset = static_cast<std::size_t>(at - begin);
        return offset <= size && bytes <= size - offset ? begin : nullptr;
    }
    /// True if one allocation holds all the bytes.
    bool contains(const void* address, std::size_t bytes = 0) const noexcept { return find(address, bytes) != nullptr; }

private:
    mutable std::mutex mutex_;
    std::map<const std::byte*, std::size_t, std::less<>> ranges_;
};

}  // namespace cairn::device::cuda
