#include "autotune/measurement/fingerprint.hpp"
#include "autotune/policy/tuner.hpp"
#include "cairn/cairn.hpp"
#include "device/context_impl.hpp"
#include "tests/autotune/policy/fake_measurer.hpp"
#include "tests/device/text_context.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <stdexcept>

/// Kernels with code are tuned like those of the CPU.
namespace cairn::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

int deadly_runs = 0;
/// Of a call on the device: shorter than on any CPU.
constexpr double call_seconds = 1e-7;

Kernel own(const std::string& id, KernelCode (*code)(const Problem&)) { return text_kernel(id, "exp", code); }
Kernel good(const std::string& id) {
    return own(id, [](const Problem& problem) { return text_code(problem, "good"); });
}
Kernel broken() {
    return own("own.broken@1", [](const Problem& problem) { return text_code(problem, "broken"); });
}
Kernel deadly() {
    return own("own.deadly@1", [](const Problem& problem) { return text_code(problem, "deadly"); });
}

/// A good kernel need not compute anything to be timed.
void add_functions(TextBackend& backend) {
    backend.add("good", [](const Args&, auto) { return std::nullopt; });
    backend.add("deadly", [&backend](const Args&, auto) -> std::optional<device::Failure> {
        ++deadly_runs;
        backend.lost = true;
        throw Error(ErrorKind::unsupported, "device", "the device is lost: illegal address");
    });
}

/// Large enough that the device is faster than the CPU.
Graph large() {
    Graph g("large");
    g.output("y", exp(g.input("x", DType::f32, {g.symbol("N", 8, 32), 4096})));
    return g;
}

class DeviceTuning : public testing::Test {
protected:
    DeviceTuning() {
        path = std::filesystem::path(CAIRN_BINARY_DIR) /
               (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "_device.db");
        std::filesystem::remove(path);
    }
    Context context(std::vector<Kernel> kernels) {
        ContextOptions options;
        options.timing_db = path;
        options.log = [this](LogLevel, std::string_view line) { log += std::string(line) + '\n'; };
        const Context made = with_text_device(std::move(kernels), backend, options);
        add_functions(*backend);
        backend->call_seconds = call_seconds;
        return made;
    }
    static CompiledGraph tuned(const Context& context, Mode mode = Mode::normal) {
        return compile(large(), context, {.mode = mode, .tune_seconds = 10, .run_program_trials = false});
    }
    std::vector<TimingRecord> rows(const std::string& kernel) const {
        return TimingFile(path, TimingFile::Use::read).query({.kernel = kernel});
    }

    std::filesystem::path path;
    TextBackend* backend = nullptr;
    std::string log;
};

TEST_F(DeviceTuning, EveryModeStoresTimesOfTheDevice) {
    for (const Mode mode : {Mode::quick, Mode::normal, Mode::exhaustive}) {
        std::filesystem::remove(path);
        std::string hard;
        {
            const Context first = context({good("own.exp@1"), good("own.exp@2")});
            tuned(first, mode);
            hard = autotune::environment_of(*first.impl(), Device::cuda()).hard;
            EXPECT_GT(backend->timed_calls, 0);
            EXPECT_EQ(first.impl()->candidate_codes, nullptr) << "released";
        }
        const std::vector<TimingRecord> all = rows("own.exp@*");
        EXPECT_FALSE(all.empty()) << static_cast<int>(mode);
        for (const TimingRecord& row : all) {
            EXPECT_EQ(row.hard, hard);
            EXPECT_EQ(row.timing.status, TimingStatus::ok);
            EXPECT_NEAR(row.timing.median, call_seconds, 1e-10);
        }
        const Context second = context({good("own.exp@1"), good("own.exp@2")});
        const std::string text = details(tuned(second, Mode::cached).explain());
        EXPECT_EQ(backend->timed_calls, 0);
        EXPECT_THAT(text, testing::ContainsRegex("own.exp@. on cuda [^\n]* measured"));
    }
}

TEST_F(DeviceTuning, ManyTextsAreCompiledAtOnce) {
    const Context made = context({good("own.exp@1"), good("own.exp@2")});
    Graph g("several");
    for (const int columns : {4096, 4097, 4098, 4099})
        g.output("y" + std::to_string(columns), exp(g.input("x" + std::to_string(columns), DType::f32, {8, columns})));
    compile(g, made, {.mode = Mode::normal, .tune_seconds = 10, .run_program_trials = false});
    ASSERT_FALSE(backend->compilations.empty());
    EXPECT_EQ(backend->compilations[0].size(), 8U)
        << "two kernels at each of four sizes, though each is measured alone";
}

TEST_F(DeviceTuning, ATextThatDoesNotCompileIsRecordedWithItsLog) {
    const CompiledGraph compiled = tuned(context({broken(), good("own.exp@1")}));
    EXPECT_THAT(compiled.program(), AllOf(HasSubstr("own.exp@1"), Not(HasSubstr("own.broken@1"))));
    const std::vector<TimingRecord> all = rows("own.broken@1");
    ASSERT_FALSE(all.empty());
    for (const TimingRecord& row : all) {
        EXPECT_EQ(row.timing.status, TimingStatus::failed);
        EXPECT_THAT(row.timing.note, HasSubstr("does not compile, with the log\nno broken"));
    }
}

