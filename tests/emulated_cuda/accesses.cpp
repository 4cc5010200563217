// The memory model: each access must be inside of a buffer, aligned, and ordered with every access it conflicts with.
#include "tests/emulated_cuda/cluster.hpp"

#include <fmt/format.h>

namespace cairn::emulated_cuda {

namespace {

/// A thread that makes so many accesses without waiting is in an endless loop.
constexpr std::uint64_t most_accesses = 20'000'000;

const char* verb(const Access& access) {
    if (access.atomic) return "updates";
    return access.write ? "writes" : "reads";
}

std::string place_in(const std::string& name, std::size_t offset, std::uint64_t bytes) {
    return fmt::format(": '{}' at byte {} (index {} of {} bytes)", name, offset, offset / bytes, bytes);
}

/// Calls `visit(word, mask of its bytes)` for each word of 4 bytes that an access touches.
template <class Visit>
void for_each_word(std::uintptr_t address, std::uint64_t bytes, const Visit& visit) {
    const std::uintptr_t end = address + bytes;
    for (std::uintptr_t word = address & ~std::uintptr_t{3}; word < end; word += 4) {
        const unsigned first = word < address ? static_cast<unsigned>(address - word) : 0;
        const unsigned last = end - word < 4 ? static_cast<unsigned>(end - word) : 4;
        visit(word, static_cast<std::uint8_t>((1u << last) - (1u << first)));
    }
}

}  // namespace

void Cluster::access(const void* address, std::uint64_t bytes, int kind) {
    Thread& self = this->self();
    if (++self.accesses > most_accesses) fail("the thread makes 20 million accesses without waiting: an endless loop");
    const std::size_t owner = fibers_.owner(address);
    if (owner == self.number) return;  // a local variable
    if (owner < fibers_.count()) fail([&] { return "accesses a local variable of " + place(threads_[owner]); });
    check(address, bytes, kind, false);
}

void Cluster::check(const void* address, std::uint64_t bytes, int kind, bool by_copy) {
    Thread& self = this->self();
    Access access;
    access.launch = launch_;
    access.cluster = number_;
    access.time = by_copy ? self.clock.last_copy : self.clock.time;
    access.component = static_cast<std::uint16_t>(by_copy ? threads_.size() + self.number : self.number);
    access.write = (kind & AccessKind::write) != 0;
    access.atomic = (kind & AccessKind::atomic) != 0;
    if ((kind & AccessKind::unaligned) == 0 && reinterpret_cast<std::uintptr_t>(address) % bytes != 0)
        fail([&] { return describe_misaligned(address, bytes, 0); });
    if (shared_.contains(address))
        check_shared(shared_.address(address), bytes, access);
    else
        check_global(address, bytes, access);
}

void Cluster::check_shared(std::uint32_t address, std::uint64_t bytes, Access access) {
    const SharedMemory::Variable* variable = shared_.find(address, bytes);
    if (variable == nullptr)
        fail([&] {
            return fmt::format("{} {} bytes of shared memory outside of all variables: {}", verb(access), bytes,
                               shared_.nearest(address, bytes));
        });
    for_each_word(address, bytes, [&](std::uintptr_t word, std::uint8_t mask) {
        access.bytes = mask;
        const Access* earlier =
            shared_.cells(static_cast<std::uint32_t>(word)).add(access, random_.next(), [&](const Access& cell) {
                return is_ordered(cell);
            });
        if (earlier != nullptr)
            fail([&] {
                const std::size_t offset = address % SharedMemory::stride - variable->offset;
                return describe_race(*earlier, access) + place_in(variable->name, offset, bytes);
            });
    });
}

void Cluster::check_global(const void* address, std::uint64_t bytes, Access access) {
    if (memory_ == nullptr) return;
    GlobalMemory::Buffer* buffer = memory_->find(address);
    const auto* byte = static_cast<const std::byte*>(address);
    if (buffer == nullptr || byte + bytes > buffer->data + buffer->bytes) {
        const bool is_constant = byte >= kernel_.object && byte + bytes <= kernel_.object + kernel_.object_bytes;
        if (is_constant) return;
        fail([&] {
            return fmt::format("{} {} bytes outside of all buffers: {}", verb(access), bytes,
                               memory_->nearest(address, bytes));
        });
    }
    const auto offset = static_cast<std::size_t>(byte - buffer->data);
    if (!buffer->is_writable) {
        if (access.write)
            fail([&] {
                return fmt::format("{} a buffer that is read-only", verb(access)) +
                       place_in(buffer->name, offset, bytes);
            });
        return;
    }
    if (access.write && !access.atomic) has_unfenced_writes_ = true;
    const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(buffer->data) & ~std::uintptr_t{3};
    for_each_word(reinterpret_cast<std::uintptr_t>(address), bytes, [&](std::uintptr_t word, std::uint8_t mask) {
        access.bytes = mask;
        const Access* earlier =
            memory_->cells(*buffer, (word - first) / 4).add(access, random_.next(), [&](const Access& cell) {
                return is_ordered(cell);
            });
        if (earlier != nullptr)
            fail([&] { return describe_race(*earlier, access) + place_in(buffer->name, offset, bytes); });
    });
    if (access.atomic) publish(address);
}

bool Cluster::is_ordered(const Access& earlier) const {
    if (earlier.launch != launch_) return memory_->is_complete(earlier.launch, running_->has_waited);
    if (earlier.cluster != number_) return seen_.contains(earlier.cluster);
    return running_->clock.follows(earlier.component, earlier.time);
}

/// The pattern of a block that finishes the work of others: each writes, fences and counts itself by an atomic
/// operation.
void Cluster::publish(const void* address) {
    auto& published = memory_->published_[address];
    seen_.insert(published.begin(), published.end());
    if (has_unfenced_writes_) return;
    published.insert(seen_.begin(), seen_.end());
    published.insert(number_);
}

std::string Cluster::describe_misaligned(const void* address, std::uint64_t bytes, int line) const {
    std::string where = "it is in global memory";
    if (shared_.contains(address))
        where = shared_.nearest(shared_.address(address), bytes);
    else if (memory_ != nullptr)
        where = memory_->nearest(address, bytes);
    return fmt::format("misaligned access of {} bytes{}; {}", bytes, line > 0 ? fmt::format(" at line {}", line) : "",
                       where);
}

std::string Cluster::describe_race(const Access& earlier, const Access& later) const {
    if (earlier.launch != launch_)
        return fmt::format("{} before dependency_wait() what an earlier launch {}", verb(later), verb(earlier));
    if (earlier.cluster != number_)
        return fmt::format("race: {} what another block {} in the same launch", verb(later), verb(earlier));
    const bool by_copy = earlier.component >= threads_.size();
    const Thread& other = threads_[earlier.component % threads_.size()];
    return fmt::format("race: {} without synchronisation what {}{} {}", verb(later),
                       by_copy ? "an asynchronous copy of " : "", place(other), verb(earlier));
}

}  // namespace cairn::emulated_cuda
