#include "tests/emulated_cuda/global_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace cairn::emulated_cuda {

void GlobalMemory::add(std::string name, const void* data, std::size_t bytes, Permission permission) {
    const auto* first = static_cast<const std::byte*>(data);
    const auto at = std::partition_point(buffers_.begin(), buffers_.end(),
                                         [&](const Buffer& buffer) { return buffer.data < first; });
    if ((at != buffers_.end() && at->data < first + bytes) ||
        (at != buffers_.begin() && std::prev(at)->data + std::prev(at)->bytes > first))
        throw std::invalid_argument(fmt::format("buffer '{}' overlaps another one", name));
    Buffer buffer{std::move(name), first, bytes, permission == writable, {}};
    // Words are those of the address space, so that a word belongs to one access of 4 bytes.
    buffer.accesses.resize((bytes + 8) / 4 / block_words + 1);
    buffers_.insert(at, std::move(buffer));
}

void GlobalMemory::protect(const void* data) {
    Buffer* const buffer = find(data);
    if (buffer == nullptr) throw std::invalid_argument("no buffer is there to be protected");
    buffer->is_writable = false;
}

void GlobalMemory::begin_launch(bool dependent) {
    if (!dependent) settled_ = launch_;
    before_ = dependent ? std::max(settled_, next_before_) : launch_;
    after_ = dependent ? std::max(settled_, next_after_) : launch_;
    ++launch_;
    next_before_ = next_after_ = launch_;
    published_.clear();
}

std::uint32_t GlobalMemory::complete(bool waited) const {
    if (!waited) return before_;
    return after_ + 2 >= launch_ ? launch_ - 1 : after_;
}

void GlobalMemory::end_block(std::uint32_t at_trigger, std::uint32_t at_end) {
    next_before_ = std::min(next_before_, at_trigger);
    next_after_ = std::min(next_after_, at_end);
}

GlobalMemory::Buffer* GlobalMemory::find(const void* address) {
    const auto* byte = static_cast<const std::byte*>(address);
    const auto at = std::partition_point(buffers_.begin(), buffers_.end(),
                                         [&](const Buffer& buffer) { return buffer.data <= byte; });
    if (at == buffers_.begin()) return nullptr;
    Buffer& buffer = *std::prev(at);
    return byte < buffer.data + buffer.bytes ? &buffer : nullptr;
}

std::string GlobalMemory::nearest(const void* address, std::size_t bytes) const {
    const auto* byte = static_cast<const std::byte*>(address);
    const Buffer* best = nullptr;
    std::ptrdiff_t best_distance = 0;
    for (const Buffer& buffer : buffers_) {
        const std::ptrdiff_t distance = byte < buffer.data ? buffer.data - byte : byte - (buffer.data + buffer.bytes);
        if (best != nullptr && distance >= best_distance) continue;
        best = &buffer;
        best_distance = distance;
    }
    if (best == nullptr) return "there are no buffers";
    const std::ptrdiff_t offset = byte - best->data;
    return fmt::format("the nearest buffer is '{}' of {} bytes, at its byte {} (index {} of {} bytes)", best->name,
                       best->bytes, offset, offset / static_cast<std::ptrdiff_t>(bytes), bytes);
}

AccessCells& GlobalMemory::cells(Buffer& buffer, std::size_t word) {
    std::unique_ptr<Block>& block = buffer.accesses[word / block_words];
    if (block == nullptr) block = std::make_unique<Block>();
    return (*block)[word % block_words];
}

}  // namespace cairn::emulated_cuda
