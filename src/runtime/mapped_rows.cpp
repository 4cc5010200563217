#include "runtime/mapped_rows.hpp"

namespace cairn::runtime {

device::MemoryRows rows_of(const device::Memory& memory, const TensorDesc& desc, int axis, std::int64_t begin,
                           std::int64_t end) {
    if (axis < 0) return {0, memory.capacity(), 1, memory.capacity()};
    const auto at = static_cast<std::size_t>(axis);
    std::int64_t stripes = 1;
    for (std::size_t i = 0; i < at; ++i) stripes *= desc.shape[i].constant();
    const std::int64_t row = desc.strides[at].constant() * static_cast<std::int64_t>(size_of(desc.dtype));
    return {static_cast<std::size_t>(begin * row), static_cast<std::size_t>((end - begin) * row),
            static_cast<std::size_t>(stripes), static_cast<std::size_t>(desc.shape[at].constant() * row)};
}

MappedRows::MappedRows(device::Memory& memory, const TensorDesc& desc, int axis, std::int64_t begin, std::int64_t end,
                       MapAccess access)
    : desc_(&desc),
      outer_axes_(axis < 0 ? 0 : static_cast<std::size_t>(axis)),
      mapped_(memory, rows_of(memory, desc, axis, begin, end), access) {}

std::int64_t MappedRows::stride(std::size_t axis) const {
    const std::int64_t own = desc_->strides[axis].constant() * static_cast<std::int64_t>(size_of(desc_->dtype));
    if (axis >= outer_axes_) return own;
    // A multiple of the pitch: as many stripes lie between the two elements.
    return own / static_cast<std::int64_t>(mapped_.rows().pitch) * static_cast<std::int64_t>(mapped_.pitch());
}

}  // namespace cairn::runtime
