#include "accuracy/kernel_check/check_kernels.hpp"
#include "accuracy/kernel_check/kernel_error.hpp"
#include "device/context_impl.hpp"
#include "tests/driver/cuda_test_device.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

// Every CUDA kernel against its definition, as `check_kernels` tests those of the CPU: on an emulated device, or in
// gpu_test on a GPU.
namespace cairn::test {
namespace {

/// Operations of the reference at the largest sizes of a sample: what takes longer is for `cairn check` on a GPU.
constexpr double max_operations = 1e6;

// The emulator is slower than a GPU, and sanitized code takes twenty times as long: fewer sizes are checked there.
#if defined(CAIRN_SANITIZED)
constexpr std::size_t size_stride = 4;
#elif defined(CAIRN_REAL_GPU)
constexpr std::size_t size_stride = 1;
#else
constexpr std::size_t size_stride = 2;
#endif

bool is_short(const std::string& sample, const Context& context) {
    const auto symbols = Symbols::create();
    const Problem problem = parse_problem(sample, *symbols);
    std::vector<std::int64_t> most;
    // Checks take no larger sizes.
    for (const Symbols::Symbol& symbol : symbols->list())
        most.push_back(std::min(symbol.high, std::max<std::int64_t>(4096, symbol.low)));
    const Problem sized = most.empty() ? problem : at_sizes(problem, most);
    return kernel_check::reference_operation_count(sized, context.kernels().definitions) <= max_operations;
}

constexpr const char* families[] = {"elementwise",
                                    "movement",
                                    "joins",
                                    "reduction",
                                    "norm",
                                    "gather",
                                    "product_rows",
                                    "product_tile32",
                                    "product_tile64",
                                    "product_bf16x6",
                                    "product_bf16x6_split",
                                    "product_f16x3",
                                    "product_f16x3_split",
                                    "product_f16",
                                    "product_f16_split",
                                    "attention_query",
                                    "attention_tile",
                                    "attention_bf16x6",
                                    "attention_f16x3",
                                    "attention_f16",
                                    "attention_row",
                                    "mlp_row",
                                    "link"};

class CudaKernelChecks : public testing::TestWithParam<const char*> {};

TEST_P(CudaKernelChecks, ComputeTheirDefinitions) {
    TestDevice device;
    {
        const Context context = device.context();
        std::vector<kernel_check::KernelToCheck> kernels;
        for (const Kernel& kernel : context.kernels().kernels) {
            if (!kernel.id.starts_with(std::string("cuda.") + GetParam() + ".")) continue;
            kernel_check::KernelToCheck& request = kernels.emplace_back(
                kernel, CheckOptions{.size_stride = size_stride}, kernel_check::backend_of(kernel, *context.impl()),
                &context.impl()->cpu->host_threads());
            std::erase_if(request.kernel.samples,
                          [&](const std::string& sample) { return !is_short(sample, context); });
            EXPECT_FALSE(request.kernel.samples.empty()) << kernel.id << " has no sample that is computed quickly";
        }
        ASSERT_FALSE(kernels.empty());
        const std::vector<KernelReport> reports = kernel_check::check_kernels(kernels, context.kernels().definitions);
        for (const KernelReport& report : reports) {
            for (const std::string& fault : report.faults) ADD_FAILURE() << fault;
            EXPECT_GE(report.runs, 3) << report.kernel;
        }
    }
    EXPECT_THAT(device.faults(), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Families, CudaKernelChecks, testing::ValuesIn(families),
                         [](const auto& family) { return std::string(family.param); });

// A family that is missing in the list would not be checked.
TEST(CudaKernelFamilies, AreAllChecked) {
    TestDevice device;
    const Context context = device.context();
    for (const Kernel& kernel : context.kernels().kernels) {
        if (kernel.device == Device::cpu) continue;
        const std::string family = kernel.id.substr(5, kernel.id.find('.', 5) - 5);
        EXPECT_NE(std::find(std::begin(families), std::end(families), family), std::end(families)) << kernel.id;
    }
}

}  // namespace
}  // namespace cairn::test
