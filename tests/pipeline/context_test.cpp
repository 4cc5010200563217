#include "cairn/context.hpp"

#include "cairn/error.hpp"
#include "device/cpu/affinity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace cairn {
namespace {

TEST(Context, TheQuotaIsThatOfTheCpusThatCount) {
    const std::optional<double> quota = cpu_quota();
    EXPECT_EQ(quota, device::cgroup_quota());
    const int whole = quota ? std::max(1, static_cast<int>(*quota)) : device::affinity_cpus();
    EXPECT_EQ(usable_cpus(), std::min(whole, device::affinity_cpus()));
}

TEST(Context, ThreadCountsThatCannotBe) {
    for (const int threads : {0, -1, 4097, 100000}) {
        ContextOptions options;
        options.threads = threads;
        try {
            const Context context(options);
            ADD_FAILURE() << threads << " threads";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::argument);
            EXPECT_NE(std::string(error.what()).find("got " + std::to_string(threads)), std::string::npos)
                << error.what();
        }
    }
}

}  // namespace
}  // namespace cairn
