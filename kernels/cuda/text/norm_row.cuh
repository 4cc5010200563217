// Rows, weights in shared memory and their products: what the kernels for one row of a transformer share.

/// Copies 16 bytes to shared memory, asynchronously if the source is aligned; zeros if not `valid`.
template <class Element>
CAIRN_DEVICE void copy_weights(void* target, const void* source, bool aligned, bool valid) {
    if (aligned) return copy_16_bytes_async(target, source, valid);
    for (int i = 0; i < int(16 / sizeof(Element)); ++i)
        ((Element*)target)[i] = valid ? ((const Element*)source)[i] : Element(0);
}

/// Copies `count` pieces of bound weights, `bytes` each, a multiple of 16, from source(i) to consecutive shared memory.
/// If `aligned`, the first warp issues bulk copies, whose bytes the mbarrier receives; otherwise all threads copy
/// element by element, and a barrier of the block must follow.
template <class Element, int threads, class Source>
CAIRN_DEVICE void copy_pieces(unsigned char* target, int count, int bytes, bool aligned, u64* received,
                              const Source& source) {
    if (aligned) {
        for (int i = threadIdx.x; threadIdx.x < 32 && i < count; i += 32)
            copy_bulk_async(target + i * bytes, source(i), bytes, received);
        return;
    }
    const int elements = bytes / int(sizeof(Element));
    for (int i = threadIdx.x; i < count * elements; i += threads)
        ((Element*)target)[i] = source(i / elements)[i % elements];
}

/// What each of `threads` threads has of a vector: groups of four neighbours.
template <int width, int threads>
struct ThreadElements {
    static constexpr int groups = (width / 4 + threads - 1) / threads;
    float value[groups][4];

    /// The place of a group; not below `width`: there is none.
    CAIRN_DEVICE int place(int group) { return 4 * (int(threadIdx.x) + threads * group); }
};

/// Loads a bound vector, before the dependency wait.
template <int width, int threads>
CAIRN_DEVICE ThreadElements<width, threads> load_elements(const float* source) {
    ThreadElements<width, threads> elements = {};
    const bool aligned = is_aligned(source);
#pragma unroll
    for (int group = 0; group < elements.groups; ++group) {
        const int place = elements.place(group);
        if (place >= width) continue;
        if (aligned) {
            StoredF32::unpack(load_16_bytes(source + place), elements.value[group]);
        } else {
#pragma unroll
            for (int e = 0; e < 4; ++e) elements.value[group][e] = load_f32(source + place + e);
        }
    }
    return elements;
}

/// Loads a row from memory, or the sum of its parts, to shared memory aligned to 16 bytes, and its norm as well. A
/// barrier of the block follows; `scratch` has an element a warp.
template <int parts, int width, int threads>
CAIRN_DEVICE void load_norm(float* row, float* normal, float* scratch, const float* source,
                            const ThreadElements<width, threads>& gamma, const ThreadElements<width, threads>& beta,
                            float eps) {
    using Elements = ThreadElements<width, threads>;
    const bool aligned = is_aligned(source);
    Elements x = {};
    float sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (int group = 0; group < Elements::groups; ++group) {
        const int place = Elements::place(group);
        if (place >= width) continue;
        float(&four)[4] = x.value[group];
        if (aligned) {
            StoredF32::unpack(sum_of_wide_parts<parts>(source + place, width), four);
        } else {
#pragma unroll 1
            for (int e = 0; e < 4; ++e) row[place + e] = sum_of_parts<parts>(source + place + e, width);
            for (int e = 0; e < 4; ++e) four[e] = row[place + e];
        }
        *(float4*)&row[place] = make_float4(four[0], four[1], four[2], four[3]);
        sum += (four[0] + four[1]) + (four[2] + four[3]);
    }
    const float mean = block_sum<threads>(sum, scratch) / float(width);
#pragma unroll
    for (int group = 0; group < Elements::groups; ++group) {
        if (Elements::place(group) >= width) continue;
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            x.value[group][e] -= mean;
            squares = fmaf(x.value[group][e], x.value[group][e], squares);
        }
    }
    const float scale = 1.0f / sqrtf(block_sum<threads>(squares, scratch) / float(width) + eps);
#pragma unroll
    for (int group = 0; group < Elements::groups; ++group) {
        if (Elements::place(group) >= width) continue;
        float four[4];
#pragma unroll
        for (int e = 0; e < 4; ++e)
            four[e] = fmaf(x.value[group][e] * scale, gamma.value[group][e], beta.value[group][e]);
        *(float4*)&normal[Elements::place(group)] = make_float4(four[0], four[1], four[2], four[3]);
    }
}

/// Products of a vector in shared memory with `width` columns of a matrix of `depth` rows there, whose rows are dense.
/// Threads of a group multiply every `groups`-th row; the sums of a group are in `sums`, [groups][width].
template <class Weights, int width, int depth, int threads, int groups>
CAIRN_DEVICE void multiply_rows(const float* vector, const unsigned char* matrix, float* sums) {
    constexpr int count = Weights::count, chunks = width / count;
    const int group = threadIdx.x / chunks;
    if (group >= groups) return;
    for (int at = threadIdx.x - group * chunks; at < chunks; at += threads) {
        float total[count] = {};
#pragma unroll 4
        for (int row = group; row < depth; row += groups) {
            float w[count];
            Weights::unpack(*(uint4*)(matrix + (row * chunks + at) * 16), w);
#pragma unroll
            for (int e = 0; e < count; ++e) total[e] = fmaf(vector[row], w[e], total[e]);
        }
#pragma unroll
        for (int e = 0; e < count; ++e) sums[group * width + at * count + e] = total[e];
    }
}

/// Groups of multiply_rows(): as many as there are threads for, and at most `most`.
template <class Weights, int width, int threads, int most>
struct RowGroups {
    static constexpr int chunks = width / Weights::count, all = threads / chunks > 0 ? threads / chunks : 1;
    static constexpr int count = all < most ? all : most;
};

/// Four neighbours of the sums of all groups, added in their order.
template <int width, int groups>
CAIRN_DEVICE float4 sum_of_groups(const float* sums, int at) {
    float4 total = *(float4*)&sums[at];
#pragma unroll 4
    for (int group = 1; group < groups; ++group) {
        const float4 next = *(float4*)&sums[group * width + at];
        total.x += next.x, total.y += next.y, total.z += next.z, total.w += next.w;
    }
    return total;
}
