#include "cairn/check.hpp"
#include "cairn/composites.hpp"
#include "cairn/kernels.hpp"
#include "tests/accuracy/kernel_check/heap_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

/// Tests of the harness: a correct kernel passes, and each kind of fault is reported.
namespace cairn::test {
namespace {

enum class Fault {
    none,
    column_left_out,
    wrong_eps,
    eps_ignored,
    reads_past_the_end,
    writes_past_the_end,
    writes_between_rows,
    changes_an_input,
    trusts_workspace,
    overruns_workspace,
    wrong_in_place,
    calls_the_heap,
    depends_on_team,
    ignores_row_stride,
    one_odd_size_wrong,
    long_rows_wrong,
    leaves_nan_out,
    fails,
};

struct Settings {
    double eps;
};

// layer_norm on rows of [N, D], one row after another, with the error that `fault` selects. check_kernel must find it,
// so the sanitizers are off.
template <Fault fault>
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] void run(const Args& args, Team& team) {
    const TensorArg &x = args.inputs[0], &y = args.outputs[0];
    const std::int64_t rows = x.shape[0], columns = x.shape[1];
    const auto* in = reinterpret_cast<const float*>(x.data);
    const auto *gamma = reinterpret_cast<const float*>(args.inputs[1].data),
               *beta = reinterpret_cast<const float*>(args.inputs[2].data);
    auto* out = reinterpret_cast<float*>(y.data);
    const double eps = fault == Fault::eps_ignored
                           ? 0
                           : static_cast<const Settings*>(args.prepared)->eps * (fault == Fault::wrong_eps ? 1.01 : 1);
    auto* scratch = reinterpret_cast<float*>(args.workspace + team.rank() * 64);
    if (fault != Fault::trusts_workspace) scratch[0] = 0;
    if (fault == Fault::overruns_workspace) args.workspace[64 * team.size()] = std::byte{1};
    if (fault == Fault::fails) return team.fail("no reason");
    if (fault == Fault::calls_the_heap) {
        void* volatile memory = std::malloc(64);
        std::free(memory);
    }
    for (std::int64_t r = team.next_chunk(); r < rows; r = team.next_chunk()) {
        const std::int64_t row = r;
        const float* from = in + row * (fault == Fault::ignores_row_stride ? columns : x.strides[0]);
        float* to = out + row * y.strides[0];
        if (fault == Fault::wrong_in_place)
            for (std::int64_t c = 0; c < columns; ++c) to[c] = 0;
        double mean = 0, squares = 0;
        const std::int64_t last = fault == Fault::column_left_out      ? columns - 1
                                  : fault == Fault::reads_past_the_end ? columns + 1
                                                                       : columns;
        for (std::int64_t c = 0; c < last; ++c)
            mean += fault == Fault::leaves_nan_out && std::isnan(from[c]) ? 0 : from[c];
        mean /= static_cast<double>(columns);
        for (std::int64_t c = 0; c < columns; ++c) {
            const double off = from[c] - mean;
            squares += fault == Fault::leaves_nan_out && std::isnan(off) ? 0 : off * off;
        }
        double factor = 1 / std::sqrt(squares / static_cast<double>(columns) + eps);
        if (fault == Fault::trusts_workspace && scratch[0] != 0) factor += 0.001 * (std::isnan(scratch[0]) ? 1 : 0);
        if (fault == Fault::depends_on_team && team.size() == 3) factor *= 1 + 1e-7;
        if (fault == Fault::one_odd_size_wrong && columns == 17 && row == rows - 1) factor *= 1.001;
        if (fault == Fault::long_rows_wrong && columns > 17) factor *= 1.001;
        for (std::int64_t c = 0; c < columns; ++c)
            to[c] = static_cast<float>((from[c] - mean) * factor * gamma[c] + beta[c]);
        if (fault == Fault::writes_past_the_end && row == rows - 1) to[columns] = 1;
        if (fault == Fault::writes_between_rows && y.strides[0] > columns && row + 1 < rows) to[columns] = 1;
        if (fault == Fault::changes_an_input && row == 0) const_cast<float*>(from)[0] = 7;
    }
}

template <Fault fault>
KernelReport report(std::size_t size_stride = 1) {
    Kernel kernel;
    kernel.id = "test.layer_norm@1";
    kernel.definition = "layer_norm";
    kernel.accepts = [](const Problem& problem) -> Refusal {
        for (const auto* list : {&problem.inputs, &problem.outputs})
            for (const TensorDesc& tensor : *list)
                if (tensor.dtype != DType::f32 || !(tensor.strides.back() == Dim(1)))
                    return "needs f32 with a contiguous last axis";
        return {};
    };
    kernel.run = run<fault>;
    kernel.in_place = {{0, 0}};
    kernel.prepare = [](const Problem& problem, int) -> std::shared_ptr<const void> {
        return std::make_shared<Settings>(Settings{problem.attributes.number("eps")});
    };
    kernel.workspace = [](const Problem&, int threads) { return Dim(64 * threads); };
    kernel.samples = {"layer_norm eps=0.001 | f32[N,D] f32[D] f32[D] -> f32[N,D] where N in 1..40, D in 2..33"};
    std::vector<Definition> definitions(1);
    definitions[0].name = "layer_norm";
    definitions[0].build = [](std::span<const Tensor> x, const Attributes& a) -> std::vector<Tensor> {
        return {layer_norm(x[0], x[1], x[2], a.number("eps"))};
    };
    return check_kernel(kernel, definitions, {.size_stride = size_stride, .heap_calls = heap_calls});
}

template <Fault fault>
void expect_fault(const std::string& words) {
    const KernelReport found = report<fault>();
    ASSERT_FALSE(found.faults.empty()) << words;
    bool is_named = false;
    for (const std::string& text : found.faults) is_named = is_named || text.find(words) != std::string::npos;
    EXPECT_TRUE(is_named) << found.faults.front();
}

TEST(CheckKernel, AcceptsACorrectKernelAfterManyVariations) {
    const KernelReport found = report<Fault::none>();
    for (const std::string& fault : found.faults) ADD_FAILURE() << fault;
    EXPECT_GE(found.variations, 4);
    EXPECT_GE(found.runs, 40);
    EXPECT_GE(found.in_place, 10);
}

TEST(CheckKernel, DetectsWrongValues) {
    expect_fault<Fault::column_left_out>("is wrong");
    expect_fault<Fault::wrong_eps>("is wrong");
    expect_fault<Fault::eps_ignored>("is wrong");
    expect_fault<Fault::ignores_row_stride>("is wrong");
    expect_fault<Fault::one_odd_size_wrong>("is wrong");
}

TEST(CheckKernel, DetectsFaultsOfLargeSizesOnly) {
    const KernelReport found = report<Fault::long_rows_wrong>(100);
    EXPECT_FALSE(found.faults.empty());
    EXPECT_LT(found.runs, report<Fault::none>().runs / 2);
}

// Not an elementwise kernel, but it must be run on NaN, infinite and subnormal values.
TEST(CheckKernel, DetectsWrongSpecialValues) { expect_fault<Fault::leaves_nan_out>("is wrong"); }

TEST(CheckKernel, DetectsWritesToOtherMemory) {
    expect_fault<Fault::writes_past_the_end>("writes around output 0");
    expect_fault<Fault::writes_between_rows>("writes around output 0");
    expect_fault<Fault::changes_an_input>("changes input 0");
    expect_fault<Fault::overruns_workspace>("writes around its workspace");
    expect_fault<Fault::trusts_workspace>("is wrong");
}

TEST(CheckKernel, DetectsReadsPastTheEnd) {
    // The sum includes what follows the row: the next row, a gap, or the guard.
    expect_fault<Fault::reads_past_the_end>("is wrong");
}

TEST(CheckKernel, DetectsAWrongInPlacePair) { expect_fault<Fault::wrong_in_place>("in place of input 0"); }

TEST(CheckKernel, DetectsResultsThatDependOnTheTeam) { expect_fault<Fault::depends_on_team>("with 3 threads"); }

TEST(CheckKernel, DetectsAFailure) { expect_fault<Fault::fails>("fails: no reason"); }

/// A correct kernel for exp that accepts a range of sizes, and behaves differently at a size within it.
KernelReport report_of_range(KernelFunction<Refusal(const Problem&)> accepts,
                             KernelFunction<std::shared_ptr<const void>(const Problem&, int)> prepare = nullptr,
                             const std::string& sample = "exp | f32[N] -> f32[N] where N in 1..64") {
    Kernel kernel;
    kernel.id = "test.exp@1";
    kernel.definition = "exp";
    kernel.accepts = accepts;
    kernel.prepare = prepare;
    kernel.run = [](const Args& args, Team& team) {
        if (team.rank() != 0) return;
        for (std::int64_t i = 0; i < args.inputs[0].shape[0]; ++i)
            reinterpret_cast<float*>(args.outputs[0].data)[i * args.outputs[0].strides[0]] =
                std::exp(reinterpret_cast<const float*>(args.inputs[0].data)[i * args.inputs[0].strides[0]]);
    };
    kernel.samples = {sample};
    return check_kernel(kernel, {}, {});
}

bool is_f32(const Problem& problem) { return problem.inputs[0].dtype == DType::f32; }

TEST(CheckKernel, DetectsASizeRefusedWithinAnAcceptedRange) {
    const KernelReport found = report_of_range([](const Problem& problem) -> Refusal {
        if (!is_f32(problem)) return "needs f32";
        return problem.inputs[0].shape[0] == Dim(13) ? "it is unlucky" : "";
    });
    ASSERT_FALSE(found.faults.empty());
    EXPECT_NE(found.faults[0].find("accepts a range and refuses a size within it: it is unlucky"), std::string::npos);
    EXPECT_NE(found.faults[0].find("at exp | f32[13] -> f32[13]"), std::string::npos) << found.faults[0];
}

TEST(CheckKernel, RunsOnlySizesWithinTheRangeOfASample) {
    const auto accepts = [](const Problem& problem) -> Refusal {
        return is_f32(problem) && provably_le(5000, problem.inputs[0].shape[0]) ? "" : "needs 5000 f32";
    };
    const KernelReport found = report_of_range(accepts, nullptr, "exp | f32[N] -> f32[N] where N in 5000..5003");
    EXPECT_TRUE(found.faults.empty()) << found.faults[0];
    EXPECT_GE(found.runs, 3);
}

TEST(CheckKernel, DetectsASizeThatCannotBePreparedWithinAnAcceptedRange) {
    const auto accepts = [](const Problem& problem) -> Refusal { return is_f32(problem) ? "" : "needs f32"; };
    EXPECT_TRUE(report_of_range(accepts).faults.empty());
    const KernelReport found = report_of_range(accepts, [](const Problem& problem, int) -> std::shared_ptr<const void> {
        if (problem.inputs[0].shape[0] == Dim(17)) throw Error(ErrorKind::memory, "test", "no room");
        return nullptr;
    });
    ASSERT_FALSE(found.faults.empty());
    EXPECT_NE(found.faults[0].find("cannot be prepared at a size within it: [test] no room"), std::string::npos);
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(CheckKernel, DetectsHeapCalls) { expect_fault<Fault::calls_the_heap>("makes 1 heap calls"); }
#endif

TEST(CheckKernel, RequiresASample) {
    Kernel kernel;
    kernel.id = "test.nothing@1";
    const KernelReport found = check_kernel(kernel, {}, {});
    ASSERT_EQ(found.faults.size(), 1u);
    EXPECT_NE(found.faults[0].find("has no sample"), std::string::npos);
}

// As an author outside the tree uses it.
TEST(CheckKernel, FindsAKernelOfAContext) {
    const Context context;
    const KernelReport found = check_kernel(context, "cpu.reference.floor@1");
    EXPECT_EQ(found.faults, std::vector<std::string>());
    EXPECT_GT(found.runs, 0);
    try {
        (void)check_kernel(context, "cpu.mine.floor@1");
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::argument);
        EXPECT_STREQ(error.what(), "[check_kernel] there is no kernel cpu.mine.floor@1");
    }
}

Kernel wrong_floor() {
    Kernel kernel;
    kernel.id = "own.floor@1";
    kernel.definition = "floor";
    kernel.accepts = [](const Problem& problem) {
        return Refusal(problem.inputs[0].is_dense() && problem.inputs[0].dtype == DType::f32 ? "" : "needs dense f32");
    };
    kernel.run = [](const Args& args, Team& team) {
        if (team.rank() == 0 && args.outputs[0].shape[0] > 0) reinterpret_cast<float*>(args.outputs[0].data)[0] = 0.5f;
    };
    kernel.samples = {"floor | f32[N] -> f32[N] where N in 0..9"};
    return kernel;
}

TEST(CheckKernels, ChecksAllOrOnlyCustomKernelsOfAContext) {
    Kernel elsewhere = wrong_floor();
    elsewhere.id = "own.packed@1";
    elsewhere.samples = {"floor | f32[4,4]@mine -> f32[4,4]"};
    elsewhere.accepts = [](const Problem&) { return Refusal(); };
    ContextOptions options{.reference_only = true};
    options.extra.kernels = {wrong_floor(), elsewhere};
    const Context own({.extra = options.extra});
    const std::vector<KernelReport> reports = check_kernels(own, {.only_extra = true});
    ASSERT_EQ(reports.size(), 2u);
    EXPECT_EQ(reports[0].kernel, "own.floor@1");
    EXPECT_FALSE(reports[0].faults.empty());
    EXPECT_EQ(reports[0].not_checked, "");
    EXPECT_EQ(reports[1].kernel, "own.packed@1");
    EXPECT_NE(reports[1].not_checked.find("got mine"), std::string::npos) << reports[1].not_checked;

    std::stop_source stopped;
    stopped.request_stop();
    EXPECT_THROW(check_kernels(own, {.stop = stopped.get_token()}), Cancelled);

    // Of all kernels, the reference ones.
    const Context few({.extra = {}, .reference_only = true});
    const std::vector<KernelReport> all = check_kernels(few, {.size_stride = 1000});
    EXPECT_EQ(all.size(), few.kernels().kernels.size());
    for (const KernelReport& report : all) EXPECT_EQ(report.faults, std::vector<std::string>()) << report.kernel;
}

// A user's own definition that indexes a table of few rows.
TEST(CheckKernel, GeneratesValidIndicesForAnyDefinition) {
    Definition lookup;
    lookup.name = "lookup";
    lookup.build = [](std::span<const Tensor> x, const Attributes&) {
        return std::vector<Tensor>{gather(x[0], reshape(cast(x[1], DType::i64), {x[1].dim(0)}), 0) * 2.0f};
    };
    Kernel kernel;
    kernel.id = "own.lookup@1";
    kernel.definition = "lookup";
    kernel.accepts = [](const Problem& problem) -> Refusal {
        for (const auto* list : {&problem.inputs, &problem.outputs})
            for (const TensorDesc& tensor : *list)
                if (!tensor.is_dense()) return "needs dense memory";
        return problem.inputs[0].dtype == DType::f32 && problem.inputs[1].dtype == DType::i32 ? ""
                                                                                              : "needs f32 and i32";
    };
    kernel.run = [](const Args& args, Team& team) {
        const auto* table = reinterpret_cast<const float*>(args.inputs[0].data);
        const auto* index = reinterpret_cast<const std::int32_t*>(args.inputs[1].data);
        for (std::int64_t i = team.rank(); i < args.inputs[1].shape[0]; i += team.size()) {
            if (index[i] < 0 || index[i] >= args.inputs[0].shape[0]) return team.fail("an index is out of range");
            reinterpret_cast<float*>(args.outputs[0].data)[i] = 2 * table[index[i]];
        }
    };
    kernel.samples = {"lookup | f32[3] i32[N] -> f32[N] where N in 1..40"};
    EXPECT_EQ(check_kernel(kernel, {&lookup, 1}).faults, std::vector<std::string>());
}

// The definition refuses an index that is out of range.
TEST(CheckKernel, DetectsAnIndexThatIsNotChecked) {
    Kernel kernel;
    kernel.id = "own.gather@1";
    kernel.definition = "gather";
    kernel.accepts = [](const Problem& problem) -> Refusal {
        for (const auto* list : {&problem.inputs, &problem.outputs})
            for (const TensorDesc& tensor : *list)
                if (!tensor.is_dense()) return "needs dense memory";
        return problem.inputs[0].dtype == DType::f32 ? "" : "needs f32";
    };
    kernel.run = [](const Args& args, Team& team) {
        const auto* table = reinterpret_cast<const float*>(args.inputs[0].data);
        const auto* index = reinterpret_cast<const std::int32_t*>(args.inputs[1].data);
        const std::int64_t rows = args.inputs[0].shape[0];
        for (std::int64_t i = team.rank(); i < args.inputs[1].shape[0]; i += team.size())
            reinterpret_cast<float*>(args.outputs[0].data)[i] = table[std::clamp<std::int64_t>(index[i], 0, rows - 1)];
    };
    kernel.samples = {"gather axis=(-1) | f32[3] i32[N] -> f32[N] where N in 1..40"};
    const KernelReport found = check_kernel(kernel, {}, {});
    ASSERT_FALSE(found.faults.empty());
    EXPECT_NE(found.faults[0].find("does not report an index out of range: input 1 has 3"), std::string::npos)
        << found.faults[0];
}

TEST(CheckKernel, DetectsAnException) {
    Kernel kernel = wrong_floor();
    kernel.run = [](const Args&, Team&) { throw std::runtime_error("boom"); };
    const KernelReport thrown = check_kernel(kernel, {}, {});
    ASSERT_FALSE(thrown.faults.empty());
    EXPECT_NE(thrown.faults[0].find("throws: boom with 1 threads"), std::string::npos) << thrown.faults[0];
}

TEST(CheckKernel, ReportsProblemsItCannotCheck) {
    Kernel kernel = cpu_kernels().kernels.back();
    kernel.accepts = [](const Problem&) { return Refusal(); };
    kernel.samples = {"add | f32[4,4]@mine f32[4,4] -> f32[4,4]"};
    try {
        (void)check_kernel(kernel, {}, {});
        ADD_FAILURE() << "no error";
    } catch (const Error& error) { EXPECT_EQ(error.kind(), ErrorKind::unsupported); }
}

}  // namespace
}  // namespace cairn::test
