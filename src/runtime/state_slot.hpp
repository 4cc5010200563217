#pragma once

#include "device/cpu/lazy_memory.hpp"
#include "program/program.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace cairn::runtime {

/// A state's memory: one stretch at capacity; pages are touched as its live length reaches them, those of elements to
/// begin with when the slot is made.
///
///     f32[2,P,3] of capacity 4, P = 1:   ooo.........ooo.........     o: live
class StateSlot {
public:
    /// `port` is one of `program`, which must outlive the slot. Throws Error(memory).
    StateSlot(const program::Program& program, const program::StatePort& port);

    /// Makes `rows` rows of the growing axis usable without a page fault, all of a state of fixed size. Throws
    /// Error(memory) when the system has no more.
    void touch(std::int64_t rows);
    /// How many bytes touch(rows) would make so.
    std::size_t untouched_bytes(std::int64_t rows) const;
    /// Copies the live part, `shape` of it, to or from dense memory in the dtype that users see.
    void store(const std::byte* dense, std::span<const std::int64_t> shape);
    void load(std::byte* dense, std::span<const std::int64_t> shape) const;
    /// Calls visit(first byte, bytes) for each stretch of the rows from `first` on that lies in one piece, `shape`
    /// being that of the live part. A state of fixed size has no rows but all of it.
    void for_each_segment(std::int64_t first, std::span<const std::int64_t> shape,
                          const std::function<void(std::size_t at, std::size_t bytes)>& visit) const;
    /// Takes over the first rows of another slot of the same state, all of a state of fixed size; where it is stored in
    /// another dtype, rounded to that of this one.
    void copy(const StateSlot& other, std::int64_t rows);
    /// Gives and takes all that is remembered, and how it is stored; what was shown and what is damaged stays.
    void swap_memory(StateSlot& other) noexcept;
    /// True where a number of the rows `begin` to `end` of a growing state is none, or infinite, `live` being the shape
    /// of its live part by the values of symbols. Takes no memory.
    bool has_non_finite(std::int64_t begin, std::int64_t end, const Shape& live,
                        std::span<const std::int64_t> symbol_values) const;
    /// True when the live part lies as users see it.
    bool is_as_shown(std::span<const std::int64_t> shape) const;
    /// Makes rows `begin` to `end` of the growing axis zero.
    void clear(std::int64_t begin, std::int64_t end);
    /// Makes a state of fixed size what it is at first: the elements to begin with, or zeros.
    void reset();

    const program::StatePort& port() const noexcept { return *port_; }
    /// True where it is stored in another dtype than users see.
    bool is_stored_narrower() const noexcept { return desc().dtype != port_->live.dtype; }
    /// What the memory holds at capacity.
    const TensorDesc& desc() const noexcept { return buffer_->desc; }
    std::int64_t capacity() const { return desc().shape[static_cast<std::size_t>(port_->axis)].constant(); }

    device::LazyMemory memory;
    bool damaged = false;             ///< a failed run has overwritten a part of it
    std::int64_t intact_rows = 0;     ///< then: rows of the growing axis before the first that it has overwritten
    std::vector<std::int64_t> shape;  ///< what was last shown of it: the shape, and the elements where they lie apart
    std::vector<std::byte> shown;

private:
    template <typename F>
    void for_each_segment(std::span<const std::int64_t> shape, F work) const;
    std::int64_t stripes() const;
    std::int64_t row_bytes() const;

    const program::StatePort* port_;
    const program::Buffer* buffer_;
    std::int64_t touched_ = 0;  // rows of the growing axis; 1 when a state of fixed size is
};

}  // namespace cairn::runtime
