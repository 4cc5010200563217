#include "device/cuda/nvrtc.hpp"
#include "kernels/cuda/cuda_kernels.hpp"
#include "kernels/cuda/prelude_text.hpp"
#include "kernels/cuda/rows/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace cairn::kernels::cuda {
namespace {

#if defined(CAIRN_NVRTC_FOLDER)
constexpr const char* folder = CAIRN_NVRTC_FOLDER;
#else
constexpr const char* folder = nullptr;
#endif

/// The largest use of a row's kernels.
struct Use {
    std::int64_t registers = 0, stack_bytes = 0;
};

/// The newest one is tested with all samples of a kernel, older ones, whose machine code differs little, with the
/// first.
struct Architecture {
    const char* name;
    int compute_capability;
    bool takes_all_samples;
};

bool is_of(const Kernel& kernel, const std::string& family, const Architecture& architecture) {
    return kernel.id.starts_with("cuda." + family + ".") &&
           kernel.compute_capability <= architecture.compute_capability;
}

std::map<std::string, Use> uses(const KernelSet& set, const Architecture& architecture, const std::string& family) {
    std::string text(prelude_text());
    std::map<std::string, std::string> rows;
    for (const Kernel& kernel : set.kernels) {
        if (!is_of(kernel, family, architecture)) continue;
        for (const std::string& sample : kernel.samples) {
            const auto symbols = Symbols::create();
            const Problem problem = parse_problem(sample, *symbols);
            EXPECT_EQ(kernel.accepts(problem), "") << kernel.id << ": " << sample;
            const KernelCode code = kernel.code(problem);
            EXPECT_EQ(code.text, kernel.code(problem).text);
            if (rows.emplace(code.entry, kernel.id).second) text += code.text;
            if (!architecture.takes_all_samples) break;
        }
    }
    if (folder == nullptr) return {};
    device::cuda::Nvrtc nvrtc(device::cuda::LibraryFolders{folder, ""});
    const std::vector<std::string> options{"--ptxas-options=-v", "--std=c++17"};
    std::map<std::string, Use> found;
    const device::cuda::CompiledText code = nvrtc.compile(text, family + ".cu", architecture.name, options);
    EXPECT_EQ(code.log.find("warning"), std::string::npos) << code.log;
    for (const auto& kernel : code.kernels) {
        const auto row = rows.find(kernel.entry);
        if (row == rows.end()) continue;
        Use& use = found[row->second];
        use.registers = std::max(use.registers, kernel.registers);
        use.stack_bytes = std::max(use.stack_bytes, kernel.stack_bytes);
    }
    return found;
}

TEST(CudaMachineCode, KernelsStayWithinTheirRegisters) {
    const KernelSet set = cuda_kernels({});
    std::set<std::string> families;
    for (const Kernel& kernel : set.kernels) families.insert(kernel.id.substr(5, kernel.id.find('.', 5) - 5));
    for (const std::string& family : families) {
        for (const Architecture& architecture : {Architecture{"sm_80", 80, false}, Architecture{"sm_90a", 90, true}}) {
            const auto found = uses(set, architecture, family);
            if (folder == nullptr) continue;
            EXPECT_EQ(static_cast<std::ptrdiff_t>(found.size()),
                      std::ranges::count_if(set.kernels,
                                            [&](const Kernel& kernel) { return is_of(kernel, family, architecture); }))
                << family;
            for (const auto& [id, use] : found) {
                // Spilled registers, and arrays that are indexed by what is not a constant: large arguments of sin and
                // cos are reduced with one.
                const bool reduces = id.starts_with("cuda.elementwise.sin") || id.starts_with("cuda.elementwise.cos");
                EXPECT_LE(use.stack_bytes, reduces ? 32 : 0) << id << " " << architecture.name;
                EXPECT_LE(use.registers, register_budget(id)) << id << " " << architecture.name;
            }
        }
    }
}

}  // namespace
}  // namespace cairn::kernels::cuda
