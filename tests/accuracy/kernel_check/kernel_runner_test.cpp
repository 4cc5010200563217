#include "accuracy/kernel_check/check_kernels.hpp"
#include "accuracy/kernel_check/error_measurement.hpp"
#include "tests/device/text_context.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

/// Kernels with code are checked on their device, with operands in its memory.
namespace cairn::kernel_check {
namespace {

using test::text_code;
using test::text_kernel;
using test::TextBackend;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

enum class Fault {
    none,
    tail_left_out,
    overrun,
    changes_an_input,
    differs_each_time,
    overruns_workspace,
    throws,
    reports_a_failure,
};

float* floats(const TensorArg& tensor) { return reinterpret_cast<float*>(tensor.data); }

std::int64_t count_of(const TensorArg& tensor) {
    std::int64_t count = 1;
    for (int axis = 0; axis < tensor.rank; ++axis) count *= tensor.shape[axis];
    return count;
}

/// exp, with the error that `fault` selects.
TextBackend::Function exp_with(Fault fault) {
    return [fault, run = 0](const Args& args, std::span<const std::int64_t>) mutable -> std::optional<device::Failure> {
        const std::int64_t count = count_of(args.outputs[0]);
        float *from = floats(args.inputs[0]), *to = floats(args.outputs[0]);
        for (std::int64_t i = 0; i < (fault == Fault::tail_left_out ? count / 4 * 4 : count); ++i)
            to[i] = std::exp(from[i]);
        if (fault == Fault::overrun) to[count] = 1;
        if (fault == Fault::changes_an_input && count > 0) from[0] = 7;
        if (fault == Fault::differs_each_time && count > 0 && to[0] > 0)
            to[0] = std::nextafter(to[0], ++run % 2 == 0 ? 0.0F : 2 * to[0]);
        if (fault == Fault::overruns_workspace) args.workspace[64] = std::byte{1};
        if (fault == Fault::throws) throw std::runtime_error("boom");
        if (fault == Fault::reports_a_failure) return device::Failure{"it does not like it"};
        return {};
    };
}

Kernel own_exp() {
    Kernel kernel = text_kernel("own.exp@1", "exp", [](const Problem& problem) { return text_code(problem, "exp"); });
    kernel.workspace = [](const Problem&, int) { return Dim(64); };
    kernel.in_place = {{0, 0}};
    kernel.samples = {"exp | f32[N] -> f32[N] where N in 0..33", "exp | f32[3,5] -> f32[3,5]"};
    return kernel;
}

class DeviceKernel : public testing::Test {
protected:
    KernelReport checked(const Kernel& kernel) {
        const KernelToCheck request{kernel, {}, &backend};
        return check_kernels({&request, 1}, {}).front();
    }
    void expect_fault(const Kernel& kernel, const std::string& words) {
        const KernelReport report = checked(kernel);
        EXPECT_THAT(report.faults, testing::Contains(HasSubstr(words)));
        EXPECT_EQ(report.not_checked, "");
    }

