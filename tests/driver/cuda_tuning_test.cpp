#include "autotune/measurement/fingerprint.hpp"
#include "cairn/cairn.hpp"
#include "device/context_impl.hpp"
#include "tests/driver/emulated_device.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

// A CUDA device is measured like the CPU: on the emulator, whose launches take a millisecond each.
namespace cairn::test {
namespace {

using testing::HasSubstr;

Graph small_graph() {
    Graph g("small");
    const Tensor x = g.input("x", DType::f32, {g.symbol("N", 1, 8), 32});
    g.output("y", softmax(linear(x, g.weight("w", DType::f32, {32, 24}), g.weight("b", DType::f32, {24}))));
    return g;
}

class CudaTuning : public testing::Test {
protected:
    CudaTuning() {
        path = std::filesystem::path(CAIRN_BINARY_DIR) /
               (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "_cuda.db");
        std::filesystem::remove(path);
    }
    ContextOptions options() const {
        ContextOptions made;
        made.timing_db = path;
        return made;
    }
    std::vector<TimingRecord> rows() const {
        return TimingFile(path, TimingFile::Use::read).query({.kernel = "cuda.*"});
    }

    std::filesystem::path path;
};

TEST_F(CudaTuning, TimesAreStoredAndReadByTheNextContext) {
    for (const Mode mode : {Mode::quick, Mode::normal}) {
        std::filesystem::remove(path);
        EmulatedDevice device;
        {
            const Context first = device.context(options());
            (void)compile(small_graph(), first, {.mode = mode, .tune_seconds = 300, .run_program_trials = false});
            const std::string hard = autotune::environment_of(*first.impl(), Device::cuda()).hard,
                              link = autotune::link_environment_of(*first.impl(), Device::cuda()).hard;
            EXPECT_FALSE(rows().empty()) << static_cast<int>(mode);
            for (const TimingRecord& row : rows()) {
                EXPECT_EQ(row.hard, row.kernel.starts_with("cuda.link.") ? link : hard) << row.kernel;
                EXPECT_NE(row.timing.status, TimingStatus::failed) << row.kernel << ' ' << row.timing.note;
            }
        }
        const std::size_t stored = rows().size();
        const Context second = device.context(options());
        const std::int64_t before = device.launches();
        const std::string text = details(compile(small_graph(), second, {.mode = Mode::cached}).explain());
        EXPECT_EQ(device.launches(), before);
        EXPECT_THAT(text, testing::ContainsRegex("cuda\\.[^\n]* s measured"));
        (void)compile(small_graph(), second, {.mode = mode, .tune_seconds = 300, .run_program_trials = false});
        EXPECT_EQ(rows().size(), stored) << "nothing is left to measure";
        EXPECT_EQ(device.launches(), before);
    }
}

TEST_F(CudaTuning, ALostDeviceEndsTheTuneAndLeavesTheDriverInOrder) {
    EmulatedDevice device;
    {
        const Context context = device.context(options());
        device.driver().fail("cuLaunchKernelEx", 3, device::cuda::Result::illegal_address);
        EXPECT_THAT(message([&] {
                        (void)compile(small_graph(), context,
                                      {.mode = Mode::normal, .tune_seconds = 300, .run_program_trials = false});
                    }),
                    HasSubstr("cuda:0 is lost: cuLaunchKernelEx failed with CUDA_ERROR_ILLEGAL_ADDRESS"));
        int failed = 0;
        for (const TimingRecord& row : rows()) failed += row.timing.status == TimingStatus::failed ? 1 : 0;
        EXPECT_EQ(failed, 1) << "the kernel that was running";
        // The CPU goes on.
        Graph g("g");
        g.output("y", exp(g.input("x", DType::f32, {2})));
        CompiledGraph compiled = compile(g, context, {.disable = {"search"}});
        const std::vector<float> x{0, 0};
        compiled.set("x", x.data(), {2});
        compiled.run();
        EXPECT_EQ(compiled.output("y").as<float>()[0], 1);
    }
    EXPECT_THAT(device.driver().violations(), testing::IsEmpty());
}

}  // namespace
}  // namespace cairn::test
