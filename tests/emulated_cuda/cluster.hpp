#pragma once

#include "tests/emulated_cuda/fiber.hpp"
#include "tests/emulated_cuda/global_memory.hpp"
#include "tests/emulated_cuda/random.hpp"
#include "tests/emulated_cuda/shared_memory.hpp"
#include "tests/emulated_cuda/thread.hpp"

#include <map>
#include <string>

namespace cairn::emulated_cuda {

/// A kernel in memory, with the arguments of a launch.
struct LoadedKernel {
    void (*entry)(void** arguments);
    void** arguments;
    const std::byte* object;  // the shared object of the kernel, whose constants it may read
    std::size_t object_bytes;
};

/// The threads of one cluster, or of one block if there are no clusters: fibers that are resumed in random order and
/// change only where a thread waits. Made for a launch; runs its clusters one after another.
class Cluster {
public:
    Cluster(const LoadedKernel& kernel, const Triple& grid, const Triple& block, std::uint32_t blocks,
            std::size_t dynamic_bytes, GlobalMemory* memory, Random& random);

    /// Runs the cluster whose first block is given. Returns the fault that ended it, or an empty text.
    std::string run(const Triple& first_block, std::uint32_t number);

    /// The place in the kernel of an access that was the fault, or null.
    const void* fault_code() const { return fault_code_; }

    /// The functions that kernels call.
    static RuntimeCalls calls();

private:
    struct Calls;
    static void run_thread(void* cluster, std::size_t thread);

    // cluster.cpp: scheduling
    void reset(const Triple& first_block, std::uint32_t number);
    Thread* next_thread();
    void wait(const char* what, int line);
    void wake(Thread& thread);
    void finish(Thread& thread);
    /// Ends the cluster with a fault of the running thread. The stacks of threads are abandoned, so a text is made by a
    /// function, of which nothing remains on the stack.
    template <class Describe>
    [[noreturn]] void fail(const Describe& describe) {
        record(place(self()) + ": " + describe());
        abandon();
    }
    [[noreturn]] void fail(const char* what) {
        fail([&] { return std::string(what); });
    }
    void record(std::string fault) {
        fault_ = std::move(fault);
        fault_code_ = self().code;
    }
    [[noreturn]] void abandon();
    std::string place(const Thread& thread) const;
    std::string deadlock() const;
    Thread& self() { return *running_; }

    // accesses.cpp: the memory model
    void access(const void* address, std::uint64_t bytes, int kind);
    void check(const void* address, std::uint64_t bytes, int kind, bool by_copy);
    void check_shared(std::uint32_t address, std::uint64_t bytes, Access access);
    void check_global(const void* address, std::uint64_t bytes, Access access);
    bool is_ordered(const Access& earlier) const;
    std::string describe_misaligned(const void* address, std::uint64_t bytes, int line) const;
    std::string describe_race(const Access& earlier, const Access& later) const;
    void publish(const void* address);

    // barriers.cpp
    int block_barrier(BarrierResult result, int predicate, int line);
    void named_barrier(unsigned id, unsigned threads, bool waits, int line);
    void cluster_arrive(bool releases);
    void cluster_wait(int line);
    void complete_cluster_barrier();
    void complete(BarrierState& barrier);

    // warps.cpp
    void warp(WarpOperation operation, unsigned mask, void* part, int line);
    void perform(const WarpOperationState& barrier);

    // copies.cpp
    void copy_16_bytes(void* target, const void* source, bool valid);
    void wait_copies(int pending);
    void mbarrier_init(const void* barrier, unsigned arrivals);
    void mbarrier_arrive(std::uint32_t barrier, unsigned bytes);
    void mbarrier_wait(const void* barrier, unsigned parity, int line);
    void copy_bulk(void* target, const void* source, unsigned bytes, const void* barrier);
    void store_async(std::uint32_t address, const void* value, unsigned bytes, std::uint32_t barrier);
    std::uint32_t shared_address(const void* pointer);
    std::uint32_t map_shared(std::uint32_t address, unsigned rank);
    Mbarrier& find_mbarrier(std::uint32_t barrier);
    void check_alive(std::uint32_t address);
    void land(const PendingWrite& write);
    void advance(Mbarrier& barrier);

    LoadedKernel kernel_;
    std::uint32_t block_threads_;
    GlobalMemory* memory_;
    Random& random_;
    SharedMemory shared_;
    Fibers fibers_;
    std::vector<Thread> threads_;
    std::vector<BlockState> blocks_;

    std::vector<Thread*> ready_;
    Thread* running_ = nullptr;
    std::string fault_;
    const void* fault_code_ = nullptr;

    std::vector<std::vector<WarpOperationState>> warps_;
    BarrierState barrier_;  // of the cluster
    std::uint32_t barrier_phase_ = 0;
    Clock barrier_clock_;  // of its last phase
    std::size_t arrived_ = 0, finished_ = 0;
    std::map<std::uint32_t, Mbarrier> mbarriers_;
    std::vector<PendingWrite> pending_writes_;

    std::uint32_t launch_ = 1, number_ = 0;
    std::unordered_set<std::uint32_t> seen_;  // clusters whose writes are known to this one
    bool has_unfenced_writes_ = false;        // to global memory
};

}  // namespace cairn::emulated_cuda
