#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::device {

class ThreadPool;

struct ArenaOptions {
    /// Below this, huge pages would waste more than they save.
    static constexpr std::size_t huge_from = 4 << 20;

    /// Requests 2 MiB pages: fewer faults and page-table walks. Memory grows in steps of 2 MiB once the first one is
    /// full.
    bool huge_pages = false;

    /// Options for an arena of `bytes`: huge pages from `huge_from` on.
    static constexpr ArenaOptions suited_to(std::size_t bytes) { return {.huge_pages = bytes >= huge_from}; }
};

/// Contiguous memory for all tensors of an instance. Address space is reserved for the largest sizes, so the base never
/// moves; memory is committed page by page when a length first needs it, before a run and never in one.
///
///     Arena arena = Arena::reserve(bytes_at_upper_bound);   // costs nothing yet
///     arena.touch(bytes_at(128));                           // faults in the first pages
///     arena.touch(bytes_at(64));                            // does nothing
class Arena {
public:
    /// No memory: data() is null, capacity 0.
    Arena() noexcept = default;

    /// Reserves `bytes` of address space, zero when first read. Throws Error(memory) naming the bytes.
    static Arena reserve(std::size_t bytes, const ArenaOptions& options = {});

    /// Uses `bytes` at `memory`, which the caller owns and which must outlive the arena. Throws Error(argument) when
    /// `memory` is null (and `bytes` is not 0) or not aligned to `alignment`.
    static Arena wrap(void* memory, std::size_t bytes);

    ~Arena();
    Arena(Arena&& other) noexcept;
    Arena& operator=(Arena&& other) noexcept;

    /// Alignment of every base; reserved ones are aligned to a page.
    static constexpr std::size_t alignment = 64;

    std::byte* data() const noexcept { return base_; }
    std::size_t capacity() const noexcept { return capacity_; }
    /// True if the arena owns the memory.
    bool owned() const noexcept { return mapping_ != nullptr; }

    /// Makes the first `bytes` usable without a page fault; contents are unchanged. Only growth costs anything. Throws
    /// Error(memory) naming the bytes when they exceed the capacity or the system has no more; the arena is unchanged
    /// then. With a pool its threads share large amounts; that throws what ThreadPool::run does, too.
    void touch(std::size_t bytes, ThreadPool* pool = nullptr);
    /// The most bytes touch() was called with.
    std::size_t touched_bytes() const noexcept { return touched_; }

    /// Bytes of the arena that are in memory now, in whole pages, as reported by the system.
    std::size_t resident_bytes() const;

    /// Fills [offset, offset + bytes) with 0xff, which reads as NaN in every floating type. Throws Error(argument)
    /// unless the range is touched.
    void poison(std::size_t offset, std::size_t bytes);
    /// The end of the last byte before `touched_bytes()` that is not 0xff: after poison of everything and a run, the
    /// most memory the run has written to.
    std::size_t written_bytes() const noexcept;

private:
    void commit(std::size_t bytes, ThreadPool* pool);
    void unmap() noexcept;

    std::byte* base_ = nullptr;
    std::size_t capacity_ = 0, touched_ = 0;
    std::size_t committed_ = 0;  // of owned memory: readable and writable, in whole pages
    void* mapping_ = nullptr;    // the argument of munmap; null if the caller owns the memory
    std::size_t mapped_ = 0;
    std::size_t step_ = 0;  // memory is committed in multiples of this
};

}  // namespace cairn::device
