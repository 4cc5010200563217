#pragma once

#include <memory>
#include <memory_resource>
#include <span>
#include <type_traits>

namespace cairn::types {

/// A copy of the list in the pool, valid as long as the pool.
template <typename T>
requires std::is_trivially_copyable_v<T> std::span<const T> copy_to_pool(std::span<const T> list,
                                                                         std::pmr::memory_resource& pool) {
    T* const copy = std::pmr::polymorphic_allocator<>(&pool).allocate_object<T>(list.size());
    std::uninitialized_copy(list.begin(), list.end(), copy);
    return {copy, list.size()};
}

}  // namespace cairn::types
