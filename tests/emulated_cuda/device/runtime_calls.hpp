#pragma once

/// What compiled kernels and the emulator share. Kernels are compiled without standard headers, which would take longer
/// than the kernels; so this header has none.
namespace cairn::emulated_cuda {

/// Three sizes or positions, as CUDA's uint3 and dim3.
struct Triple {
    unsigned x = 1, y = 1, z = 1;
};

/// The built-in variables of the running thread.
struct Position {
    Triple thread, block, block_size, grid;
};

/// An access to memory by a thread.
struct AccessKind {
    static constexpr int read = 0, write = 1, atomic = 2;
    static constexpr int unaligned = 4;  // no alignment is required
};

/// What the lanes of a warp do together; lanes that meet must do the same.
enum class WarpOperation {
    synchronize,
    shuffle,
    ballot,
    mma_f16,
    mma_bf16,
    mma_i8,
    mma_tf32,
    load_matrices,
    load_matrices_transposed
};

/// One lane's part of a shuffle or ballot.
struct LaneExchange {
    unsigned long long value;
    int source;  // lane to read from; of a ballot unused
    unsigned long long result;
};

/// One lane's part of a matrix product d += a b.
struct LaneFragments {
    void* d;  // int of mma_i8, else float
    const unsigned* a;
    const unsigned* b;
};

/// One lane's part of loading four 8x8 matrices.
struct LaneRow {
    const void* row;
    unsigned* result;
};

/// How a barrier combines the predicates of its threads.
enum class BarrierResult { none, any, all, count };

/// The functions of the emulator that kernels call, as a table: a kernel's shared object has no undefined symbols. A
/// call may suspend the calling thread, and does not return if it finds a fault.
struct RuntimeCalls {
    const Position* (*position)();  // of the running thread

    /// `code` is the place in the kernel, for messages.
    void (*access)(const void* address, unsigned long long bytes, int kind, const void* code);
    void (*misaligned)(const void* address, unsigned long long alignment, int line);
    void (*out_of_bounds)(long long index, int line);
    void* (*shared_variable)(const void* key, const char* name, unsigned long long bytes, unsigned long long alignment);
    void* (*dynamic_shared)();
    void (*trap)(const char* what);

    int (*block_barrier)(BarrierResult result, int predicate, int line);
    void (*named_barrier)(unsigned id, unsigned threads, bool wait, int line);
    void (*warp)(WarpOperation operation, unsigned mask, void* part, int line);
    void (*memory_fence)();
    void (*dependency_wait)();
    void (*trigger_dependents)();

    unsigned (*shared_address)(const void* pointer);
    void (*copy_16_bytes)(void* target, const void* source, bool valid);
    void (*commit_copies)();
    void (*wait_copies)(int pending);
    void (*mbarrier_init)(const void* barrier, unsigned arrivals);
    void (*mbarrier_init_fence)();
    void (*mbarrier_arrive)(unsigned barrier, unsigned expected_bytes);
    void (*mbarrier_wait)(const void* barrier, unsigned parity, int line);
    void (*copy_bulk)(void* target, const void* source, unsigned bytes, const void* barrier);

    unsigned (*cluster_rank)();
    unsigned (*cluster_size)();
    void (*cluster_arrive)(bool release, int line);
    void (*cluster_wait)(int line);
    unsigned (*map_shared)(unsigned address, unsigned rank);
    void (*store_async)(unsigned address, const void* value, unsigned bytes, unsigned barrier);
    void* (*remote)(unsigned address);  // where the memory of a shared address is
};

}  // namespace cairn::emulated_cuda
