#include "device/cuda/probe_text.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

namespace cairn::device::cuda {
namespace {

/// The probes that every device can run: one text, so that it is compiled once.
std::string common_text() {
    return fmt::format(R"(
extern "C" __global__ void __launch_bounds__({threads}) cairn_probe_empty(
    void* workspace, const i64* symbols, FailureReport* status, u32 instruction) {{
    dependency_wait();
    trigger_dependents();
}}

extern "C" __global__ void __launch_bounds__({threads}) cairn_probe_read(
    void* data, void* results, void* workspace, const i64* symbols, FailureReport* status, u32 instruction) {{
    dependency_wait();
    trigger_dependents();
    const i64 words = symbols[0], rounds = symbols[1];
    const i64 threads = i64(gridDim.x) * blockDim.x, thread = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    const uint4* const source = static_cast<const uint4*>(data);
    u32 sum = 0;
    for (i64 round = 0; round < rounds; ++round) {{
        i64 word = thread;
        for (; word + 3 * threads < words; word += 4 * threads) {{
            uint4 values[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) values[i] = load_16_bytes_once(source + word + i * threads);
#pragma unroll
            for (int i = 0; i < 4; ++i) sum += values[i].x + values[i].y + values[i].z + values[i].w;
        }}
        for (; word < words; word += threads) {{
            const uint4 value = load_16_bytes_once(source + word);
            sum += value.x + value.y + value.z + value.w;
        }}
    }}
    static_cast<u32*>(results)[thread] = sum;
}}

extern "C" __global__ void __launch_bounds__({threads}) cairn_probe_f32(
    void* results, void* workspace, const i64* symbols, FailureReport* status, u32 instruction) {{
    dependency_wait();
    trigger_dependents();
    const i64 rounds = symbols[0];
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    const float factor = 0.5f + float(thread % 32) / 128.0f;
    float sums[{chains}], addends[{chains}];
#pragma unroll
    for (int chain = 0; chain < {chains}; ++chain) {{
        sums[chain] = float(chain);
        addends[chain] = 0.3f + float(thread % 7 + chain) / 8.0f;
    }}
    for (i64 round = 0; round < rounds; ++round) {{
#pragma unroll
        for (int step = 0; step < {steps}; ++step) {{
#pragma unroll
            for (int chain = 0; chain < {chains}; ++chain) sums[chain] = fmaf(sums[chain], factor, addends[chain]);
        }}
    }}
    float total = 0;
#pragma unroll
    for (int chain = 0; chain < {chains}; ++chain) total += sums[chain];
    static_cast<float*>(results)[thread] = total;
}}
)",
                       fmt::arg("threads", probe_threads), fmt::arg("chains", probe_chains),
                       fmt::arg("steps", probe_steps));
}

/// A product on tensor cores: m16n8k`depth`.
struct TensorProduct {
    Arithmetic arithmetic;
    const char *sum, *total;  ///< types of its sums, and of theirs
    int depth;
    unsigned kept, set;  ///< of random bits, those that are kept, and those that are set: finite values of either sign
};
constexpr std::array<TensorProduct, 4> tensor_products = {{
    {Arithmetic::f16, "float", "float", 16, 0x83ff83ff, 0x38003800},
    {Arithmetic::bf16, "float", "float", 16, 0x807f807f, 0x3f003f00},
    {Arithmetic::i8, "int", "u32", 32, 0xffffffff, 0},
    {Arithmetic::tf32, "float", "float", 8, 0x807fe000, 0x3f000000},
}};

std::string entry_of(Arithmetic arithmetic) { return fmt::format("cairn_probe_{}", to_string(arithmetic)); }

/// Operands differ by lane and register: products of equal numbers take less power, so clocks may be higher.
std::string tensor_text() {
    std::string text = R"(
CAIRN_DEVICE u32 cairn_probe_bits(u32 index) {
    const u32 bits = (index + 1) * 2654435761u;
    return bits ^ bits >> 15;
}
)";
    for (const TensorProduct& product : tensor_products)
        text += fmt::format(
            R"(
extern "C" __global__ void __launch_bounds__({threads}) {entry}(
    void* results, void* workspace, const i64* symbols, FailureReport* status, u32 instruction) {{
    dependency_wait();
    trigger_dependents();
    const i64 rounds = symbols[0];
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    u32 a[4], b[2];
#pragma unroll
    for (u32 i = 0; i < 4; ++i) a[i] = (cairn_probe_bits(6 * thread + i) & {kept:#x}u) | {set:#x}u;
#pragma unroll
    for (u32 i = 0; i < 2; ++i) b[i] = (cairn_probe_bits(6 * thread + 4 + i) & {kept:#x}u) | {set:#x}u;
    {sum} sums[{chains}][4];
#pragma unroll
    for (int chain = 0; chain < {chains}; ++chain) {{
#pragma unroll
        for (int i = 0; i < 4; ++i) sums[chain][i] = {sum}(4 * chain + i);
    }}
    for (i64 round = 0; round < rounds; ++round) {{
#pragma unroll
        for (int chain = 0; chain < {chains}; ++chain) mma_{name}(sums[chain], a, b);
    }}
    {total} total = 0;
#pragma unroll
    for (int chain = 0; chain < {chains}; ++chain) {{
#pragma unroll
        for (int i = 0; i < 4; ++i) total += {total}(sums[chain][i]);
    }}
    static_cast<float*>(results)[thread] = float(total);
}}
)",
            fmt::arg("threads", probe_threads), fmt::arg("entry", entry_of(product.arithmetic)),
            fmt::arg("kept", product.kept), fmt::arg("set", product.set), fmt::arg("sum", product.sum),
            fmt::arg("total", product.total), fmt::arg("chains", probe_chains),
            fmt::arg("name", to_string(product.arithmetic)));
    return text;
}

DeviceCode probe(std::string text, std::string entry) {
    DeviceCode code = {std::move(text), std::move(entry), probe_threads};
    code.waits_for_dependencies = true;
    return code;
}

}  // namespace

DeviceCode read_probe() { return probe(common_text(), "cairn_probe_read"); }
DeviceCode empty_probe() { return probe(common_text(), "cairn_probe_empty"); }

std::vector<ArithmeticProbe> arithmetic_probes(bool has_tensor_cores) {
    std::vector<ArithmeticProbe> probes;
    probes.push_back(
        {Arithmetic::f32, probe(common_text(), entry_of(Arithmetic::f32)), 2.0 * probe_chains * probe_steps});
    if (!has_tensor_cores) return probes;
    const std::string text = tensor_text();
    for (const TensorProduct& product : tensor_products)
        probes.push_back({product.arithmetic, probe(text, entry_of(product.arithmetic)),
                          2.0 * probe_chains * 16 * 8 * product.depth / 32});
    return probes;
}

}  // namespace cairn::device::cuda
