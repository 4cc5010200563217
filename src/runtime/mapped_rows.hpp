#pragma once

#include "cairn/problem.hpp"
#include "device/mapped_memory.hpp"

#include <cstddef>
#include <cstdint>

namespace cairn::runtime {

using device::MapAccess;

/// Rows `begin` to `end` of an axis of a dense tensor that fills this memory; `axis` -1: the whole tensor.
device::MemoryRows rows_of(const device::Memory& memory, const TensorDesc& desc, int axis, std::int64_t begin,
                           std::int64_t end);

/// Rows of one axis of a dense tensor, mapped to the host (device::MappedMemory).
///
///     rows 1 and 2 of f32[2,4,3]:   ...oooooo...|...oooooo...      mapped as a copy: oooooo|oooooo
class MappedRows {
public:
    /// Maps rows `begin` to `end` of `axis`, which are touched; `axis` -1: the whole tensor. `memory` and `desc` must
    /// outlive it.
    MappedRows(device::Memory& memory, const TensorDesc& desc, int axis, std::int64_t begin, std::int64_t end,
               MapAccess access);

    /// Calls visit(first byte, number of elements) for each contiguous part of the rows, in row-major order, where
    /// live(i) is the number of elements on axis i that are visited. Allocates no memory.
    template <typename Live, typename Visit>
    void for_each_segment(const Live& live, const Visit& visit) const {
        std::size_t outer = desc_->shape.size();
        for (std::size_t axis = 0; axis < outer; ++axis)
            if (live(axis) == 0) return;
        std::int64_t elements = 1;
        for (bool is_whole = true; is_whole && outer > 0;) {
            elements *= live(--outer);
            is_whole = desc_->shape[outer] == Dim(live(outer));
        }
        const auto descend = [&](const auto& self, std::size_t axis, std::int64_t bytes) -> void {
            if (axis == outer) return visit(mapped_.row(0) + bytes, static_cast<std::size_t>(elements));
            for (std::int64_t i = 0; i < live(axis); ++i) self(self, axis + 1, bytes + i * stride(axis));
        };
        descend(descend, 0, 0);
    }
    /// The mapped rows of one index on the axes before `axis`: `stripes()` of them, of `stripe_bytes()` each.
    std::size_t stripes() const noexcept { return mapped_.rows().count; }
    std::byte* stripe(std::size_t i) const noexcept { return mapped_.row(i); }
    std::size_t stripe_bytes() const noexcept { return mapped_.rows().bytes; }
    /// Stores the changes. Required after access other than `read`.
    void write_back() { mapped_.write_back(); }

private:
    /// Bytes from an element to the next on an axis, as mapped.
    std::int64_t stride(std::size_t axis) const;

    const TensorDesc* desc_;
    std::size_t outer_axes_;  // those before `axis`
    device::MappedMemory mapped_;
};

}  // namespace cairn::runtime
