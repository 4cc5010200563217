// The wrappers of kernels/cuda/text and their emulation.
#include "graph/types/half.hpp"
#include "tests/emulated_cuda/prelude.hpp"
#include "tests/emulated_cuda/test_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <fstream>
#include <iterator>
#include <regex>

namespace cairn::emulated_cuda {
namespace {

/// The declarations `CAIRN_DEVICE type name(parameters` of a text, without the emulation's parameter for the line.
std::vector<std::string> declarations(std::string text) {
    text = std::regex_replace(text, std::regex(R"(,\s*CAIRN_LINE|CAIRN_LINE)"), "");
    text = std::regex_replace(text, std::regex(R"(\s+)"), " ");
    static const std::regex declaration(R"(CAIRN_DEVICE ([\w:]+ \w+\((?:[^()]|\([^()]*\))*\)) \{)");
    std::vector<std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at)
        found.push_back((*at)[1]);
    return found;
}

TEST(Wrappers, EachInstructionIsEmulatedWithTheSameDeclaration) {
    std::string text;
    for (const char* name : {"instructions.cuh", "async_copy.cuh", "cluster.cuh", "mma.cuh"})
        text += prelude_file(CAIRN_SOURCE_DIR, name);
    std::ifstream file(CAIRN_SOURCE_DIR "/tests/emulated_cuda/device/instructions.hpp");
    const std::string emulation{std::istreambuf_iterator<char>(file), {}};
    EXPECT_GT(declarations(text).size(), 30u);
    EXPECT_EQ(declarations(text), declarations(emulation));
}

bool same(float one, float other) {
    return std::bit_cast<std::uint32_t>(one) == std::bit_cast<std::uint32_t>(other) || (one != one && other != other);
}
bool is_nan_f16(std::uint16_t half) { return (half & 0x7fff) > 0x7c00; }
bool is_nan_bf16(std::uint16_t half) { return (half & 0x7fff) > 0x7f80; }

TEST(Conversions, AllHalvesBecomeTheirFloats) {
    const std::string text = R"(
extern "C" __global__ void widen(const u16* x, float* f16, float* bf16, float2* pairs) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    f16[i] = f16_to_f32(x[i]);
    bf16[i] = bf16_to_f32(x[i]);
    pairs[i] = make_float2(f16x2_to_f32(u32(x[i]) << 16 | 1u).y, bf16x2_to_f32(u32(x[i]) << 16 | 1u).y);
}
)";
    const EmulatedModule module = compiled({text});
    std::vector<std::uint16_t> x(65536);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint16_t>(i);
    std::vector<float> f16(x.size()), bf16(x.size()), pairs(2 * x.size() + 2);
    void *px = x.data(), *pf = f16.data(), *pb = bf16.data(), *pp = pairs.data();
    module.launch({.entry = "widen", .grid = {256, 1, 1}, .block = {256, 1, 1}, .arguments = {&px, &pf, &pb, &pp}}, 1);
    int wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        wrong += !same(f16[i], types::f16_to_f32(x[i])) || !same(bf16[i], types::bf16_to_f32(x[i])) ||
                 !same(pairs[2 * i], f16[i]) || !same(pairs[2 * i + 1], bf16[i]);
    EXPECT_EQ(wrong, 0);
}

