#include "tests/emulated_cuda/cluster.hpp"

#include <fmt/format.h>

#include <map>

namespace cairn::emulated_cuda {

namespace {

constexpr std::size_t stack_bytes = 64 << 10;

/// The cluster that runs on this thread of the host, for the calls of its kernel.
thread_local Cluster* current = nullptr;

}  // namespace

Cluster::Cluster(const LoadedKernel& kernel, const Triple& grid, const Triple& block, std::uint32_t blocks,
                 std::size_t dynamic_bytes, GlobalMemory* memory, Random& random)
    : kernel_(kernel),
      block_threads_(block.x * block.y * block.z),
      memory_(memory),
      random_(random),
      shared_(blocks, dynamic_bytes),
      fibers_(std::size_t{blocks} * block_threads_, stack_bytes, run_thread, this),
      threads_(fibers_.count()),
      launch_(memory != nullptr ? memory->launch_ : 1) {
    const std::uint32_t block_warps = (block_threads_ + 31) / 32;
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
        Thread& thread = threads_[i];
        const std::uint32_t in_block = i % block_threads_;
        thread.number = i;
        thread.block = i / block_threads_;
        thread.warp = thread.block * block_warps + in_block / 32;
        thread.lane = in_block % 32;
        thread.position.thread = {in_block % block.x, in_block / block.x % block.y, in_block / block.x / block.y};
        thread.position.block_size = block;
        thread.position.grid = grid;
    }
    warps_.resize(std::size_t{block_warps} * blocks);
}

void Cluster::reset(const Triple& first_block, std::uint32_t number) {
    shared_.clear();
    number_ = number;
    blocks_.assign(shared_.blocks(), BlockState{});
    for (auto& warp : warps_) warp.clear();
    barrier_ = {};
    barrier_phase_ = 0;
    barrier_clock_ = nullptr;
    arrived_ = finished_ = 0;
    mbarriers_.clear();
    pending_writes_.clear();
    seen_.clear();
    has_unfenced_writes_ = false;
    fault_.clear();
    fault_code_ = nullptr;
    ready_.clear();
    const auto start = std::make_shared<const std::vector<std::uint32_t>>(2 * threads_.size());
    for (Thread& thread : threads_) {
        Thread fresh;
        fresh.number = thread.number;
        fresh.block = thread.block;
        fresh.warp = thread.warp;
        fresh.lane = thread.lane;
        fresh.position = thread.position;
        fresh.position.block = {first_block.x + thread.block, first_block.y, first_block.z};
        fresh.clock.others = start;
        fresh.clock.thread = thread.number;
        thread = std::move(fresh);
        fibers_.restart(thread.number);
        ready_.push_back(&thread);
    }
}

/// The thread that runs next, from now on self(); null if none can. Lands writes in flight: each arrives at a random
/// time, at the latest when nothing else can happen.
Thread* Cluster::next_thread() {
    while (fault_.empty()) {
        if (pending_writes_.empty() || (!ready_.empty() && random_.below(16) != 0)) {
            if (ready_.empty()) return nullptr;
            std::swap(ready_[random_.below(ready_.size())], ready_.back());
            running_ = ready_.back();
            ready_.pop_back();
            running_->accesses = 0;
            return running_;
        }
        std::swap(pending_writes_[random_.below(pending_writes_.size())], pending_writes_.back());
        const PendingWrite write = pending_writes_.back();
        pending_writes_.pop_back();
        land(write);
    }
    return nullptr;
}

std::string Cluster::run(const Triple& first_block, std::uint32_t number) {
    reset(first_block, number);
    current = this;
    while (const Thread* next = next_thread()) fibers_.resume(next->number);
    current = nullptr;
    if (fault_.empty()) fault_ = deadlock();
    return std::move(fault_);
}

void Cluster::run_thread(void* cluster, std::size_t thread) {
    auto& self = *static_cast<Cluster*>(cluster);
    self.kernel_.entry(self.kernel_.arguments);
    self.finish(self.threads_[thread]);
}

void Cluster::finish(Thread& thread) {
    thread.has_finished = true;
    BlockState& block = blocks_[thread.block];
    ++block.finished;
    ++finished_;
    if (!thread.has_arrived || thread.arrival_phase != barrier_phase_) ++arrived_;
    if (block.finished == block_threads_ && memory_ != nullptr) {
        bool has_waited = false;
        for (const Thread& other : threads_) has_waited |= other.block == thread.block && other.has_waited;
        const std::uint32_t at_end = memory_->complete(has_waited);
        memory_->end_block(block.has_triggered ? block.complete_at_trigger : at_end, at_end);
    }
    complete_cluster_barrier();
}

void Cluster::wait(const char* what, int line) {
    Thread& thread = self();
    thread.waits_for = what;
    thread.line = line;
    const Thread* next = next_thread();
    if (next == nullptr)
        fibers_.suspend();
    else if (next != &thread)
        fibers_.pass_to(next->number);
    thread.waits_for = nullptr;
}

void Cluster::wake(Thread& thread) { ready_.push_back(&thread); }

void Cluster::abandon() {
    fibers_.suspend();
    __builtin_unreachable();  // a cluster with a fault resumes no thread
}

