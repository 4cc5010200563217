#pragma once

#include "cairn/types.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace cairn::types {

/// A value for each of a few devices, in the order of the devices.
template <typename T>
class PerDevice {
public:
    using Entry = std::pair<Device, T>;

    /// The value of a device; a default one is added if there is none.
    T& operator[](Device device) {
        const auto it = at_or_after(entries_, device);
        return it != entries_.end() && it->first == device ? it->second : entries_.insert(it, {device, T{}})->second;
    }
    /// The value of a device; null if there is none.
    const T* find(Device device) const noexcept {
        const auto it = at_or_after(entries_, device);
        return it != entries_.end() && it->first == device ? &it->second : nullptr;
    }
    T* find(Device device) noexcept { return const_cast<T*>(std::as_const(*this).find(device)); }
    /// The value of a device; a default one if there is none.
    T value_of(Device device) const {
        const T* const found = find(device);
        return found == nullptr ? T{} : *found;
    }

    auto begin() const noexcept { return entries_.begin(); }
    auto end() const noexcept { return entries_.end(); }
    auto begin() noexcept { return entries_.begin(); }
    auto end() noexcept { return entries_.end(); }
    std::size_t size() const noexcept { return entries_.size(); }

private:
    template <typename Entries>
    static auto at_or_after(Entries& entries, Device device) noexcept {
        return std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.first >= device; });
    }

    std::vector<Entry> entries_;
};

}  // namespace cairn::types
