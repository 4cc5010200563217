#pragma once

#include <cstddef>

namespace cairn::device {

/// Rows of equal length in the memory of a device, at equal distances. In host memory they lie one after another.
struct MemoryRows {
    std::size_t offset = 0;  ///< of the first row
    std::size_t bytes = 0;   ///< of a row
    std::size_t count = 1;
    std::size_t pitch = 0;  ///< from the beginning of a row to that of the next
};

/// Memory of one device. Its address space is reserved when it is created, so its address never changes; it is
/// committed where touch() first needs it, before a run and never in one. Zero when first read.
///
///     const std::unique_ptr<Memory> arena = backend.reserve(most_bytes, MemoryUse::arena);  // address space only
///     arena->touch(0, bytes_at(128));                                                       // commits
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
    /// True if the host can read and write the bytes at their addresses.
    bool is_host_accessible() const noexcept { return is_host_accessible_; }
    /// Makes [offset, offset + bytes) usable without a page fault; contents are unchanged. Throws Error(memory) naming
    /// the bytes when the device has no more.
    virtual void touch(std::size_t offset, std::size_t bytes) = 0;

    /// Copies rows to or from host memory, or zeroes them. All rows are touched; without bytes nothing is done, and
    /// both addresses may be null. Returns when that is done.
    void read(const MemoryRows& rows, std::byte* host) const {
        if (has_bytes(rows)) read_rows(rows, host);
    }
    void write(const MemoryRows& rows, const std::byte* host) {
        if (has_bytes(rows)) write_rows(rows, host);
    }
    void clear(const MemoryRows& rows) {
        if (has_bytes(rows)) clear_rows(rows);
    }

protected:
    virtual void read_rows(const MemoryRows& rows, std::byte* host) const = 0;
    virtual void write_rows(const MemoryRows& rows, const std::byte* host) = 0;
    virtual void clear_rows(const MemoryRows& rows) = 0;

    Memory(std::byte* base, std::size_t capacity, bool is_host_accessible) noexcept
        : base_(base), capacity_(capacity), is_host_accessible_(is_host_accessible) {}

private:
    static bool has_bytes(const MemoryRows& rows) noexcept { return rows.bytes > 0 && rows.count > 0; }

    std::byte* base_;
    std::size_t capacity_;
    bool is_host_accessible_;
};

/// How memory will be used; decides in which steps it is committed.
enum class MemoryUse {
    arena,    ///< from its start, and for long: large pages from 4 MiB on
    scratch,  ///< from its start, briefly
    state,    ///< in parts that lie far apart
};

}  // namespace cairn::device
