#include "cairn/check.hpp"
#include "cairn/kernels.hpp"
#include "device/cpu/isa.hpp"
#include "tests/check/heap_calls.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

const KernelSet& kernels() {
    static const KernelSet set = cpu_kernels();
    return set;
}

std::string name_of(const testing::TestParamInfo<std::size_t>& info) {
    std::string name = kernels().kernels[info.param].id;
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    return name;
}

// The families whose sums run in an order that the team's size does not change.
bool promises_same_bits(const std::string& id) { return id.find("eigen") == std::string::npos; }

// Sanitized code takes twenty times as long.
#ifdef CAIRN_SANITIZED
constexpr std::size_t every = 4;
#else
constexpr std::size_t every = 1;
#endif

class EveryKernel : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryKernel, ComputesItsDefinition) {
    const Kernel& kernel = kernels().kernels[GetParam()];
    if (kernel.isa > device::detect_isa())
        GTEST_SKIP() << "this machine has no " << to_string(kernel.isa) << " for " << kernel.id;
    const KernelReport report =
        check_kernel(kernel, kernels().definitions,
                     {.same_for_any_team = promises_same_bits(kernel.id), .every = every, .heap_calls = heap_calls});
    for (const std::string& fault : report.faults) ADD_FAILURE() << fault;
    EXPECT_GE(report.runs, 3) << kernel.id;
}

INSTANTIATE_TEST_SUITE_P(Cpu, EveryKernel, testing::Range<std::size_t>(0, kernels().kernels.size()), name_of);

}  // namespace
}  // namespace cairn::test
