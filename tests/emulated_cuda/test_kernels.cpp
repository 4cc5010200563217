#include "tests/emulated_cuda/test_kernels.hpp"

#include "tests/emulated_cuda/prelude.hpp"
#include "tests/emulated_cuda/random.hpp"

#include <stdexcept>

namespace cairn::emulated_cuda {

const char* const add_kernel = R"(
extern "C" __global__ void __launch_bounds__(128) add(int n, const float* x, const float* y, float* z) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}
)";

const char* const sum_kernel = R"(
extern "C" __global__ void sum_rows(int n, const float* x, float* y) {
    __shared__ float part[8];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[blockIdx.x * n + i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0;
        for (int w = 0; w < blockDim.x / 32; ++w) total += part[w];
        y[blockIdx.x] = total;
    }
}
)";

const char* const softmax_kernel = R"(
template <bool is_max>
CAIRN_DEVICE float block_reduce(float value, float* part) {
    value = is_max ? warp_max(value) : warp_sum(value);
    __syncthreads();  // before the overwrite
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();  // before the read
    float total = part[0];
    for (int w = 1; w < blockDim.x / 32; ++w) total = is_max ? fmaxf(total, part[w]) : total + part[w];
    return total;
}
extern "C" __global__ void softmax(int n, const float* x, float* y) {
    extern __shared__ float row[];
    __shared__ float part[8];
    float largest = -3.0e38f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) largest = fmaxf(largest, row[i] = x[blockIdx.x * n + i]);
    largest = block_reduce<true>(largest, part);
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i] = __expf(row[i] - largest);
    const float scale = __fdividef(1.0f, block_reduce<false>(sum, part));
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = row[i] * scale;
}
)";

const char* const transpose_kernel = R"(
extern "C" __global__ void transpose(int rows, int columns, const float* x, float* y) {
    __shared__ float tile[32][33];
    const int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (r + i < rows && c < columns) tile[threadIdx.y + i][threadIdx.x] = x[(r + i) * columns + c];
    __syncthreads();
    const int row = blockIdx.x * 32 + threadIdx.y, column = blockIdx.y * 32 + threadIdx.x;
    for (int i = 0; i < 32; i += 8)
        if (row + i < columns && column < rows) y[(row + i) * rows + column] = tile[threadIdx.x][threadIdx.y + i];
}
)";

const char* const handover_kernel = R"(
extern "C" __global__ void handover(int steps, const float* x, float* y) {
    __shared__ float tile[32];
    const int lane = threadIdx.x % 32;
    for (int step = 0; step < steps; ++step) {
        if (threadIdx.x < 32) {
            if (step > 0) named_barrier_wait(2, 64);  // empty
            tile[31 - lane] = x[step * 32 + lane];
            named_barrier_arrive(1, 64);  // full
        } else {
            named_barrier_wait(1, 64);
            y[step * 32 + lane] = tile[lane];
            if (step + 1 < steps) named_barrier_arrive(2, 64);
        }
    }
}
)";

const char* const last_block_kernel = R"(
extern "C" __global__ void sum_by_last_block(int n, const float* x, float* part, u32* finished, float* y) {
    __shared__ bool is_last;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float sum = warp_sum(i < n ? x[i] : 0.0f);
    if (threadIdx.x == 0) {
        part[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    float total = 0;
    for (int b = threadIdx.x; b < gridDim.x; b += 32) total += part[b];
    total = warp_sum(total);
    if (threadIdx.x == 0) y[0] = total;
}
)";

const char* const product_kernel = R"(
extern "C" __global__ void product(int m, int n, int k, int ka, int nb, const float* a, const float* b, float* c) {
    constexpr int stages = 3;
    extern __shared__ __align__(16) float tiles[];  // stages x (16x16 of a, 16x16 of b)
    const int t = threadIdx.x, row0 = blockIdx.y * 16, column0 = blockIdx.x * 16, steps = (k + 15) / 16;
    const auto fetch = [&](int step) {
        if (step < steps) {
            float* tile = tiles + step % stages * 512;
            const int r = t / 4, q = t % 4 * 4;
            const bool in_a = row0 + r < m && step * 16 + q < ka, in_b = step * 16 + r < k && column0 + q < nb;
            copy_16_bytes_async(tile + r * 16 + q, in_a ? a + (row0 + r) * ka + step * 16 + q : a, in_a);
            copy_16_bytes_async(tile + 256 + r * 16 + q, in_b ? b + (step * 16 + r) * nb + column0 + q : b, in_b);
        }
        commit_copies();
    };
    float sums[4] = {};
    fetch(0);
    fetch(1);
    for (int step = 0; step < steps; ++step) {
        wait_copies<1>();
        __syncthreads();  // all copies of the step are there, and the stage to overwrite has been read
        fetch(step + 2);
        const float* tile = tiles + step % stages * 512;
        for (int i = 0; i < 16 && step * 16 + i < k; ++i)
            for (int j = 0; j < 4; ++j) sums[j] = fmaf(tile[t / 4 * 16 + i], tile[256 + i * 16 + t % 4 * 4 + j], sums[j]);
    }
    for (int j = 0; j < 4; ++j)
        if (row0 + t / 4 < m && column0 + t % 4 * 4 + j < n) c[(row0 + t / 4) * n + column0 + t % 4 * 4 + j] = sums[j];
}
)";

