// Copies from global to shared memory that a thread starts and later waits for.
#ifndef CAIRN_EMULATED

/// The address of shared memory of this block, as the instructions for shared memory and clusters take it.
CAIRN_DEVICE u32 shared_address(const void* pointer) { return u32(__cvta_generic_to_shared(pointer)); }

/// Starts a copy of 16 bytes, both addresses aligned to 16, or writes 16 zero bytes if not `valid`.
CAIRN_DEVICE void copy_16_bytes_async(void* target, const void* source, bool valid = true) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(target)),
                 "l"(__cvta_generic_to_global(source)), "r"(valid ? 16 : 0)
                 : "memory");
}

/// Makes the copies that this thread has started since the last call one group.
CAIRN_DEVICE void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until at most the `pending` youngest groups of this thread are unfinished; other threads need a barrier too.
template <int pending>
CAIRN_DEVICE void wait_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

#if __CUDA_ARCH__ >= 900

/// Initialises an mbarrier in shared memory, by one thread: a phase completes after `arrivals` arrivals and all bytes
/// expected.
CAIRN_DEVICE void mbarrier_init(u64* barrier, u32 arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

/// Makes initialised mbarriers visible to asynchronous copies and, with a cluster barrier after it, to other blocks.
CAIRN_DEVICE void mbarrier_init_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/// Arrives at an mbarrier of this block.
CAIRN_DEVICE void mbarrier_arrive(u64* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Arrives at an mbarrier of this block and adds `bytes` to what its phase waits for.
CAIRN_DEVICE void mbarrier_expect(u64* barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

/// Waits until the phase of this parity has completed: 0 for the first phase, then alternating.
CAIRN_DEVICE void mbarrier_wait(u64* barrier, u32 parity) {
    const u32 address = shared_address(barrier);
    u32 done = 0;
    while (done == 0) {
        asm volatile(
            "{\n\t.reg .pred done;\n\t"
            "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%1], %2;\n\t"
            "selp.u32 %0, 1, 0, done;\n\t}"
            : "=r"(done)
            : "r"(address), "r"(parity)
            : "memory");
    }
}

/// Orders accesses of this thread before later asynchronous copies to the same shared memory.
CAIRN_DEVICE void async_copy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// Starts a copy of `bytes`, a multiple of 16, both addresses aligned to 16; the mbarrier receives the bytes.
CAIRN_DEVICE void copy_bulk_async(void* target, const void* source, u32 bytes, u64* barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(target)),
        "l"(__cvta_generic_to_global(source)), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
}

/// Requests `bytes`, a multiple of 16, of global memory into the L2 cache.
CAIRN_DEVICE void prefetch_l2(const void* source, u32 bytes) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(source)), "r"(bytes)
                 : "memory");
}

#endif
#endif
