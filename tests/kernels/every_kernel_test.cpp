#include "cairn/check.hpp"
#include "cairn/kernels.hpp"
#include "device/cpu/cpu_features.hpp"
#include "tests/check/heap_calls.hpp"
#include "tests/kernels/twins.hpp"
#include "types/knobs.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cairn::test {
namespace {

struct Tried {
    std::string name;
    Kernel kernel;
    std::size_t every;  ///< size of a Problem: twins take several times as long, settings are many
};

/// The listed kernels that this machine can run, and the twins of those of every level: at their first setting, and at
/// those that differ from it in one knob, since knobs know nothing of each other.
const std::vector<Tried>& tried() {
    static const std::vector<Tried> list = [] {
        std::vector<Tried> made;
        const auto add = [&](const std::string& prefix, const Kernel& kernel, std::size_t every) {
            for (const Kernel& setting : settings_of(kernel))
                if (setting.id.find(',') == std::string::npos)
                    made.push_back({prefix + setting.id, setting, names_setting(setting.id) ? 8 * every : every});
        };
        for (const Kernel& kernel : cpu_kernels().kernels)
            if (device::detect_features().includes(kernel.needs)) add("", kernel, 1);
        for (const Level& level : twins())
            for (const Kernel& kernel : kernels_of(level)) add("emulated.", kernel, 4);
        return made;
    }();
    return list;
}

std::string name_of(const testing::TestParamInfo<std::size_t>& info) {
    std::string name = tried()[info.param].name;
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
    static const std::vector<Definition> definitions = cpu_kernels().definitions;
    const auto& [name, kernel, sizes] = tried()[GetParam()];
    const KernelReport report = check_kernel(
        kernel, definitions,
        {.same_for_any_team = promises_same_bits(kernel.id), .every = every * sizes, .heap_calls = heap_calls});
    for (const std::string& fault : report.faults) ADD_FAILURE() << fault;
    EXPECT_GE(report.runs, 3) << kernel.id;
}

// Of each level above the baseline, whichever of them this machine has.
TEST(Twins, EveryKernelOfALevelHasOne) {
    std::set<std::string> ids;
    for (const Level& level : twins())
        for (const Kernel& kernel : kernels_of(level)) EXPECT_TRUE(ids.insert(kernel.id).second) << kernel.id;
    for (const Kernel& kernel : cpu_kernels().kernels)
        if (!kernel.needs.empty() && kernel.id.find("eigen") == std::string::npos) {
            EXPECT_EQ(ids.erase(kernel.id), 1u) << kernel.id << " has no twin";
        }
#if defined(__x86_64__)
    EXPECT_TRUE(ids.empty()) << *ids.begin() << " is the twin of no listed kernel";
#endif
}

INSTANTIATE_TEST_SUITE_P(Cpu, EveryKernel, testing::Range<std::size_t>(0, tried().size()), name_of);

}  // namespace
}  // namespace cairn::test
