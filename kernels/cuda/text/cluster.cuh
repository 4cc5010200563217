// Clusters: blocks that run together and write into one another's shared memory. From sm_90 on.
#if !defined(CAIRN_EMULATED) && __CUDA_ARCH__ >= 900

/// Number of this block in its cluster.
CAIRN_DEVICE u32 cluster_rank() {
    u32 rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/// Blocks in the cluster.
CAIRN_DEVICE u32 cluster_size() {
    u32 size;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    return size;
}

/// Arrives at the barrier of the cluster; earlier writes are visible after the wait.
CAIRN_DEVICE void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }

/// Arrives at the barrier of the cluster without ordering memory, which is faster: after mbarrier_init_fence, and
/// before a block ends whose shared memory others may still write.
CAIRN_DEVICE void cluster_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }

/// Waits until all threads of the cluster have arrived.
CAIRN_DEVICE void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

/// The address in block `rank` that corresponds to a shared_address of this block.
CAIRN_DEVICE u32 map_shared(u32 address, u32 rank) {
    u32 mapped;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
    return mapped;
}

/// Stores to shared memory of any block of the cluster; the mbarrier, in the same block, receives 4 bytes.
CAIRN_DEVICE void store_async(u32 address, float value, u32 barrier) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(address),
                 "r"(__float_as_uint(value)), "r"(barrier)
                 : "memory");
}

/// As above for 16 bytes, aligned to 16.
CAIRN_DEVICE void store_async(u32 address, float4 value, u32 barrier) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                     address),
                 "r"(__float_as_uint(value.x)), "r"(__float_as_uint(value.y)), "r"(__float_as_uint(value.z)),
                 "r"(__float_as_uint(value.w)), "r"(barrier)
                 : "memory");
}

/// Arrives at an mbarrier of any block of the cluster.
CAIRN_DEVICE void mbarrier_arrive_remote(u32 barrier) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Stores to shared memory of any block of the cluster; ordered by the barrier of the cluster.
CAIRN_DEVICE void store_remote(u32 address, float value) {
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
}

/// Loads from shared memory of any block of the cluster.
CAIRN_DEVICE float load_remote(u32 address) {
    float value;
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
    return value;
}

#endif