TEST_F(DeviceTuning, ALostDeviceEndsTheTuneAndBlamesOneKernel) {
    deadly_runs = 0;
    {
        const Context made = context({deadly(), good("own.exp@1")});
        EXPECT_THAT(message([&] { tuned(made); }), HasSubstr("illegal address"));
        EXPECT_EQ(deadly_runs, 1);
    }
    int failed = 0;
    for (const TimingRecord& row : rows("*")) {
        failed += row.timing.status == TimingStatus::failed ? 1 : 0;
        EXPECT_EQ(row.timing.status == TimingStatus::failed, row.kernel == "own.deadly@1") << row.kernel;
    }
    EXPECT_EQ(failed, 1);
    // At the sizes where it has failed it is not run again.
    const Problem failing = [&] {
        const auto symbols = Symbols::create();
        return parse_problem(rows("own.deadly@1").at(0).problem, *symbols);
    }();
    const Context again = context({deadly(), good("own.exp@1")});
    Graph g("same");
    g.output("y", exp(g.input("x", DType::f32, {failing.inputs[0].shape[0], 4096})));
    const CompiledGraph compiled = compile(g, again, {.mode = Mode::normal, .tune_seconds = 10});
    EXPECT_EQ(deadly_runs, 1);
    EXPECT_THAT(compiled.program(), Not(HasSubstr("own.deadly@1")));
}

TEST_F(DeviceTuning, AStatedErrorIsMeasuredOnTheDevice) {
    Kernel inexact = own("own.exp@1", [](const Problem& problem) { return text_code(problem, "inexact"); });
    inexact.error = [](const Problem&) { return 1e-4; };
    const auto compiled = [&](const Context& made, Mode mode) {
        backend->add("inexact", [](const Args& args, auto) -> std::optional<device::Failure> {
            const std::int64_t count = args.outputs[0].shape[0] * args.outputs[0].shape[1];
            for (std::int64_t i = 0; i < count; ++i)
                reinterpret_cast<float*>(args.outputs[0].data)[i] =
                    1.01F * std::exp(reinterpret_cast<const float*>(args.inputs[0].data)[i]);
            return {};
        });
        backend->call_seconds = 1e-3;
        return compile(
            large(), made,
            {.mode = mode, .tune_seconds = 10, .run_program_trials = false, .tolerance = Tolerance::relative(1e-3)});
    };
    const Context made = context({inexact});
    EXPECT_THAT(compiled(made, Mode::off).program(), HasSubstr("own.exp@1")) << "it is believed at first";
    const CompiledGraph after = compiled(made, Mode::normal);
    EXPECT_THAT(after.program(), Not(HasSubstr("own.exp@1")));
    // Whichever definition of exp is taken on the CPU.
    EXPECT_THAT(why_not(after.explain(), "own.exp@1"), HasSubstr("refused: it states an error of 0.0001, but 0.0"));
}

// What sums of kernel times choose runs on the CPU, the plan of an unmeasured compile on the device.
TEST_F(DeviceTuning, ProgramsOfTwoDevicesAreTriedAgainstEachOther) {
    const Context made = context({good("own.exp@1")});
    backend->call_seconds = 1e-2;
    const CompiledGraph compiled = compile(large(), made, {.mode = Mode::normal, .tune_seconds = 10});
    const Explanation why = compiled.explain();
    ASSERT_FALSE(why.trials.empty());
    EXPECT_TRUE(why.trials[0].as_unmeasured);
    EXPECT_GT(why.trials[0].expected, 9) << "of the CPU it takes tenths of a millisecond at most";
    EXPECT_GT(why.trials[0].samples, 0);
}

TEST_F(DeviceTuning, ACompilationThatTakesLongIsLogged) {
    const Context made = context({good("own.exp@1")});
    Graph g("exp");
    g.output("y", exp(g.input("x", DType::f32, {8, 4096})));
    FakeTuning tuning(g, made, {});
    tuning.costs.devices = made.kernels().devices;
    tuning.costs.others[Device::cuda()] = {autotune::environment_of(*made.impl(), Device::cuda()),
                                           autotune::link_environment_of(*made.impl(), Device::cuda()),
                                           autotune::policy_of(*made.impl(), Device::cuda())};
    backend->compile_time = std::chrono::milliseconds(300);
    autotune::run_tuner(tuning.selected, made, tuning.costs, tuning.options, {100, {}, {}, 0.05},
                        autotune::measurer_of(made));
    EXPECT_THAT(log, HasSubstr("tune: own.exp@1 was not compiled within 0.05 s, with 0 others on exp | f32[8,4096]"));
    const auto symbols = Symbols::create();
    const auto timing =
        made.impl()->timings->find(parse_problem("exp | f32[8,4096] -> f32[8,4096]", *symbols), "own.exp@1",
                                   autotune::environment_of(*made.impl(), Device::cuda()), {});
    ASSERT_TRUE(timing);
    EXPECT_EQ(timing->status, TimingStatus::ok) << "it was measured in the end";
}

}  // namespace
}  // namespace cairn::test