std::string Cluster::place(const Thread& thread) const {
    const Triple &b = thread.position.block, &t = thread.position.thread;
    return fmt::format("block ({}, {}, {}), thread ({}, {}, {})", b.x, b.y, b.z, t.x, t.y, t.z);
}

std::string Cluster::deadlock() const {
    struct Group {
        const Thread* first;
        std::size_t threads = 0;
    };
    std::map<std::pair<std::string, int>, Group> groups;
    std::size_t finished = 0;
    for (const Thread& thread : threads_) {
        if (thread.has_finished) {
            ++finished;
            continue;
        }
        ++groups.try_emplace({thread.waits_for, thread.line}, Group{&thread}).first->second.threads;
    }
    if (groups.empty()) return {};
    std::string text = "deadlock:";
    for (const auto& [what, group] : groups)
        text += fmt::format(" {} threads wait in {} at line {} (first: {});", group.threads, what.first, what.second,
                            place(*group.first));
    return text + fmt::format(" {} threads have finished", finished);
}

struct Cluster::Calls {
    static void* shared_variable(const void* key, const char* name, unsigned long long bytes,
                                 unsigned long long alignment) {
        void* place = current->shared_.variable(current->self().block, key, name, bytes, alignment);
        if (place == nullptr)
            current->fail([&] { return fmt::format("shared variable '{}' exceeds the limit of a block", name); });
        return place;
    }
    static void fence() { current->has_unfenced_writes_ = false; }
    static void trigger() {
        BlockState& block = current->blocks_[current->self().block];
        if (block.has_triggered || current->memory_ == nullptr) return;
        block.has_triggered = true;
        block.complete_at_trigger = current->memory_->complete(current->self().has_waited);
    }
    static void commit() {
        Thread& self = current->self();
        self.groups.push_back(std::move(self.uncommitted));
        self.uncommitted.clear();
    }
    static void* remote(unsigned address) {
        current->check_alive(address);
        return current->shared_.pointer(address);
    }
};

RuntimeCalls Cluster::calls() {
    RuntimeCalls calls{};
    calls.position = []() -> const Position* { return &current->self().position; };
    calls.access = [](const void* address, unsigned long long bytes, int kind, const void* code) {
        current->self().code = code;
        current->access(address, bytes, kind);
        current->self().code = nullptr;
    };
    calls.misaligned = [](const void* address, unsigned long long alignment, int line) {
        current->fail([&] { return current->describe_misaligned(address, alignment, line); });
    };
    calls.out_of_bounds = [](long long index, int line) {
        current->fail([&] { return fmt::format("index {} is outside of its array at line {}", index, line); });
    };
    calls.shared_variable = Calls::shared_variable;
    calls.dynamic_shared = []() -> void* { return current->shared_.dynamic(current->self().block); };
    calls.trap = [](const char* what) { current->fail([&] { return std::string(what); }); };
    calls.block_barrier = [](BarrierResult result, int predicate, int line) {
        return current->block_barrier(result, predicate, line);
    };
    calls.named_barrier = [](unsigned id, unsigned threads, bool waits, int line) {
        current->named_barrier(id, threads, waits, line);
    };
    calls.warp = [](WarpOperation operation, unsigned mask, void* part, int line) {
        current->warp(operation, mask, part, line);
    };
    calls.memory_fence = Calls::fence;
    calls.dependency_wait = [] { current->self().has_waited = true; };
    calls.trigger_dependents = Calls::trigger;
    calls.shared_address = [](const void* pointer) { return current->shared_address(pointer); };
    calls.copy_16_bytes = [](void* target, const void* source, bool valid) {
        current->copy_16_bytes(target, source, valid);
    };
    calls.commit_copies = Calls::commit;
    calls.wait_copies = [](int pending) { current->wait_copies(pending); };
    calls.mbarrier_init = [](const void* barrier, unsigned arrivals) { current->mbarrier_init(barrier, arrivals); };
    calls.mbarrier_init_fence = [] { current->self().fenced_time = release(current->self().clock).time; };
    calls.mbarrier_arrive = [](unsigned barrier, unsigned bytes) { current->mbarrier_arrive(barrier, bytes); };
    calls.mbarrier_wait = [](const void* barrier, unsigned parity, int line) {
        current->mbarrier_wait(barrier, parity, line);
    };
    calls.copy_bulk = [](void* target, const void* source, unsigned bytes, const void* barrier) {
        current->copy_bulk(target, source, bytes, barrier);
    };
    calls.cluster_rank = [] { return current->self().block; };
    calls.cluster_size = [] { return static_cast<unsigned>(current->shared_.blocks()); };
    calls.cluster_arrive = [](bool releases, int) { current->cluster_arrive(releases); };
    calls.cluster_wait = [](int line) { current->cluster_wait(line); };
    calls.map_shared = [](unsigned address, unsigned rank) { return current->map_shared(address, rank); };
    calls.store_async = [](unsigned address, const void* value, unsigned bytes, unsigned barrier) {
        current->store_async(address, value, bytes, barrier);
    };
    calls.remote = Calls::remote;
    return calls;
}

}  // namespace cairn::emulated_cuda
