#include "runtime/state_slot.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cairn::inline v0::runtime {
namespace {

// Rows of a state touched ahead of need: one system call per stripe for this many steps.
constexpr std::int64_t rows_ahead = 64;

const program::Buffer& buffer_of(const program::Program& program, const program::StatePort& port) {
    return program.buffers[static_cast<std::size_t>(port.buffer)];
}

}  // namespace

StateSlot::StateSlot(const program::Program& program, const program::StatePort& port)
    : memory(static_cast<std::size_t>(buffer_of(program, port).bytes.constant())),
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

void StateSlot::touch(std::int64_t rows) {
    if (port_->axis < 0) {
        if (touched_ == 0) memory.touch(0, memory.size());
        touched_ = 1;
        return;
    }
    if (rows <= touched_) return;
    const std::int64_t end = std::min(capacity(), rows + rows_ahead);
    for (std::int64_t stripe = 0; stripe < stripes(); ++stripe)
        memory.touch(static_cast<std::size_t>((stripe * capacity() + touched_) * row_bytes()),
                     static_cast<std::size_t>((end - touched_) * row_bytes()));
    touched_ = end;
}

/// Calls work(byte in dense memory, byte in the state's, bytes) for what is contiguous in both.
template <typename F>
void StateSlot::for_each_stretch(std::span<const std::int64_t> live, F work) const {
    if (std::find(live.begin(), live.end(), 0) != live.end()) return;
    std::size_t outer = live.size();
    std::int64_t elements = 1;
    for (bool whole = true; whole && outer > 0;) {
        elements *= live[--outer];
        whole = desc().shape[outer] == Dim(live[outer]);
    }
    const std::size_t bytes = static_cast<std::size_t>(elements) * size_of(desc().dtype);
    std::vector<std::int64_t> index(outer, 0);
    for (std::size_t dense = 0;; dense += bytes) {
        std::int64_t place = 0;
        for (std::size_t axis = 0; axis < outer; ++axis) place += index[axis] * desc().strides[axis].constant();
        work(dense, static_cast<std::size_t>(place) * size_of(desc().dtype), bytes);
        std::size_t axis = outer;
        while (axis > 0 && ++index[axis - 1] == live[axis - 1]) index[--axis] = 0;
        if (axis == 0) return;
    }
}

void StateSlot::store(const std::byte* dense, std::span<const std::int64_t> live) {
    for_each_stretch(live, [&](std::size_t from, std::size_t to, std::size_t bytes) {
        std::memcpy(memory.data() + to, dense + from, bytes);
    });
}

void StateSlot::load(std::byte* dense, std::span<const std::int64_t> live) const {
    for_each_stretch(live, [&](std::size_t to, std::size_t from, std::size_t bytes) {
        std::memcpy(dense + to, memory.data() + from, bytes);
    });
}

void StateSlot::for_each_stretch(std::int64_t first, std::span<const std::int64_t> live,
                                 const std::function<void(std::size_t, std::size_t)>& visit) const {
    std::vector<std::int64_t> rows(live.begin(), live.end());
    std::size_t begin = 0;
    if (port_->axis >= 0) {
        rows[static_cast<std::size_t>(port_->axis)] -= first;
        begin = static_cast<std::size_t>(first * row_bytes());
    }
    for_each_stretch(rows, [&](std::size_t, std::size_t at, std::size_t bytes) { visit(begin + at, bytes); });
}

void StateSlot::copy(const StateSlot& other, std::int64_t rows) {
    touch(rows);
    if (port_->axis < 0) {
        std::memcpy(memory.data(), other.memory.data(), memory.size());
        return;
    }
    for (std::int64_t stripe = 0; stripe < stripes() && rows > 0; ++stripe) {
        const std::int64_t begin = stripe * capacity() * row_bytes();
        std::memcpy(memory.data() + begin, other.memory.data() + begin, static_cast<std::size_t>(rows * row_bytes()));
    }
}

void StateSlot::swap_memory(StateSlot& other) noexcept {
    std::swap(memory, other.memory);
    std::swap(touched_, other.touched_);
}

bool StateSlot::is_dense(std::span<const std::int64_t> live) const {
    int stretches = 0;
    for_each_stretch(live, [&](std::size_t, std::size_t, std::size_t) { ++stretches; });
    return stretches <= 1;
}

void StateSlot::clear(std::int64_t begin, std::int64_t end) {
    if (begin >= end) return;
    for (std::int64_t stripe = 0; stripe < stripes(); ++stripe)
        std::memset(memory.data() + (stripe * capacity() + begin) * row_bytes(), 0,
                    static_cast<std::size_t>((end - begin) * row_bytes()));
}

void StateSlot::reset() {
    if (!buffer_->data.empty())
        std::memcpy(memory.data(), buffer_->data.data(), buffer_->data.size());
    else if (touched_ > 0)
        std::memset(memory.data(), 0, memory.size());
}

}  // namespace cairn::inline v0::runtime
