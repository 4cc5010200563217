#include "runtime/state_slot.hpp"

#include "graph/types/convert_floats.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cairn::runtime {
namespace {

// Number of rows touched ahead: one system call per stripe for this many steps.
constexpr std::int64_t rows_ahead = 64;

const program::Buffer& buffer_of(const program::Program& program, const program::StatePort& port) {
    return program.buffers[static_cast<std::size_t>(port.buffer)];
}

void copy_elements(std::byte* to, DType to_dtype, const std::byte* from, DType from_dtype, std::size_t count) {
    if (to_dtype == from_dtype)
        std::memcpy(to, from, count * size_of(to_dtype));
    else
        types::convert_floats(to, to_dtype, from, from_dtype, count);
}

/// True if one of these contiguous floats is NaN or infinite, by their exponents.
bool any_non_finite(const std::byte* at, DType dtype, std::int64_t count) {
    const auto any = [&](auto exponent) {
        int found = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            decltype(exponent) bits;
            std::memcpy(&bits, at + i * static_cast<std::int64_t>(sizeof bits), sizeof bits);
            found |= (bits & exponent) == exponent ? 1 : 0;
        }
        return found != 0;
    };
    switch (dtype) {
        case DType::f64: return any(std::uint64_t{0x7ff0000000000000});
        case DType::f32: return any(std::uint32_t{0x7f800000});
        case DType::f16: return any(std::uint16_t{0x7c00});
        case DType::bf16: return any(std::uint16_t{0x7f80});
        case DType::i64:
        case DType::i32:
        case DType::i8:
        case DType::u8:
        case DType::boolean: break;
    }
    return false;
}

}  // namespace

StateSlot::StateSlot(const program::Program& program, const program::StatePort& port, device::Backend& backend)
    : memory(backend.reserve(static_cast<std::size_t>(buffer_of(program, port).bytes.constant()),
                             device::MemoryUse::state)),
      port_(&port),
      buffer_(&buffer_of(program, port)) {
    if (buffer_->data.empty()) return;
    touch(0);
    reset();
}

std::int64_t StateSlot::stripes() const {
    std::int64_t count = 1;
    for (int axis = 0; axis < port_->axis; ++axis) count *= desc().shape[static_cast<std::size_t>(axis)].constant();
    return count;
}

std::int64_t StateSlot::row_bytes() const {
    return desc().strides[static_cast<std::size_t>(port_->axis)].constant() *
           static_cast<std::int64_t>(size_of(desc().dtype));
}

std::size_t StateSlot::untouched_bytes(std::int64_t rows) const {
    if (port_->axis < 0) return touched_ == 0 ? memory->capacity() : 0;
    if (rows <= touched_) return 0;
    return static_cast<std::size_t>(stripes() * (std::min(capacity(), rows + rows_ahead) - touched_) * row_bytes());
}

void StateSlot::touch(std::int64_t rows) {
    if (port_->axis < 0) {
        if (touched_ == 0) memory->touch(0, memory->capacity());
        touched_ = 1;
        return;
    }
    if (rows <= touched_) return;
    const std::int64_t end = std::min(capacity(), rows + rows_ahead);
    for (std::int64_t stripe = 0; stripe < stripes(); ++stripe)
        memory->touch(static_cast<std::size_t>((stripe * capacity() + touched_) * row_bytes()),
                      static_cast<std::size_t>((end - touched_) * row_bytes()));
    touched_ = end;
}

/// Calls work(offset in dense memory, offset in the state's, count), in elements, for each segment contiguous in both.
template <typename F>
void StateSlot::for_each_segment(std::span<const std::int64_t> live, F work) const {
    if (std::find(live.begin(), live.end(), 0) != live.end()) return;
    std::size_t outer = live.size();
    std::int64_t elements = 1;
    for (bool whole = true; whole && outer > 0;) {
        elements *= live[--outer];
        whole = desc().shape[outer] == Dim(live[outer]);
    }
    const auto count = static_cast<std::size_t>(elements);
    std::vector<std::int64_t> index(outer, 0);
    for (std::size_t dense = 0;; dense += count) {
        std::int64_t offset = 0;
        for (std::size_t axis = 0; axis < outer; ++axis) offset += index[axis] * desc().strides[axis].constant();
        work(dense, static_cast<std::size_t>(offset), count);
        std::size_t axis = outer;
        while (axis > 0 && ++index[axis - 1] == live[axis - 1]) index[--axis] = 0;
        if (axis == 0) return;
    }
}

