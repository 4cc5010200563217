#include "device/cuda/probe_text.hpp"

#include "device/cuda/nvrtc.hpp"
#include "graph/types/half.hpp"
#include "tests/device/cuda/machine_code.hpp"
#include "tests/emulated_cuda/emulated_module.hpp"
#include "tests/emulated_cuda/prelude.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace cairn::device::cuda {
namespace {

using emulated_cuda::EmulatedModule;
using emulated_cuda::GlobalMemory;

/// The text that NVRTC gets for all probes.
std::string whole_text() {
    std::set<std::string> texts{read_probe().text, empty_probe().text};
    for (const ArithmeticProbe& probe : arithmetic_probes(true)) texts.insert(probe.code.text);
    std::string all;
    for (const std::string& text : texts) all += text;
    return emulated_cuda::with_prelude(CAIRN_SOURCE_DIR, all);
}

const EmulatedModule& probes() {
    static const EmulatedModule module = [] {
        const std::string texts[] = {whole_text()};
        return EmulatedModule::compile(texts, {CAIRN_CXX, CAIRN_SOURCE_DIR});
    }();
    return module;
}

/// Runs a probe in the emulator, which checks every access, and returns a result for each thread.
template <class Result>
std::vector<Result> results_of(const DeviceCode& code, unsigned blocks, std::vector<long long> symbols,
                               std::vector<std::uint32_t> data = {}) {
    std::vector<Result> results(blocks * static_cast<std::size_t>(code.block));
    void *pd = data.data(), *pr = results.data(), *none = nullptr, *ps = symbols.data();
    unsigned instruction = 0;
    GlobalMemory memory;
    memory.add("results", pr, results.size() * sizeof(Result));
    memory.add("symbols", ps, symbols.size() * sizeof(long long), GlobalMemory::read_only);
    std::vector<void*> arguments{&pr, &none, &ps, &none, &instruction};
    if (!data.empty()) {
        memory.add("data", pd, data.size() * sizeof(std::uint32_t), GlobalMemory::read_only);
        arguments.insert(arguments.begin(), &pd);
    }
    probes().launch({.entry = code.entry,
                     .grid = {blocks, 1, 1},
                     .block = {static_cast<unsigned>(code.block), 1, 1},
                     .arguments = arguments},
                    memory, 1);
    return results;
}

std::uint32_t random_bits(std::uint32_t index) {
    const std::uint32_t bits = (index + 1) * 2654435761U;
    return bits ^ bits >> 15;
}

TEST(ProbeTexts, AReadAddsUpAllWordsInEachRound) {
    constexpr unsigned blocks = 2;
    // As many words as threads read at once, fewer, and a part of them more.
    for (const std::size_t words :
         {std::size_t{8 * probe_threads}, std::size_t{3}, std::size_t{9 * probe_threads + 5}}) {
        std::vector<std::uint32_t> data(4 * words);
        for (std::uint32_t i = 0; i < data.size(); ++i) data[i] = random_bits(i);
        std::uint32_t wanted = 0;
        for (const std::uint32_t each : data) wanted += each;
        for (const long long rounds : {1LL, 3LL}) {
            std::uint32_t sum = 0;
            for (const std::uint32_t each :
                 results_of<std::uint32_t>(read_probe(), blocks, {static_cast<long long>(words), rounds}, data))
                sum += each;
            EXPECT_EQ(sum, wanted * static_cast<std::uint32_t>(rounds)) << words;
        }
    }
}

TEST(ProbeTexts, TheEmptyOneDoesNothing) {
    void* none = nullptr;
    unsigned instruction = 0;
    GlobalMemory memory;
    probes().launch({.entry = empty_probe().entry,
                     .grid = {3, 1, 1},
                     .block = {static_cast<unsigned>(empty_probe().block), 1, 1},
                     .arguments = {&none, &none, &none, &instruction}},
                    memory, 1);
}

TEST(ProbeTexts, EachChainOfF32TakesItsStepsInEachRound) {
    const ArithmeticProbe probe = arithmetic_probes(false).at(0);
    ASSERT_EQ(probe.arithmetic, Arithmetic::f32);
    EXPECT_EQ(probe.operations, 2 * probe_chains * probe_steps);
    for (const int rounds : {1, 3}) {
        const std::vector<float> results = results_of<float>(probe.code, 1, {rounds});
        for (std::size_t thread = 0; thread < results.size(); ++thread) {
            const float factor = 0.5F + static_cast<float>(thread % 32) / 128;
            float total = 0;
            for (std::size_t chain = 0; chain < probe_chains; ++chain) {
                auto sum = static_cast<float>(chain);
                for (int step = 0; step < rounds * probe_steps; ++step)
                    sum = std::fma(sum, factor, 0.3F + static_cast<float>(thread % 7 + chain) / 8);
                total += sum;
            }
            ASSERT_EQ(results[thread], total) << thread;
        }
    }
}

/// The values of a register of an operand.
std::vector<double> values_of(std::uint32_t bits, Arithmetic arithmetic) {
    const auto low = static_cast<std::uint16_t>(bits), high = static_cast<std::uint16_t>(bits >> 16);
    switch (arithmetic) {
        case Arithmetic::f16: return {types::f16_to_f32(low), types::f16_to_f32(high)};
        case Arithmetic::bf16: return {types::bf16_to_f32(low), types::bf16_to_f32(high)};
        case Arithmetic::i8: {
            std::vector<double> values;
            for (int i = 0; i < 4; ++i) values.push_back(static_cast<std::int8_t>(bits >> (8 * i)));
            return values;
        }
        default: return {std::bit_cast<float>(bits)};
    }
}

/// The random bits that are kept and those that are set, by arithmetic.
std::uint32_t operand_bits(std::uint32_t index, Arithmetic arithmetic) {
    switch (arithmetic) {
        case Arithmetic::f16: return (random_bits(index) & 0x83ff83ff) | 0x38003800;
        case Arithmetic::bf16: return (random_bits(index) & 0x807f807f) | 0x3f003f00;
        case Arithmetic::i8: return random_bits(index);
        default: return (random_bits(index) & 0x807fe000) | 0x3f000000;
    }
}

/// What one product adds to the sums of a lane: 4 of the 16 x 8 results of its warp.
std::array<double, 4> product_of(std::uint32_t warp, std::uint32_t lane, Arithmetic arithmetic) {
    const std::size_t values = values_of(0, arithmetic).size(), half = 4 * values;
    const auto element = [&](bool is_a, std::uint32_t outer, std::size_t k) {
        // The lane that holds it, the register there, and the place in it.
        const std::uint32_t other = outer % 8 * 4 + static_cast<std::uint32_t>(k % half / values);
        const auto r = static_cast<std::uint32_t>(is_a ? outer / 8 + k / half * 2 : 4 + k / half);
        return values_of(operand_bits(6 * (32 * warp + other) + r, arithmetic), arithmetic).at(k % values);
    };
    std::array<double, 4> sums{};
    for (std::uint32_t i = 0; i < 4; ++i)
        for (std::size_t k = 0; k < 2 * half; ++k)
            sums[i] += element(true, lane / 4 + i / 2 * 8, k) * element(false, lane % 4 * 2 + i % 2, k);
    return sums;
}

TEST(ProbeTexts, EachChainOfATensorCoreAddsOneProductInEachRound) {
    for (const ArithmeticProbe& probe : arithmetic_probes(true)) {
        if (probe.arithmetic == Arithmetic::f32) continue;
        SCOPED_TRACE(to_string(probe.arithmetic));
        const double depth = 8.0 * static_cast<double>(values_of(0, probe.arithmetic).size());
        EXPECT_EQ(probe.operations, probe_chains * 2 * 16 * 8 * depth / 32);
        constexpr int rounds = 2;
        const std::vector<float> results = results_of<float>(probe.code, 1, {rounds});
        for (const std::uint32_t thread : {0U, 1U, 31U, 37U, 255U}) {
            double total = 0, scale = 0;
            for (const double sum : product_of(thread / 32, thread % 32, probe.arithmetic)) {
                total += probe_chains * rounds * sum;
                scale += probe_chains * rounds * std::abs(sum);
            }
            for (int i = 0; i < 4 * probe_chains; ++i) total += i;
            if (probe.arithmetic == Arithmetic::i8)  // modulo 2^32
                EXPECT_EQ(results[thread], static_cast<float>(static_cast<std::uint32_t>(std::int64_t(total))));
            else
                EXPECT_NEAR(results[thread], total, 1e-5 * (scale + 1000)) << thread;
        }
    }
}

TEST(ProbeTexts, ThoseForTensorCoresAreLeftOutWithoutThem) {
    EXPECT_EQ(arithmetic_probes(false).size(), 1U);
    std::set<Arithmetic> all;
    for (const ArithmeticProbe& probe : arithmetic_probes(true)) all.insert(probe.arithmetic);
    EXPECT_THAT(all, testing::ElementsAre(Arithmetic::f32, Arithmetic::f16, Arithmetic::bf16, Arithmetic::i8,
                                          Arithmetic::tf32));
}

#if defined(CAIRN_NVRTC_FOLDER)
// That no loop was removed: the instructions are there, as often as a round has them, before a branch that goes back.
TEST(ProbeTexts, MachineCodeHasTheLoops) {
    for (const char* architecture : {"sm_80", "sm_90a"}) {
        SCOPED_TRACE(architecture);
        const std::vector<std::string> options{"--std=c++17"};
        const CompiledText code =
            Nvrtc(LibraryFolders{CAIRN_NVRTC_FOLDER, ""}).compile(whole_text(), "probes.cu", architecture, options);
        EXPECT_EQ(code.log.find("warning"), std::string::npos) << code.log;
        ASSERT_EQ(code.kernels.size(), 7U);
        for (const KernelResources& kernel : code.kernels) {
            EXPECT_EQ(kernel.spill_store_bytes + kernel.spill_load_bytes, 0) << kernel.entry;
            EXPECT_LE(kernel.registers, 65536 / (probe_threads * probe_blocks)) << kernel.entry;
        }
        const auto in_loops = [&](const DeviceCode& probe, MachineOpcode opcode) {
            return count_in_loops(instructions_of(code.cubin, probe.entry), opcode);
        };
        EXPECT_GE(in_loops(read_probe(), MachineOpcode::load_global), 5);
        EXPECT_EQ(in_loops(empty_probe(), MachineOpcode::load_global), 0);
        for (const ArithmeticProbe& probe : arithmetic_probes(true)) {
            const bool is_f32 = probe.arithmetic == Arithmetic::f32;
            const MachineOpcode opcode = is_f32                               ? MachineOpcode::multiply_add
                                         : probe.arithmetic == Arithmetic::i8 ? MachineOpcode::integer_matrix_product
                                                                              : MachineOpcode::matrix_product;
            EXPECT_GE(in_loops(probe.code, opcode), is_f32 ? probe_chains * probe_steps : probe_chains)
                << probe.code.entry;
        }
    }
}
#endif

}  // namespace
}  // namespace cairn::device::cuda
