#pragma once

#include "cairn/cairn.hpp"
#include "tests/driver/emulated_device.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <utility>
#include <vector>

namespace cairn::test {

/// An emulated device with a Context that has one kernel of the program's own.
class OwnKernelFixture : public testing::Test {
protected:
    void TearDown() override {
        context.reset();
        EXPECT_THAT(device.faults(), testing::IsEmpty());
    }
    const Context& context_with(Kernel kernel, ContextOptions options = {}) {
        options.extra.kernels = {std::move(kernel)};
        context.emplace(device.context(std::move(options)));
        return *context;
    }
    KernelReport checked(Kernel kernel) {
        const std::vector<KernelReport> reports = check_kernels(context_with(std::move(kernel)), {.only_extra = true});
        EXPECT_EQ(reports.size(), 1U);
        EXPECT_EQ(reports[0].not_checked, "");
        return reports[0];
    }

    EmulatedDevice device;
    std::optional<Context> context;
};

}  // namespace cairn::test