const char* const bulk_kernel = R"(
extern "C" __global__ void bulk_twice(const float* x, float* y) {
    __shared__ __align__(16) float tile[64];
    __shared__ u64 barrier;
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        mbarrier_init_fence();
    }
    __syncthreads();  // after the initialisation
    if (threadIdx.x == 0) {
        mbarrier_expect(&barrier, 256);
        copy_bulk_async(tile, x + blockIdx.x * 64, 256, &barrier);
    }
    mbarrier_wait(&barrier, 0);
    y[blockIdx.x * 64 + threadIdx.x] = 2 * tile[threadIdx.x];
}
)";

const char* const cluster_kernel = R"(
extern "C" __global__ void sum_by_cluster(int n, const float* x, float* y) {
    __shared__ float received[4];
    __shared__ u64 barrier;
    const u32 rank = cluster_rank(), size = cluster_size();
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        mbarrier_init_fence();
    }
    cluster_arrive_relaxed();
    cluster_wait();
    if (threadIdx.x == 0) mbarrier_expect(&barrier, 4 * size);
    float sum = 0;
    for (int i = rank * 32 + threadIdx.x; i < n; i += 32 * size) sum += x[i];
    sum = warp_sum(sum);
    if (threadIdx.x < size)
        store_async(map_shared(shared_address(received + rank), threadIdx.x), sum,
                    map_shared(shared_address(&barrier), threadIdx.x));
    mbarrier_wait(&barrier, 0);
    if (threadIdx.x == 0) y[blockIdx.x] = received[0] + received[1] + received[2] + received[3];
}
)";

const char* const mma_kernel = R"(
template <bool is_bf16>
CAIRN_DEVICE void multiply(int m, int n, int k, const u16* a, const u16* b, float* c) {
    __shared__ __align__(16) u16 tile_a[16 * 16];
    __shared__ __align__(16) u16 tile_b[16 * 16];  // 16 x 8 used
    const int lane = threadIdx.x, row0 = blockIdx.y * 16, column0 = blockIdx.x * 8;
    float d[4] = {};
    for (int k0 = 0; k0 < k; k0 += 16) {
        __syncwarp();  // before the overwrite
        for (int i = lane; i < 256; i += 32) {
            const int r = i / 16, q = i % 16;
            tile_a[i] = row0 + r < m && k0 + q < k ? a[(row0 + r) * k + k0 + q] : u16(0);
            tile_b[i] = k0 + r < k && q < 8 && column0 + q < n ? b[(k0 + r) * n + column0 + q] : u16(0);
        }
        __syncwarp();  // before the read
        u32 fragment_a[4], fragment_b[4];
        load_matrices(fragment_a, tile_a + lane % 16 * 16 + lane / 16 * 8);
        load_matrices_transposed(fragment_b, tile_b + lane % 16 * 16 + lane / 16 * 8);
        const u32 b2[2] = {fragment_b[0], fragment_b[1]};
        if (is_bf16) mma_bf16(d, fragment_a, b2);
        else mma_f16(d, fragment_a, b2);
    }
    for (int i = 0; i < 4; ++i) {
        const int r = row0 + lane / 4 + i / 2 * 8, q = column0 + lane % 4 * 2 + i % 2;
        if (r < m && q < n) c[r * n + q] = d[i];
    }
}
extern "C" __global__ void multiply_f16(int m, int n, int k, const u16* a, const u16* b, float* c) {
    multiply<false>(m, n, k, a, b, c);
}
extern "C" __global__ void multiply_bf16(int m, int n, int k, const u16* a, const u16* b, float* c) {
    multiply<true>(m, n, k, a, b, c);
}
)";

const char* const dependent_kernel = R"(
extern "C" __global__ void scale(int n, const float* w, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float weight = i < n ? load_f32(w + i) : 0.0f;
    dependency_wait();
    trigger_dependents();
    if (i < n) y[i] = weight * load_f32(x + i);
}
)";

EmulatedModule compiled(const std::vector<std::string>& kernels) {
    std::vector<std::string> texts;
    for (const std::string& kernel : kernels) texts.push_back(with_prelude(CAIRN_SOURCE_DIR, kernel));
    return EmulatedModule::compile(texts, {CAIRN_CXX, CAIRN_SOURCE_DIR});
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos || text.find(from, at + 1) != std::string::npos)
        throw std::invalid_argument("not once in the text: " + from);
    return text.substr(0, at) + to + text.substr(at + from.size());
}

std::vector<float> random_floats(std::size_t count, std::uint32_t seed) {
    Random random(seed);
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(random.next() >> 8) * 0x1p-23f - 1.0f;
    return values;
}

}  // namespace cairn::emulated_cuda
