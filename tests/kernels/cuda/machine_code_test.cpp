#include "device/cuda/nvrtc.hpp"
#include "kernels/cuda/cuda_kernels.hpp"
#include "kernels/cuda/prelude_text.hpp"
#include "kernels/cuda/rows/rows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

namespace cairn::kernels::cuda {
namespace {

#if defined(CAIRN_NVRTC_FOLDER)
constexpr const char* folder = CAIRN_NVRTC_FOLDER;
#else
constexpr const char* folder = nullptr;
#endif

/// The largest use of a row's kernels.
struct Use {
    std::int64_t registers = 0, shared_bytes = 0, spilled_bytes = 0, stack_bytes = 0;
};

std::map<std::string, Use> uses(const KernelSet& set, const std::string& architecture, const std::string& family) {
    std::string text(prelude_text());
    std::map<std::string, std::string> rows;
    for (const Kernel& kernel : set.kernels) {
        if (!kernel.id.starts_with("cuda." + family + ".")) continue;
        for (const std::string& sample : kernel.samples) {
            const auto symbols = Symbols::create();
            const Problem problem = parse_problem(sample, *symbols);
            EXPECT_EQ(kernel.accepts(problem), "") << kernel.id << ": " << sample;
            const KernelCode code = kernel.code(problem);
            EXPECT_EQ(code.text, kernel.code(problem).text);
            if (rows.emplace(code.entry, kernel.id).second) text += code.text;
        }
    }
    device::cuda::Nvrtc nvrtc(device::cuda::LibraryFolders{folder, ""});
    const std::vector<std::string> options{"--ptxas-options=-v", "--std=c++17"};
    std::map<std::string, Use> found;
    for (const auto& kernel : nvrtc.compile(text, family + ".cu", architecture, options).kernels) {
        const auto row = rows.find(kernel.entry);
        if (row == rows.end()) continue;
        Use& use = found[row->second];
        use.registers = std::max(use.registers, kernel.registers);
        use.shared_bytes = std::max(use.shared_bytes, kernel.shared_bytes);
        use.stack_bytes = std::max(use.stack_bytes, kernel.stack_bytes);
        use.spilled_bytes += kernel.spill_store_bytes + kernel.spill_load_bytes;
    }
    return found;
}

TEST(CudaMachineCode, KernelsStayWithinTheirRegisters) {
    if (folder == nullptr) GTEST_SKIP() << "no NVRTC";
    const KernelSet set = cuda_kernels({});
    std::map<std::string, int> families;
    for (const Kernel& kernel : set.kernels) ++families[kernel.id.substr(5, kernel.id.find('.', 5) - 5)];
    for (const auto& [family, rows] : families) {
        for (const char* architecture : {"sm_80", "sm_90a"}) {
            const auto found = uses(set, architecture, family);
            EXPECT_EQ(found.size(), static_cast<std::size_t>(rows)) << family;
            Use all;
            std::string most;
            for (const auto& [id, use] : found) {
                EXPECT_EQ(use.spilled_bytes, 0) << id << " " << architecture;
                EXPECT_LE(use.registers, register_budget(id)) << id << " " << architecture;
                if (use.registers > all.registers) most = id;
                all.registers = std::max(all.registers, use.registers);
                all.shared_bytes = std::max(all.shared_bytes, use.shared_bytes);
            }
            fmt::print("{} {}: {} rows, at most {} registers ({}), {} bytes shared\n", family, architecture, rows,
                       all.registers, most, all.shared_bytes);
        }
    }
}

}  // namespace
}  // namespace cairn::kernels::cuda
