#include "accuracy/kernel_check/check_kernels.hpp"
#include "cairn/kernels.hpp"
#include "device/cpu/cpu_features.hpp"
#include "graph/types/knobs.hpp"
#include "tests/accuracy/kernel_check/heap_calls.hpp"
#include "tests/kernels/emulated_levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace cairn::test {
namespace {

// A kernel at all levels, with its settings; they share samples.
struct Group {
    std::string name;  // the kernel's id without its level
    std::vector<kernel_check::KernelToCheck> kernels;
};

// Sanitized code takes twenty times as long.
#ifdef CAIRN_SANITIZED
constexpr std::size_t every = 4;
#else
constexpr std::size_t every = 1;
#endif

std::string without_level(std::string id) {
    for (const std::string_view level : {"baseline.", "avx2.", "avx512.", "avx512_vnni.", "amx_bf16."})
        if (const auto at = id.find(level); at != std::string::npos) id.erase(at, level.size());
    return id;
}

/// The listed kernels that this machine can run, and the twins of levels: at their first setting, and at those
/// that differ from it in one knob, since knobs are independent. Twins are several times slower and settings are many,
/// so they are checked at fewer sizes; twins of kernels that run natively here, and of tiles, at fewer still, the
/// latter at their first setting.
std::vector<Group> make_groups() {
    std::vector<Group> groups;
    const auto add = [&](const Kernel& kernel, std::size_t sizes, bool with_settings = true) {
        const std::string name = without_level(kernel.id);
        auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.name == name; });
        if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
        for (Kernel& setting : all_settings(kernel)) {
            if (setting.id.find(',') != std::string::npos) continue;
            if (has_setting_suffix(setting.id) && !with_settings) continue;
            const std::size_t step = every * (has_setting_suffix(setting.id) ? 8 * sizes : sizes);
            const bool has_same_bits = !is_of_eigen(setting);  // the order of its sums depends on the team size
            group->kernels.push_back(
                {std::move(setting),
                 {.same_for_any_team = has_same_bits, .size_stride = step, .heap_calls = heap_calls}});
        }
    };
    for (const Kernel& kernel : cpu_kernels().kernels)
        if (device::detect_features().includes(kernel.needs)) add(kernel, 1);
    for (const Level& level : emulated_levels())
        for (const Kernel& kernel : kernels_of(level))
            add(kernel, device::detect_features().includes(level.needs) ? 16 : 4);
    for (const ProductLevel& level : emulated_product_levels())
        for (const Kernel& kernel : level.kernels) {
            const bool has_tiles = level.needs.has(Feature::amx_tile);
            add(kernel, has_tiles || device::detect_features().includes(level.needs) ? 16 : 4, !has_tiles);
        }
    return groups;
}

const std::vector<Group>& groups() {
    static const std::vector<Group> made = make_groups();
    return made;
}

std::string name_of(const testing::TestParamInfo<std::size_t>& info) {
    std::string name = groups()[info.param].name;
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    return name;
}

class EveryKernel : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryKernel, ComputesItsDefinition) {
    const Group& group = groups()[GetParam()];
    const std::vector<KernelReport> reports = kernel_check::check_kernels(group.kernels, cpu_kernels().definitions);
    for (std::size_t i = 0; i < reports.size(); ++i) {
        for (const std::string& fault : reports[i].faults) ADD_FAILURE() << fault;
        EXPECT_GE(reports[i].runs, 3) << group.kernels[i].kernel.id;
    }
}

// For each level above the baseline, whether or not this machine has it.
TEST(IsaVariants, EveryKernelOfALevelIsTested) {
    std::set<std::string> ids;
    const auto add = [&](const std::vector<Kernel>& kernels) {
        for (const Kernel& kernel : kernels)
            if (!is_of_eigen(kernel)) { EXPECT_TRUE(ids.insert(kernel.id).second) << kernel.id; }
    };
    for (const FeatureSet& needs : {levels::avx2, levels::avx512}) add(kernels_of(runnable_level(needs)));
    std::set<std::string> seen;
    for (const ProductLevel& level : runnable_product_levels())
        if (seen.insert(to_string(level.needs)).second) add(level.kernels);
    for (const Kernel& kernel : cpu_kernels().kernels)
        if (!kernel.needs.empty() && !is_of_eigen(kernel)) {
            EXPECT_EQ(ids.erase(kernel.id), 1u) << kernel.id << " is not tested";
        }
#if defined(__x86_64__)
    EXPECT_TRUE(ids.empty()) << *ids.begin() << " is no listed kernel";
#endif
}

INSTANTIATE_TEST_SUITE_P(Cpu, EveryKernel, testing::Range<std::size_t>(0, groups().size()), name_of);

}  // namespace
}  // namespace cairn::test
