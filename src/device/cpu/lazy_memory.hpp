#pragma once

#include <cstddef>

namespace cairn::device {

/// Address space that is committed where it is touched: for states, whose live parts lie far apart. Zero when first
/// read.
class LazyMemory {
public:
    LazyMemory() noexcept = default;
    /// Reserves `bytes`. Throws Error(memory) naming the bytes if the address space is not available.
    explicit LazyMemory(std::size_t bytes);
    ~LazyMemory();
    LazyMemory(LazyMemory&& other) noexcept;
    LazyMemory& operator=(LazyMemory&& other) noexcept;

    std::byte* data() const noexcept { return base_; }
    std::size_t size() const noexcept { return bytes_; }
    /// Makes [offset, offset + bytes) usable without a page fault; contents are unchanged. Throws Error(memory) when
    /// the system has no more.
    void touch(std::size_t offset, std::size_t bytes);

private:
    std::byte* base_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace cairn::device
