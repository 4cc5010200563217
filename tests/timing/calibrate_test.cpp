#include "cairn/tuning.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace cairn {
namespace {

TEST(Calibrate, MeasuresAMachine) {
    const Calibration machine = calibrate(Context({.threads = 2}));
    EXPECT_GT(machine.flops, 1e8);
    EXPECT_GT(machine.bandwidth, 1e8);
    EXPECT_GT(machine.barrier_seconds, 0);
    EXPECT_GT(machine.timer_seconds, 0);
    EXPECT_EQ(calibrate(Context()).barrier_seconds, 0);
}

TEST(Calibrate, EveryLevelHasAPeak) {
    for (const Isa level : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::avx512_vnni_bf16}) {
        const Context context({.max_isa = level});
        EXPECT_GT(calibrate(context).flops, 1e8) << to_string(context.isa());
    }
}

TEST(Calibrate, AProductThatFailsIsPassedOver) {
    Kernel kernel;
    kernel.id = "my.matmul@1";
    kernel.definition = "matmul";
    kernel.isa = Context().isa();
    kernel.accepts = [](const Problem&) -> Refusal { return {}; };
    kernel.cost = [](const Problem&) { return Cost{1e6, 1e6, 1}; };
    kernel.run = [](const Args&, Team&) { throw std::runtime_error("boom"); };
    ContextOptions options;
    options.extra.kernels = {kernel};
    EXPECT_GT(calibrate(Context(options)).flops, 1e8);
    options.extra.kernels[0].accepts = [](const Problem&) -> Refusal { throw std::runtime_error("boom"); };
    EXPECT_GT(calibrate(Context(options)).flops, 1e8);
}

}  // namespace
}  // namespace cairn