    TextBackend backend;
};

TEST_F(DeviceKernel, OneTextRunsAtAllSizesAndAlignments) {
    std::set<std::int64_t> sizes;
    std::set<std::uintptr_t> alignments;
    int runs = 0;
    const TextBackend::Function right = exp_with(Fault::none);
    backend.add("exp", [&](const Args& args, std::span<const std::int64_t> symbols) {
        ++runs;
        if (!symbols.empty()) sizes.insert(symbols[0]);
        alignments.insert(reinterpret_cast<std::uintptr_t>(args.inputs[0].data) % 64);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(args.workspace) % 64, 0U);
        return right(args, symbols);
    });
    const KernelReport report = checked(own_exp());
    EXPECT_THAT(report.faults, IsEmpty());
    EXPECT_EQ(sizes, (std::set<std::int64_t>{0, 1, 3, 17, 33}));
    EXPECT_EQ(alignments, (std::set<std::uintptr_t>{0, 4}));
    EXPECT_EQ(report.variations, 2);
    EXPECT_EQ(report.runs, 2 * (5 + 1)) << "without special values and with many";
    EXPECT_EQ(runs, 4 * report.runs) << "three times, and once in place";
    EXPECT_EQ(report.in_place, report.runs);
    EXPECT_THAT(backend.compilations, ElementsAre(ElementsAre("exp", "exp")));
}

TEST_F(DeviceKernel, FaultsAreFoundAsOnTheCpu) {
    const std::pair<Fault, const char*> faults[] = {{Fault::tail_left_out, "is wrong (sample): output 0"},
                                                    {Fault::overrun, "writes around output 0"},
                                                    {Fault::changes_an_input, "changes input 0"},
                                                    {Fault::differs_each_time, "gives different bits the second time"},
                                                    {Fault::overruns_workspace, "writes around its workspace of 64"},
                                                    {Fault::throws, " fails: boom (sample)"},
                                                    {Fault::reports_a_failure, " fails: it does not like it"}};
    for (const auto& [fault, words] : faults) {
        backend.add("exp", exp_with(fault));
        expect_fault(own_exp(), words);
    }
}

TEST_F(DeviceKernel, InPlaceTheOutputIsTheInput) {
    backend.add("exp", [right = exp_with(Fault::none)](const Args& args, std::span<const std::int64_t> symbols) {
        if (args.inputs[0].data == args.outputs[0].data && count_of(args.inputs[0]) > 0) floats(args.inputs[0])[0] = 0;
        return right(args, symbols);
    });
    expect_fault(own_exp(), "gives different bits in place of input 0");
}

TEST_F(DeviceKernel, ATextThatDoesNotCompileIsAFault) {
    Kernel kernel = own_exp();
    kernel.code = [](const Problem& problem) { return text_code(problem, "broken"); };
    const KernelReport report = checked(kernel);
    ASSERT_EQ(report.faults.size(), 2U) << "one for each Problem";
    EXPECT_THAT(report.faults[0], AllOf(HasSubstr("own.exp@1 has no code: [device] broken"), HasSubstr("no broken"),
                                        HasSubstr("on exp | f32[N]")));
    EXPECT_EQ(report.runs, 0);
    kernel.code = [](const Problem&) -> KernelCode { throw std::runtime_error("no text today"); };
    expect_fault(kernel, "has no code: no text today");
}

TEST_F(DeviceKernel, CodeThatAProgramCouldNotUseIsAFault) {
    backend.add("exp", exp_with(Fault::none));
    backend.add("exp2", exp_with(Fault::none));
    Kernel kernel = own_exp();
    static int asked = 0;
    kernel.code = [](const Problem& problem) { return text_code(problem, ++asked % 2 == 0 ? "exp" : "exp2"); };
    expect_fault(kernel, "gives equal Problems different texts");
    kernel.code = [](const Problem& problem) {
        KernelCode code = text_code(problem, problem.inputs[0].shape.size() == 1 ? "exp" : "exp2");
        code.entry = "e";
        return code;
    };
    expect_fault(kernel, "gives different texts one entry, `e`");
    kernel.code = [](const Problem& problem) {
        KernelCode code = text_code(problem, "exp");
        code.block = 1025;
        return code;
    };
    expect_fault(kernel, "has a block, a cluster or a grid that cannot be launched");
    kernel.code = [](const Problem& problem) {
        KernelCode code = text_code(problem, "exp");
        code.grid = {1, problem.inputs[0].shape[0] - 1};
        return code;
    };
    expect_fault(kernel, "has a grid of -1 blocks along axis 1");
    kernel.code = [](const Problem& problem) {
        if (problem.inputs[0].shape[0] == Dim(17)) throw std::runtime_error("not 17");
        return text_code(problem, "exp");
    };
    expect_fault(kernel, "cannot be prepared at a size within it: not 17");
}

TEST_F(DeviceKernel, ALostDeviceEndsTheCheckWithItsFault) {
    backend.add("exp", [&](const Args&, std::span<const std::int64_t>) -> std::optional<device::Failure> {
        backend.lost = true;
        throw Error(ErrorKind::unsupported, "device", "the device is lost: illegal address");
    });
    const KernelReport report = checked(own_exp());
    ASSERT_EQ(report.faults.size(), 1U);
    EXPECT_THAT(report.faults[0], HasSubstr("own.exp@1  fails: [device] the device is lost: illegal address"));
}

TEST_F(DeviceKernel, CopiesRunInBothDirections) {
    const KernelReport report = checked(test::text_copy());
    EXPECT_THAT(report.faults, IsEmpty());
    EXPECT_GE(report.variations, 2);
    EXPECT_GE(report.runs, 10);
    EXPECT_THAT(backend.compilations, IsEmpty());
}

/// What a gather of rows does with an index that is out of range.
enum class Outside { reported, reported_elsewhere, clamped };

TextBackend::Function gather_with(Outside outside) {
    return [outside](const Args& args, std::span<const std::int64_t>) -> std::optional<device::Failure> {
        const auto* indices = reinterpret_cast<const std::int32_t*>(args.inputs[1].data);
        const std::int64_t rows = args.inputs[0].shape[0], columns = args.inputs[0].shape[1];
        std::optional<device::Failure> failure;
        for (std::int64_t i = 0; i < args.inputs[1].shape[0]; ++i) {
            std::int64_t row = indices[i];
            if (row < 0 || row >= rows) {
                const std::int64_t place = outside == Outside::reported_elsewhere ? i + 1 : i;
                if (outside != Outside::clamped) failure = device::Failure{"out of range", 1, place, row};
                row = std::clamp<std::int64_t>(row, 0, rows - 1);
            }
            for (std::int64_t c = 0; c < columns; ++c)
                floats(args.outputs[0])[i * columns + c] = floats(args.inputs[0])[row * columns + c];
        }
        return failure;
    };
}

TEST_F(DeviceKernel, AnIndexOutOfRangeMustBeReported) {
    Kernel kernel =
        text_kernel("own.gather@1", "gather", [](const Problem& problem) { return text_code(problem, "gather"); });
    kernel.accepts = [](const Problem& problem) -> Refusal {
        const bool is_dense =
            problem.inputs[0].is_dense() && problem.inputs[1].is_dense() && problem.outputs[0].is_dense();
        return is_dense && problem.inputs[0].dtype == DType::f32 ? "" : "needs dense f32";
    };
    kernel.samples = {"gather axis=(-2) | f32[7,3] i32[N] -> f32[N,3] where N in 1..20"};
    backend.add("gather", gather_with(Outside::reported));
    EXPECT_THAT(checked(kernel).faults, IsEmpty());
    backend.add("gather", gather_with(Outside::reported_elsewhere));
    expect_fault(kernel, "reports a wrong place for an index out of range: input 1 has 7");
    backend.add("gather", gather_with(Outside::clamped));
    expect_fault(kernel, "does not report an index out of range: input 1 has 7");
    expect_fault(kernel, "does not report an index out of range: input 1 has -1");
}

TEST_F(DeviceKernel, ErrorsAreMeasuredOnIt) {
    static double factor;
    backend.add("exp", [right = exp_with(Fault::none)](const Args& args, std::span<const std::int64_t> symbols) {
        const auto failure = right(args, symbols);
        for (std::int64_t i = 0; i < count_of(args.outputs[0]); ++i)
            floats(args.outputs[0])[i] *= static_cast<float>(factor);
        return failure;
    });
    const auto symbols = Symbols::create();
    const Problem problem = parse_problem("exp | f32[40] -> f32[40]", *symbols);
    Kernel kernel = own_exp();
    kernel.error = [](const Problem&) { return 1e-3; };
    factor = 1 + 1e-2;
    EXPECT_NEAR(measure_error(kernel, problem, 1e-3, {}, backend).relative, 1e-2, 1e-5);
    expect_fault(kernel, "stated 0.001");
    factor = 1 + 1e-4;
    EXPECT_NEAR(measure_error(kernel, problem, 1e-3, {}, backend).relative, 1e-4, 1e-5);
    EXPECT_THAT(checked(kernel).faults, IsEmpty());
    kernel.code = [](const Problem& given) { return text_code(given, "broken"); };
    EXPECT_TRUE(std::isinf(measure_error(kernel, problem, 1e-3, {}, backend).counted()));
}

TEST(DeviceKernels, OfAContextAreCheckedOnItsDevice) {
    TextBackend* backend = nullptr;
    Kernel second = own_exp();
    second.id = "own.exp@2";
    const Context context = test::with_text_device({own_exp(), second}, backend);
    backend->add("exp", exp_with(Fault::overrun));
    EXPECT_FALSE(check_kernel(context, "own.exp@1").faults.empty());
    EXPECT_THAT(check_kernel(context, "cuda.link.copy_to@1").faults, IsEmpty());

    backend->has_compiler = false;
    for (const KernelReport& report : check_kernels(context, {.only_extra = true})) {
        EXPECT_EQ(report.not_checked, "[device] there is no compiler");
        EXPECT_THAT(report.faults, IsEmpty());
    }
    backend->has_compiler = true;
    backend->add("exp", [&](const Args&, std::span<const std::int64_t>) -> std::optional<device::Failure> {
        backend->lost = true;
        throw std::runtime_error("illegal address");
    });
    const std::vector<KernelReport> reports = check_kernels(context, {.only_extra = true});
    ASSERT_EQ(reports.size(), 2U);
    EXPECT_THAT(reports[0].faults, ElementsAre(HasSubstr("fails: illegal address")));
    EXPECT_EQ(reports[1].not_checked, "[device] the device is lost");
}

TEST(DeviceKernels, NeedADeviceThatIsOpen) {
    EXPECT_EQ(test::message([] { (void)check_kernel(own_exp(), {}); }),
              "[check_kernel] own.exp@1 needs the device cuda: it is checked by check_kernel(context, id), with a "
              "Context that has opened the device");
    ContextOptions options;
    options.extra.kernels = {own_exp()};
    const std::vector<KernelReport> reports = check_kernels(Context(options), {.only_extra = true});
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].not_checked,
              "[check_kernel] own.exp@1 runs on cuda alone, which this Context has not opened "
              "(ContextOptions::devices)");
    EXPECT_THAT(reports[0].faults, IsEmpty());
}

}  // namespace
}  // namespace cairn::kernel_check
