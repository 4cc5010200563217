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

StateSlot::StateSlot(const program::Program& program, const program::StatePort& port, const Context::Impl& context)
    : memory(
          context.backend(buffer_of(program, port).device)
              .reserve(static_cast<std::size_t>(buffer_of(program, port).bytes.constant()), device::MemoryUse::state)),
      port_(&port),
      buffer_(&buffer_of(program, port)) {
    if (buffer_->data.empty()) return;
    touch(0);
    reset();
}

std::size_t StateSlot::untouched_bytes(std::int64_t rows) const {
    if (port_->axis < 0) return touched_ == 0 ? memory->capacity() : 0;
    if (rows <= touched_) return 0;
    const device::MemoryRows untouched = rows_between(touched_, std::min(capacity(), rows + rows_ahead));
    return untouched.count * untouched.bytes;
}

void StateSlot::touch(std::int64_t rows) {
    if (port_->axis < 0) {
        if (touched_ == 0) memory->touch(0, memory->capacity());
        touched_ = 1;
        return;
    }
    if (rows <= touched_) return;
    const std::int64_t end = std::min(capacity(), rows + rows_ahead);
    const device::MemoryRows untouched = rows_between(touched_, end);
    for (std::size_t stripe = 0; stripe < untouched.count; ++stripe)
        memory->touch(untouched.offset + stripe * untouched.pitch, untouched.bytes);
    touched_ = end;
}

MappedRows StateSlot::map_live(std::span<const std::int64_t> live, MapAccess access) const {
    return map(0, port_->axis < 0 ? 0 : live[static_cast<std::size_t>(port_->axis)], access);
}

void StateSlot::store(const std::byte* dense, std::span<const std::int64_t> live) {
    const DType shown = port_->live.dtype, own = desc().dtype;
    MappedRows rows = map_live(live, MapAccess::modify);
    rows.for_each_segment([&](std::size_t axis) { return live[axis]; },
                          [&](std::byte* to, std::size_t count) {
                              copy_elements(to, own, dense, shown, count);
                              dense += count * size_of(shown);
                          });
    rows.write_back();
}

void StateSlot::load(std::byte* dense, std::span<const std::int64_t> live) const {
    const DType shown = port_->live.dtype, own = desc().dtype;
    map_live(live, MapAccess::read)
        .for_each_segment([&](std::size_t axis) { return live[axis]; },
                          [&](const std::byte* from, std::size_t count) {
                              copy_elements(dense, shown, from, own, count);
                              dense += count * size_of(shown);
                          });
}

void StateSlot::copy(const StateSlot& other, std::int64_t rows) {
    touch(rows);
    const DType own = desc().dtype, others = other.desc().dtype;
    const MappedRows from = other.map(0, rows);
    MappedRows to = map(0, rows, MapAccess::overwrite);
    for (std::size_t stripe = 0; stripe < to.stripes(); ++stripe)
        copy_elements(to.stripe(stripe), own, from.stripe(stripe), others, to.stripe_bytes() / size_of(own));
    to.write_back();
}

void StateSlot::swap_memory(StateSlot& other) noexcept {
    std::swap(memory, other.memory);
    std::swap(touched_, other.touched_);
    std::swap(port_, other.port_);
    std::swap(buffer_, other.buffer_);
}

bool StateSlot::has_non_finite(std::int64_t begin, std::int64_t end, const Shape& live,
                               std::span<const std::int64_t> symbol_values) const {
    bool any = false;
    map(begin, end)
        .for_each_segment(
            [&](std::size_t axis) {
                return static_cast<int>(axis) == port_->axis ? end - begin : live[axis].evaluate(symbol_values);
            },
            [&](const std::byte* at, std::size_t count) {
                any = any || any_non_finite(at, desc().dtype, static_cast<std::int64_t>(count));
            });
    return any;
}

bool StateSlot::is_readable_in_place(std::span<const std::int64_t> live) const {
    if (is_stored_narrow() || !memory->is_host_accessible()) return false;
    int segments = 0;
    map_live(live, MapAccess::read)
        .for_each_segment([&](std::size_t axis) { return live[axis]; },
                          [&](const std::byte*, std::size_t) { ++segments; });
    return segments <= 1;
}

void StateSlot::clear(std::int64_t begin, std::int64_t end) {
    if (begin >= end) return;
    memory->clear(rows_between(begin, end));
}

void StateSlot::reset() {
    if (!buffer_->data.empty())
        memory->write({0, buffer_->data.size()}, buffer_->data.data());
    else if (touched_ > 0)
        memory->clear({0, memory->capacity()});
}

}  // namespace cairn::runtime
