// Reductions over the threads of a block, in a fixed order: the same bits in every run and in every thread. All threads
// call them. `scratch` is shared memory with one element a warp.

template <int threads>
CAIRN_DEVICE float block_sum(float value, float* scratch) {
    value = warp_sum(value);
    if constexpr (threads == 32) return value;
    __syncthreads();  // what was in scratch has been read
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = scratch[0];
    for (int warp = 1; warp < threads / 32; ++warp) sum += scratch[warp];
    return sum;
}

/// A NaN of any thread is the result.
template <int threads>
CAIRN_DEVICE float block_max(float value, float* scratch) {
    value = warp_max(value);
    if constexpr (threads == 32) return value;
    __syncthreads();
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
    __syncthreads();
    float largest = scratch[0];
    for (int warp = 1; warp < threads / 32; ++warp) largest = element_max(largest, scratch[warp]);
    return largest;
}

/// A value and its place; the place is -1 if there is none.
struct PlacedValue {
    float value;
    i32 place;
};

/// The larger of two: a NaN before all numbers, among equal values the first place.
CAIRN_DEVICE PlacedValue larger_placed(PlacedValue a, PlacedValue b) {
    if (a.place < 0 || b.place < 0) return a.place < 0 ? b : a;
    const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
    const bool takes_b = a_is_nan || b_is_nan ? b_is_nan && (!a_is_nan || b.place < a.place)
                                              : b.value > a.value || (b.value == a.value && b.place < a.place);
    return takes_b ? b : a;
}

template <int threads>
CAIRN_DEVICE PlacedValue block_larger_placed(PlacedValue value, PlacedValue* scratch) {
    for (int distance = 16; distance > 0; distance /= 2) {
        PlacedValue other;
        other.value = __shfl_xor_sync(all_lanes, value.value, distance);
        other.place = __shfl_xor_sync(all_lanes, value.place, distance);
        value = larger_placed(value, other);
    }
    if constexpr (threads == 32) return value;
    __syncthreads();
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
    __syncthreads();
    value = scratch[0];
    for (int warp = 1; warp < threads / 32; ++warp) value = larger_placed(value, scratch[warp]);
    return value;
}
