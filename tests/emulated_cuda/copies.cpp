// Asynchronous copies into shared memory, and the mbarriers that receive them. A copy's bytes are there only when it
// has been awaited; until then any access to its target is a race with it.
#include "tests/emulated_cuda/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace cairn::emulated_cuda {

namespace {

void deliver(const StartedCopy& copy) {
    if (copy.source == nullptr)
        std::memset(copy.target, 0, 16);
    else
        std::memcpy(copy.target, copy.source, 16);
}

}  // namespace

std::uint32_t Cluster::shared_address(const void* pointer) {
    if (!shared_.contains(pointer)) fail("a pointer that is not to shared memory is used as one");
    return shared_.address(pointer);
}

std::uint32_t Cluster::map_shared(std::uint32_t address, unsigned rank) {
    if (rank >= shared_.blocks())
        fail([&] { return fmt::format("block {} of a cluster of {}", rank, shared_.blocks()); });
    return static_cast<std::uint32_t>(rank * SharedMemory::stride + address % SharedMemory::stride);
}

void Cluster::check_alive(std::uint32_t address) {
    const std::size_t block = address / SharedMemory::stride;
    if (block >= shared_.blocks())
        fail([&] { return fmt::format("shared address {:#x} is outside of the cluster", address); });
    if (blocks_[block].finished == block_threads_)
        fail([&] { return fmt::format("accesses shared memory of block {} of the cluster, which has ended", block); });
}

void Cluster::copy_16_bytes(void* target, const void* source, bool valid) {
    Thread& self = this->self();
    shared_address(target);
    ++self.clock.last_copy;
    if (valid) check(source, 16, AccessKind::read, false);
    check(target, 16, AccessKind::write, true);
    const StartedCopy copy{target, valid ? source : nullptr, self.clock.last_copy, random_.below(2) == 0};
    if (copy.is_early) deliver(copy);
    self.uncommitted.push_back(copy);
}

void Cluster::wait_copies(int pending) {
    Thread& self = this->self();
    while (self.groups.size() > static_cast<std::size_t>(pending)) {
        for (const StartedCopy& copy : self.groups.front()) {
            if (!copy.is_early) deliver(copy);
            self.clock.copies = copy.number;
        }
        self.groups.erase(self.groups.begin());
    }
}

void Cluster::mbarrier_init(const void* barrier, unsigned arrivals) {
    const std::uint32_t address = shared_address(barrier);
    check(barrier, 8, AccessKind::write, false);
    if (arrivals == 0) fail("an mbarrier for 0 arrivals");
    mbarriers_[address] = {};
    mbarriers_[address].arrivals = mbarriers_[address].pending = arrivals;
}

Mbarrier& Cluster::find_mbarrier(std::uint32_t barrier) {
    check_alive(barrier);
    const auto at = mbarriers_.find(barrier);
    if (at == mbarriers_.end())
        fail([&] { return fmt::format("an mbarrier that is not initialised: {}", shared_.nearest(barrier, 8)); });
    check(shared_.pointer(barrier), 8, AccessKind::write | AccessKind::atomic, false);
    return at->second;
}

namespace {

void gather(Mbarrier& barrier, std::size_t components) {
    if (barrier.merged == nullptr) {
        barrier.merged = std::make_shared<std::vector<std::uint32_t>>(components);
        barrier.last_merged = nullptr;
    }
}

void raise(std::uint32_t& component, std::uint32_t value) { component = std::max(component, value); }

}  // namespace

void Cluster::advance(Mbarrier& barrier) {
    if (barrier.pending != 0 || barrier.bytes != 0) return;
    ++barrier.phase;
    barrier.pending = barrier.arrivals;
    barrier.completed = std::move(barrier.merged);
    barrier.merged = nullptr;
    for (Thread* thread : barrier.waiting) wake(*thread);
    barrier.waiting.clear();
}

void Cluster::mbarrier_arrive(std::uint32_t address, unsigned bytes) {
    Mbarrier& barrier = find_mbarrier(address);
    if (barrier.pending == 0) fail("more arrivals at an mbarrier than its phase has");
    gather(barrier, 2 * threads_.size());
    const ThreadClock released = release(self().clock);
    auto& clock = *barrier.merged;
    if (barrier.last_merged != released.others.get()) {
        barrier.last_merged = released.others.get();
        for (std::size_t i = 0; i < clock.size(); ++i) raise(clock[i], (*released.others)[i]);
    }
    raise(clock[released.thread], released.time);
    raise(clock[threads_.size() + released.thread], released.copies);
    --barrier.pending;
    barrier.bytes += bytes;
    advance(barrier);
}

void Cluster::mbarrier_wait(const void* barrier, unsigned parity, int line) {
    Mbarrier& awaited = find_mbarrier(shared_address(barrier));
    while ((awaited.phase & 1) == (parity & 1)) {
        awaited.waiting.push_back(&self());
        wait("mbarrier_wait()", line);
    }
    self().clock.others = joined(self().clock.others, awaited.completed);
}

void Cluster::copy_bulk(void* target, const void* source, unsigned bytes, const void* barrier) {
    Thread& self = this->self();
    const std::uint32_t address = shared_address(target), mbarrier = shared_address(barrier);
    find_mbarrier(mbarrier);
    if (bytes == 0 || bytes % 16 != 0)
        fail([&] { return fmt::format("a bulk copy of {} bytes, not a multiple of 16", bytes); });
    ++self.clock.last_copy;
    if (reinterpret_cast<std::uintptr_t>(source) % 16 != 0 || reinterpret_cast<std::uintptr_t>(target) % 16 != 0)
        fail("a bulk copy whose addresses are not aligned to 16");
    check(source, bytes, AccessKind::read | AccessKind::unaligned, false);
    check(target, bytes, AccessKind::write | AccessKind::unaligned, true);
    pending_writes_.push_back({address, bytes, mbarrier, source, {}, self.number, self.clock.last_copy});
}

void Cluster::store_async(std::uint32_t address, const void* value, unsigned bytes, std::uint32_t barrier) {
    Thread& self = this->self();
    find_mbarrier(barrier);
    if (address / SharedMemory::stride != barrier / SharedMemory::stride)
        fail("an asynchronous store whose mbarrier is in another block than its target");
    ++self.clock.last_copy;
    check(shared_.pointer(address), bytes, AccessKind::write, true);
    PendingWrite write{address, bytes, barrier, nullptr, {}, self.number, self.clock.last_copy};
    std::memcpy(write.value.data(), value, bytes);
    pending_writes_.push_back(write);
}

void Cluster::land(const PendingWrite& write) {
    const std::size_t block = write.target / SharedMemory::stride;
    if (blocks_[block].finished == block_threads_) {
        fault_ = fmt::format("{}: an asynchronous copy arrives in block {} of the cluster, which has ended",
                             place(threads_[write.thread]), block);
        return;
    }
    const void* source = write.source != nullptr ? write.source : write.value.data();
    std::memcpy(shared_.pointer(write.target), source, write.bytes);
    Mbarrier& barrier = mbarriers_.at(write.barrier);
    gather(barrier, 2 * threads_.size());
    raise((*barrier.merged)[threads_.size() + write.thread], write.number);
    barrier.bytes -= write.bytes;
    advance(barrier);
}

}  // namespace cairn::emulated_cuda
