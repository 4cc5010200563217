#pragma once

#include <cstddef>

namespace cairn::device {

/// Memory of one device. Its address space is reserved when it is created, so its address never changes; it is
/// committed where touch() first needs it, before a run and never in one. Zero when first read.
///
///     const std::unique_ptr<Memory> arena = backend.reserve(bytes_at_upper_bound, MemoryUse::arena);   // costs
///     nothing arena->touch(0, bytes_at(128));                                                                  //
///     commits
class Memory {
public:
    virtual ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    /// Alignment of data().
    static constexpr std::size_t alignment = 64;

    /// The first byte, an address of the device; null if there are no bytes.
    std::byte* data() const noexcept { return base_; }
    std::size_t capacity() const noexcept { return capacity_; }
    /// Makes [offset, offset + bytes) usable without a page fault; contents are unchanged. Throws Error(memory) naming
    /// the bytes when the device has no more.
    virtual void touch(std::size_t offset, std::size_t bytes) = 0;

protected:
    Memory(std::byte* base, std::size_t capacity) noexcept : base_(base), capacity_(capacity) {}

private:
    std::byte* base_;
    std::size_t capacity_;
};

/// How memory will be used; decides in which steps it is committed.
enum class MemoryUse {
    arena,    ///< from its start, and for long: large pages from 4 MiB on
    scratch,  ///< from its start, briefly
    state,    ///< in parts that lie far apart
};

}  // namespace cairn::device