TEST(Conversions, FloatsAreRounded) {
    const std::string text = R"(
extern "C" __global__ void narrow(int n, const float* x, u16* f16, u16* bf16, u32* f16_pairs, u32* bf16_pairs) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        f16[i] = f32_to_f16(x[i]);
        bf16[i] = f32_to_bf16(x[i]);
        f16_pairs[i] = f32_to_f16x2(1.0f, x[i]);
        bf16_pairs[i] = f32_to_bf16x2(x[i], 1.0f);
    }
}
)";
    // Floats at equal distances, and all around the points where the rounding changes.
    std::vector<float> x;
    const auto add = [&](std::uint32_t bits) { x.push_back(std::bit_cast<float>(bits)); };
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 997) add(static_cast<std::uint32_t>(bits));
    for (std::uint32_t half = 0; half < 65536; ++half)
        for (std::uint32_t offset : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x1fffu, 0x7fffu, 0x8000u, 0x8001u}) {
            add((half << 16) + offset);
            add(std::bit_cast<std::uint32_t>(types::f16_to_f32(static_cast<std::uint16_t>(half))) + offset);
        }
    int n = static_cast<int>(x.size());
    std::vector<std::uint16_t> f16(x.size()), bf16(x.size());
    std::vector<std::uint32_t> f16_pairs(x.size()), bf16_pairs(x.size());
    void *px = x.data(), *pf = f16.data(), *pb = bf16.data(), *pp = f16_pairs.data(), *pq = bf16_pairs.data();
    const std::string texts[] = {with_prelude(CAIRN_SOURCE_DIR, text)};
    EmulatedModule::compile(texts, {CAIRN_CXX, CAIRN_SOURCE_DIR, false})
        .launch({.entry = "narrow", .block = {32, 1, 1}, .arguments = {&n, &px, &pf, &pb, &pp, &pq}}, 1);
    int wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (x[i] != x[i])
            wrong += !is_nan_f16(f16[i]) || !is_nan_bf16(bf16[i]);
        else
            wrong += f16[i] != types::f32_to_f16(x[i]) || bf16[i] != types::f32_to_bf16(x[i]);
        wrong += f16_pairs[i] != (0x3c00u | std::uint32_t{f16[i]} << 16) || bf16_pairs[i] != (0x3f800000u | bf16[i]);
    }
    EXPECT_EQ(wrong, 0);
}

/// A 16 x `depth` matrix a or a `depth` x 8 matrix b in the registers of a warp, as kernels/cuda/text/mma.cuh lays them
/// out.
template <class Value>
std::vector<std::uint32_t> fragments(const std::vector<Value>& matrix, bool is_a) {
    constexpr int values = 4 / sizeof(Value), depth = 8 * values;
    std::vector<std::uint32_t> registers;
    for (int lane = 0; lane < 32; ++lane)
        for (int r = 0; r < (is_a ? 4 : 2); ++r) {
            std::array<Value, values> packed;
            for (int i = 0; i < values; ++i) {
                const int k = values * (lane % 4) + i + (is_a ? r / 2 : r) * depth / 2;
                packed[static_cast<std::size_t>(i)] =
                    matrix[static_cast<std::size_t>(is_a ? (lane / 4 + r % 2 * 8) * depth + k : k * 8 + lane / 4)];
            }
            registers.push_back(std::bit_cast<std::uint32_t>(packed));
        }
    return registers;
}

/// The product of these matrices, added to ones, by a kernel of one warp.
template <class Value, class Sum>
std::vector<Sum> product_of(const std::string& entry, const std::vector<Value>& a, const std::vector<Value>& b) {
    const std::string text = R"(
template <class Sum, class Multiply>
CAIRN_DEVICE void product(const u32* a, const u32* b, Sum* d, Multiply multiply) {
    const int lane = threadIdx.x;
    const u32 fragment_a[4] = {a[4 * lane], a[4 * lane + 1], a[4 * lane + 2], a[4 * lane + 3]};
    const u32 fragment_b[2] = {b[2 * lane], b[2 * lane + 1]};
    Sum sums[4] = {1, 1, 1, 1};
    multiply(sums, fragment_a, fragment_b);
    for (int i = 0; i < 4; ++i) d[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = sums[i];
}
extern "C" __global__ void product_i8(const u32* a, const u32* b, int* d) {
    product(a, b, d, [](int (&s)[4], const u32 (&x)[4], const u32 (&y)[2]) { mma_i8(s, x, y); });
}
extern "C" __global__ void product_tf32(const u32* a, const u32* b, float* d) {
    product(a, b, d, [](float (&s)[4], const u32 (&x)[4], const u32 (&y)[2]) { mma_tf32(s, x, y); });
}
)";
    static const EmulatedModule module = compiled({text});
    std::vector<std::uint32_t> fragment_a = fragments(a, true), fragment_b = fragments(b, false);
    std::vector<Sum> d(128);
    void *pa = fragment_a.data(), *pb = fragment_b.data(), *pd = d.data();
    module.launch({.entry = entry, .block = {32, 1, 1}, .arguments = {&pa, &pb, &pd}}, 1);
    return d;
}

