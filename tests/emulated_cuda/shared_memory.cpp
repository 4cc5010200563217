#include "tests/emulated_cuda/shared_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>
#include <new>

namespace cairn::emulated_cuda {

SharedMemory::SharedMemory(std::size_t blocks, std::size_t dynamic_bytes)
    : blocks_(blocks), dynamic_bytes_(dynamic_bytes), end_(dynamic_offset + dynamic_bytes) {
    void* memory =
        ::mmap(nullptr, blocks * stride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(memory);
    variables_.push_back({nullptr, "dynamic shared memory", dynamic_offset, dynamic_bytes});
    accesses_.resize(blocks);
}

SharedMemory::~SharedMemory() { ::munmap(base_, blocks_ * stride); }

void SharedMemory::fill(const Variable& variable) {
    for (std::size_t block = 0; block < blocks_; ++block)
        std::memset(base_ + block * stride + variable.offset, 0xff, variable.bytes);
}

void SharedMemory::clear() {
    for (const Variable& variable : variables_) fill(variable);
    for (auto& cells : accesses_) cells.assign(end_ / 4 + 1, AccessCells{});
}

std::byte* SharedMemory::variable(std::size_t block, const void* key, const char* name, std::size_t bytes,
                                  std::size_t alignment) {
    for (const Variable& variable : variables_)
        if (variable.key == key) return base_ + block * stride + variable.offset;
    static_bytes_ += bytes;
    if (static_bytes_ > largest_static || static_bytes_ + dynamic_bytes_ > largest_total) return nullptr;
    // An odd multiple of the alignment.
    const std::size_t offset = (end_ + guard + 2 * alignment) / (2 * alignment) * (2 * alignment) + alignment;
    end_ = offset + bytes;
    variables_.push_back({key, name, offset, bytes});
    fill(variables_.back());
    for (auto& cells : accesses_) cells.resize(end_ / 4 + 1);
    return base_ + block * stride + offset;
}

const SharedMemory::Variable* SharedMemory::find(std::uint32_t address, std::size_t bytes) const {
    const std::size_t offset = address % stride;
    for (const Variable& variable : variables_)
        if (offset >= variable.offset && offset + bytes <= variable.offset + variable.bytes) return &variable;
    return nullptr;
}

std::string SharedMemory::nearest(std::uint32_t address, std::size_t bytes) const {
    const auto offset = static_cast<std::ptrdiff_t>(address % stride);
    const Variable* best = nullptr;
    std::ptrdiff_t best_distance = 0;
    for (const Variable& variable : variables_) {
        const auto first = static_cast<std::ptrdiff_t>(variable.offset);
        const auto end = first + static_cast<std::ptrdiff_t>(variable.bytes);
        const std::ptrdiff_t distance = offset < first ? first - offset : offset - end;
        if (best != nullptr && distance >= best_distance) continue;
        best = &variable;
        best_distance = distance;
    }
    const std::ptrdiff_t at = offset - static_cast<std::ptrdiff_t>(best->offset);
    return fmt::format("the nearest variable is '{}' of {} bytes, at its byte {} (index {} of {} bytes)", best->name,
                       best->bytes, at, at / static_cast<std::ptrdiff_t>(bytes), bytes);
}

AccessCells& SharedMemory::cells(std::uint32_t address) { return accesses_[address / stride][address % stride / 4]; }

}  // namespace cairn::emulated_cuda
