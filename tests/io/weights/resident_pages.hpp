#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace cairn::test {

/// Number of pages of these bytes that are in this process's memory.
inline std::size_t resident_pages(const void* data, std::size_t bytes) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(data), first = begin / page,
               last = (begin + bytes + page - 1) / page;
    std::FILE* map = std::fopen("/proc/self/pagemap", "rb");
    std::size_t count = 0;
    for (auto number = first; map != nullptr && number < last; ++number) {
        std::uint64_t entry = 0;
        std::fseek(map, static_cast<long>(number * sizeof entry), SEEK_SET);
        if (std::fread(&entry, sizeof entry, 1, map) == 1 && (entry >> 63) != 0) ++count;
    }
    if (map != nullptr) std::fclose(map);
    return count;
}

}  // namespace cairn::test
