#include "autotune/policy/tuner.hpp"
#include "cairn/cairn.hpp"
#include "device/context_impl.hpp"
#include "tests/autotune/database/process.hpp"
#include "tests/autotune/policy/fake_measurer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

namespace cairn::autotune {
namespace {

int hung = 0;  // calls of the kernel that does not return, in this process

/// Context options with an extra kernel for `exp` that never returns.
ContextOptions with_a_hanging_kernel(const std::filesystem::path& path) {
    Kernel kernel;
    kernel.id = "my.exp@1";
    kernel.definition = "exp";
    kernel.accepts = [](const Problem&) -> Refusal { return {}; };
    kernel.cost = [](const Problem&) { return Cost{0, 1, 1}; };
    kernel.run = [](const Args&, Team&) {
        ++hung;
        while (true) std::this_thread::sleep_for(std::chrono::hours(1));
    };
    ContextOptions options;
    options.timing_db = path;
    options.extra.kernels = {kernel};
    return options;
}

TEST(HangingKernel, IsRecordedBeforeTheProcessEndsAndNotRunAgain) {
    const auto path = std::filesystem::path(CAIRN_BINARY_DIR) / "hang_test.db";
    std::filesystem::remove(path);
    Graph g("exp");
    g.output("y", exp(g.input("x", DType::f32, {4})));
    const auto tune_once = [&](double hang_seconds) {
        const Context context(with_a_hanging_kernel(path));
        test::FakeTuning tuning(g, context, {});
        run_tuner(tuning.selected, context, tuning.costs, tuning.options, {100, {}, {}, hang_seconds},
                  measurer_of(context));
    };
    const auto recorded = [&] {
        std::error_code ignored;
        if (!std::filesystem::exists(path, ignored)) return false;
        const auto rows = TimingFile(path, TimingFile::Use::read).query({.kernel = "my.exp@1"});
        return !rows.empty() && rows[0].timing.status == TimingStatus::failed;
    };
    test::Process first([&](const auto& report) {
        tune_once(0.05);
        report("it returned");
    });
    using Clock = std::chrono::steady_clock;
    for (const Clock::time_point begin = Clock::now(); Clock::now() < begin + std::chrono::seconds(60);) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        try {
            if (recorded()) break;
        } catch (const Error&) {}  // the file is being created
    }
    EXPECT_TRUE(recorded()) << "while the kernel still hangs";
    first.kill();
    EXPECT_EQ(first.finish(), "");
    test::Process second([&](const auto& report) {
        alarm(60);  // would stop the process if the kernel were called
        tune_once(100);
        report(hung == 0 ? "did without" : "called it");
    });
    EXPECT_EQ(second.finish(), "did without");
}

}  // namespace
}  // namespace cairn::autotune
