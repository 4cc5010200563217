#pragma once

#include "device/context_impl.hpp"
#include "program/program.hpp"
#include "runtime/mapped_rows.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cairn::runtime {

/// Memory of one state: contiguous, reserved at capacity. Pages are touched as the live length reaches them, and at
/// construction if there are initial elements.
///
///     f32[2,P,3] of capacity 4, P = 1:   ooo.........ooo.........     o: live
class StateSlot {
public:
    /// `port` is one of `program`, which must outlive the slot. Throws Error(memory).
    StateSlot(const program::Program& program, const program::StatePort& port, const Context::Impl& context);

    /// Prefaults `rows` rows of the growing axis, or all of a state of fixed size. Throws Error(memory) when the system
    /// has no more.
    void touch(std::int64_t rows);
    /// Number of bytes that touch(rows) would prefault.
    std::size_t untouched_bytes(std::int64_t rows) const;
    /// Copies the live part, which has this shape, from (store) or to (load) dense memory in the declared dtype.
    void store(const std::byte* dense, std::span<const std::int64_t> shape);
    void load(std::byte* dense, std::span<const std::int64_t> shape) const;
    /// Rows `begin` to `end` of the growing axis as the host reads them; all of a state of fixed size.
    MappedRows map(std::int64_t begin, std::int64_t end, MapAccess access = MapAccess::read) const {
        return {*memory, desc(), port_->axis, begin, end, access};
    }
    /// Copies the first rows of another slot of the same state, or all of a state of fixed size. Rounds to the stored
    /// dtype of this slot if that differs.
    void copy(const StateSlot& other, std::int64_t rows);
    /// Swaps the contents and their storage format. `shape`, `last_shown` and the damage marks stay.
    void swap_memory(StateSlot& other) noexcept;
    /// True if rows `begin` to `end` of a growing state hold a NaN or an infinity. `live` is the shape of its live part
    /// at these symbol values. Allocates no memory where the host can access the state's.
    bool has_non_finite(std::int64_t begin, std::int64_t end, const Shape& live,
                        std::span<const std::int64_t> symbol_values) const;
    /// True if the host can read the live part in place: it is dense in memory that the host can access, and in the
    /// declared dtype.
    bool is_readable_in_place(std::span<const std::int64_t> shape) const;
    /// Zeroes rows `begin` to `end` of the growing axis.
    void clear(std::int64_t begin, std::int64_t end);
    /// Restores the initial contents of a state of fixed size: its initial elements, or zeros.
    void reset();

    const program::StatePort& port() const noexcept { return *port_; }
    /// True if it is stored in a dtype other than the declared one.
    bool is_stored_narrow() const noexcept { return desc().dtype != port_->live.dtype; }
    /// The tensor in memory, at capacity.
    const TensorDesc& desc() const noexcept { return buffer_->desc; }
    std::int64_t capacity() const { return desc().shape[static_cast<std::size_t>(port_->axis)].constant(); }

    std::unique_ptr<device::Memory> memory;
    bool damaged = false;               ///< a failed run has overwritten a part of it
    std::int64_t intact_rows = 0;       ///< if damaged: rows of the growing axis before the first overwritten one
    std::vector<std::int64_t> shape;    ///< shape last shown
    std::vector<std::byte> last_shown;  ///< elements last shown, if they had to be copied

private:
    /// The live part as the host reads or changes it.
    MappedRows map_live(std::span<const std::int64_t> shape, MapAccess access) const;
    /// Rows of the growing axis in the memory.
    device::MemoryRows rows_between(std::int64_t begin, std::int64_t end) const {
        return rows_of(*memory, desc(), port_->axis, begin, end);
    }

    const program::StatePort* port_;
    const program::Buffer* buffer_;
    std::int64_t touched_ = 0;  // touched rows of the growing axis; 1 if a state of fixed size is touched
};

}  // namespace cairn::runtime