template <class Value, class Sum>
std::vector<Sum> plain_product(const std::vector<Value>& a, const std::vector<Value>& b) {
    const std::size_t depth = a.size() / 16;
    std::vector<Sum> d(128, 1);
    for (std::size_t i = 0; i < 128; ++i)
        for (std::size_t k = 0; k < depth; ++k)
            d[i] += static_cast<Sum>(a[i / 8 * depth + k]) * static_cast<Sum>(b[k * 8 + i % 8]);
    return d;
}

TEST(Wrappers, ProductsOfEightBitAndOfTruncatedOperands) {
    std::vector<std::int8_t> a8(16 * 32), b8(32 * 8);
    for (std::size_t i = 0; i < a8.size(); ++i) a8[i] = static_cast<std::int8_t>(37 * i % 256);
    for (std::size_t i = 0; i < b8.size(); ++i) b8[i] = static_cast<std::int8_t>(101 * i % 251);
    EXPECT_EQ((product_of<std::int8_t, int>("product_i8", a8, b8)), (plain_product<std::int8_t, int>(a8, b8)));
    // Sums of these are exact; the added bits are those that are ignored.
    std::vector<float> a(16 * 8), b(8 * 8);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 13) - 6;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 7) + 0.5F;
    const std::vector<float> wanted = plain_product<float, float>(a, b);
    for (float& value : a)
        if (value != 0) value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | 0x1fffU);
    EXPECT_EQ((product_of<float, float>("product_tf32", a, b)), wanted);
}

TEST(Wrappers, WarpReductionsAndReport) {
    const std::string text = R"(
extern "C" __global__ void reduce(const float* x, float* y, FailureReport* report) {
    const int t = threadIdx.x;
    y[t] = warp_sum(x[t]);
    y[32 + t] = warp_max(x[t]);
    y[64 + t] = warp_max(t == 5 ? __uint_as_float(0x7fc00000u) : x[t]);
    if (t % 2 == 1) report_failure(report, 7, t, 2, 100 + t, -5);
}
)";
    const EmulatedModule module = compiled({text});
    for (int seed = 0; seed < 10; ++seed) {
        auto x = random_floats(32, 1), y = std::vector<float>(96);
        struct Report {
            std::uint32_t code, instruction, input, unused;
            std::int64_t position, value;
        } report{};
        void *px = x.data(), *py = y.data(), *pr = &report;
        GlobalMemory memory;
        memory.add("x", px, 128, GlobalMemory::read_only);
        memory.add("y", py, 384);
        memory.add("report", pr, sizeof report);
        module.launch({.entry = "reduce", .block = {32, 1, 1}, .arguments = {&px, &py, &pr}}, memory, seed);
        double sum = 0;
        float largest = x[0];
        for (float value : x) sum += value, largest = std::max(largest, value);
        for (int i = 0; i < 32; ++i) {
            EXPECT_NEAR(y[i], sum, 1e-5);
            EXPECT_EQ(y[i], y[0]);
            EXPECT_EQ(y[32 + i], largest);
            EXPECT_NE(y[64 + i], y[64 + i]);
        }
        EXPECT_EQ(report.code, 7u);
        EXPECT_EQ(report.position, 100 + report.instruction);
        EXPECT_EQ(report.instruction % 2, 1u);
        EXPECT_EQ(report.value, -5);
    }
}

}  // namespace
}  // namespace cairn::emulated_cuda
