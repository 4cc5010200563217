#pragma once

#include "tests/emulated_cuda/access_cells.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cairn::emulated_cuda {

/// The shared memory of the blocks of a cluster. A shared address is block * stride + offset. Each variable lies at the
/// same offset in all blocks, with guard zones around it, and is aligned no better than it must be, so that an access
/// that needs more fails.
class SharedMemory {
public:
    static constexpr std::size_t stride = std::size_t{1} << 20;
    static constexpr std::size_t largest_static = 48 << 10, largest_total = 227 << 10;

    struct Variable {
        const void* key;
        std::string name;
        std::size_t offset, bytes;
    };

    SharedMemory(std::size_t blocks, std::size_t dynamic_bytes);
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    /// Fills all variables with NaN patterns and forgets accesses.
    void clear();
    std::byte* dynamic(std::size_t block) const { return base_ + block * stride + dynamic_offset; }
    /// The variable of a declaration; added if `key` is new. Null if static variables exceed their limit.
    std::byte* variable(std::size_t block, const void* key, const char* name, std::size_t bytes, std::size_t alignment);

    bool contains(const void* address) const {
        return static_cast<std::size_t>(static_cast<const std::byte*>(address) - base_) < blocks_ * stride;
    }
    /// The shared address of a pointer that is contained.
    std::uint32_t address(const void* pointer) const {
        return static_cast<std::uint32_t>(static_cast<const std::byte*>(pointer) - base_);
    }
    std::byte* pointer(std::uint32_t address) const { return base_ + address; }
    std::size_t blocks() const { return blocks_; }

    /// The variable that contains the bytes, or null.
    const Variable* find(std::uint32_t address, std::size_t bytes) const;
    /// Describes where bytes outside of all variables are.
    std::string nearest(std::uint32_t address, std::size_t bytes) const;
    AccessCells& cells(std::uint32_t address);

private:
    static constexpr std::size_t dynamic_offset = 1024, guard = 256;

    void fill(const Variable& variable);

    std::size_t blocks_, dynamic_bytes_, static_bytes_ = 0, end_;
    std::byte* base_;
    std::vector<Variable> variables_;  // the dynamic memory is the first
    std::vector<std::vector<AccessCells>> accesses_;
};

}  // namespace cairn::emulated_cuda