void StateSlot::store(const std::byte* dense, std::span<const std::int64_t> live) {
    const DType shown_dtype = port_->live.dtype, own = desc().dtype;
    for_each_segment(live, [&](std::size_t from, std::size_t to, std::size_t count) {
        copy_elements(memory->data() + to * size_of(own), own, dense + from * size_of(shown_dtype), shown_dtype, count);
    });
}

void StateSlot::load(std::byte* dense, std::span<const std::int64_t> live) const {
    const DType shown_dtype = port_->live.dtype, own = desc().dtype;
    for_each_segment(live, [&](std::size_t to, std::size_t from, std::size_t count) {
        copy_elements(dense + to * size_of(shown_dtype), shown_dtype, memory->data() + from * size_of(own), own, count);
    });
}

void StateSlot::for_each_segment(std::int64_t first, std::span<const std::int64_t> live,
                                 const std::function<void(std::size_t, std::size_t)>& visit) const {
    std::vector<std::int64_t> rows(live.begin(), live.end());
    std::size_t begin = 0;
    if (port_->axis >= 0) {
        rows[static_cast<std::size_t>(port_->axis)] -= first;
        begin = static_cast<std::size_t>(first * row_bytes());
    }
    const std::size_t size = size_of(desc().dtype);
    for_each_segment(rows,
                     [&](std::size_t, std::size_t at, std::size_t count) { visit(begin + at * size, count * size); });
}

void StateSlot::copy(const StateSlot& other, std::int64_t rows) {
    touch(rows);
    const DType own = desc().dtype, others = other.desc().dtype;
    const auto copy_part = [&](std::size_t first, std::size_t count) {
        copy_elements(memory->data() + first * size_of(own), own, other.memory->data() + first * size_of(others),
                      others, count);
    };
    if (port_->axis < 0) return copy_part(0, memory->capacity() / size_of(own));
    const std::int64_t row = row_bytes() / static_cast<std::int64_t>(size_of(own));
    for (std::int64_t stripe = 0; stripe < stripes() && rows > 0; ++stripe)
        copy_part(static_cast<std::size_t>(stripe * capacity() * row), static_cast<std::size_t>(rows * row));
}

void StateSlot::swap_memory(StateSlot& other) noexcept {
    std::swap(memory, other.memory);
    std::swap(touched_, other.touched_);
    std::swap(port_, other.port_);
    std::swap(buffer_, other.buffer_);
}

bool StateSlot::has_non_finite(std::int64_t begin, std::int64_t end, const Shape& live,
                               std::span<const std::int64_t> symbol_values) const {
    const auto size = static_cast<std::int64_t>(size_of(desc().dtype));
    const auto in = [&](const auto& self, std::size_t axis, std::int64_t offset) -> bool {
        const bool grows = static_cast<int>(axis) == port_->axis;
        const std::int64_t stride = desc().strides[axis].constant(), first = grows ? begin : 0;
        const std::int64_t last = grows ? end : live[axis].evaluate(symbol_values);
        if (axis + 1 == live.size())
            return any_non_finite(memory->data() + (offset + first * stride) * size, desc().dtype, last - first);
        bool any = false;
        for (std::int64_t i = first; i < last && !any; ++i) any = self(self, axis + 1, offset + i * stride);
        return any;
    };
    return in(in, 0, 0);
}

bool StateSlot::is_dense_as_declared(std::span<const std::int64_t> live) const {
    if (is_stored_narrow()) return false;
    int segments = 0;
    for_each_segment(live, [&](std::size_t, std::size_t, std::size_t) { ++segments; });
    return segments <= 1;
}

void StateSlot::clear(std::int64_t begin, std::int64_t end) {
    if (begin >= end) return;
    for (std::int64_t stripe = 0; stripe < stripes(); ++stripe)
        std::memset(memory->data() + (stripe * capacity() + begin) * row_bytes(), 0,
                    static_cast<std::size_t>((end - begin) * row_bytes()));
}

void StateSlot::reset() {
    if (!buffer_->data.empty())
        std::memcpy(memory->data(), buffer_->data.data(), buffer_->data.size());
    else if (touched_ > 0)
        std::memset(memory->data(), 0, memory->capacity());
}

}  // namespace cairn::runtime
