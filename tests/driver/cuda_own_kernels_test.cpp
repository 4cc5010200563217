#include "cairn/cairn.hpp"
#include "tests/driver/own_kernel_fixture.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

// A program's own CUDA kernels, in text, are checked and verified on the device.
namespace cairn::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

/// The begin of a kernel: its parameters, and the symbols of the Problem by their names.
std::string begin_of(const std::string& entry, const Problem& problem) {
    std::string text = "extern \"C\" __global__ void " + entry + "(";
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) text += "void* in" + std::to_string(i) + ", ";
    for (std::size_t i = 0; i < problem.outputs.size(); ++i) text += "void* out" + std::to_string(i) + ", ";
    text += "void* workspace, const i64* symbols, FailureReport* status, u32 instruction) {\n    dependency_wait();\n";
    if (const auto symbols = symbols_of(problem)) {
        const std::vector<Symbols::Symbol> all = symbols->list();
        for (std::size_t i = 0; i < all.size(); ++i)
            text += "    const i64 " + all[i].name + " = symbols[" + std::to_string(i) + "];\n";
    }
    return text;
}

/// Code for `exp` in blocks of 64 threads; `body` uses `i`, an element, and `count`, their number.
KernelCode exp_code(const Problem& problem, const std::string& body) {
    const Dim count = element_count(problem.outputs[0].shape);
    KernelCode code;
    code.entry = "own_exp_" + to_string(digest(to_string(problem)));
    code.text = begin_of(code.entry, problem) + "    const i64 count = " + to_string(count) +
                ";\n    const i64 i = i64(blockIdx.x) * 64 + threadIdx.x;\n    float* const x = (float*)in0;\n"
                "    float* const y = (float*)out0;\n    " +
                body + "\n}\n";
    code.grid = {ceildiv(count, 64)};
    code.block = 64;
    return code;
}

Kernel own_kernel(const std::string& definition, KernelCode (*code)(const Problem&), const std::string& sample) {
    Kernel kernel;
    kernel.id = "own." + definition + ".f32@1";
    kernel.definition = definition;
    kernel.device = Device::cuda();
    kernel.accepts = [](const Problem& problem) -> Refusal {
        for (const auto* operands : {&problem.inputs, &problem.outputs})
            for (const TensorDesc& tensor : *operands)
                if (!tensor.is_dense()) return "needs dense memory";
        return problem.inputs[0].dtype == DType::f32 ? "" : "needs f32";
    };
    kernel.code = code;
    kernel.cost = [](const Problem&) { return Cost{1, 1, 1}; };
    kernel.samples = {sample};
    return kernel;
}

Kernel own_exp(KernelCode (*code)(const Problem&)) {
    return own_kernel("exp", code, "exp | f32[N,3] -> f32[N,3] where N in 0..70");
}

/// Code for a gather of single elements; `outside` is a statement for an index that is out of range.
KernelCode gather_code(const Problem& problem, const std::string& outside) {
    return exp_code(problem,
                    "if (i >= count) return;\n    const int index = ((const int*)in1)[i];\n"
                    "    if (index < 0 || index >= 7) " +
                        outside + "\n    y[i] = x[index < 0 ? 0 : index > 6 ? 6 : index];");
}

KernelCode right_exp(const Problem& problem) { return exp_code(problem, "if (i < count) y[i] = expf(x[i]);"); }

class OwnCudaKernels : public OwnKernelFixture {};

TEST_F(OwnCudaKernels, ARightOnePassesAndItsTextIsCompiledOnce) {
    const KernelReport report = checked(own_exp(right_exp));
    EXPECT_THAT(report.faults, IsEmpty());
    EXPECT_GE(report.runs, 10);
    EXPECT_EQ(device.compilations(), 1U);
    EXPECT_GE(device.launches(), 3 * report.runs / 2) << "sizes without elements launch nothing";
}

TEST_F(OwnCudaKernels, ATailThatIsLeftOutIsFound) {
    const KernelReport report = checked(own_exp(
        [](const Problem& problem) { return exp_code(problem, "if (i < count / 64 * 64) y[i] = expf(x[i]);"); }));
    EXPECT_THAT(report.faults, Contains(HasSubstr("is wrong (sample): output 0")));
}

TEST_F(OwnCudaKernels, AnOverrunByOneIsFound) {
    const KernelReport report = checked(
        own_exp([](const Problem& problem) { return exp_code(problem, "if (i <= count) y[i] = expf(x[0]);"); }));
    EXPECT_THAT(report.faults, Contains(HasSubstr("writes around output 0")));
}

TEST_F(OwnCudaKernels, ASizeThatIsNotCoveredIsFound) {
    const KernelReport report = checked(own_exp([](const Problem& problem) {
        KernelCode code = right_exp(problem);
        code.grid = {min(code.grid[0], Dim(2))};
        return code;
    }));
    EXPECT_THAT(report.faults, Contains(AllOf(HasSubstr("is wrong"), HasSubstr("f32[70,3]"))));
    EXPECT_THAT(report.faults, testing::Not(Contains(HasSubstr("f32[33,3]")))) << "which two blocks cover";
}

TEST_F(OwnCudaKernels, BitsThatDependOnTheOrderOfThreadsAreFound) {
    Kernel kernel = own_kernel(
        "sum",
        [](const Problem& problem) {
            KernelCode code;
            code.entry = "own_sum_" + to_string(digest(to_string(problem)));
            code.text = begin_of(code.entry, problem) +
                        "    __shared__ float total;\n    if (threadIdx.x == 0) total = 0;\n    __syncthreads();\n"
                        "    for (i64 i = threadIdx.x; i < " +
                        to_string(element_count(problem.inputs[0].shape)) +
                        "; i += 64) atomicAdd(&total, ((float*)in0)[i]);\n    __syncthreads();\n"
                        "    if (threadIdx.x == 0) *(float*)out0 = total;\n}\n";
            code.block = 64;
            return code;
        },
        "sum axes=(-1) | f32[N] -> f32[1] where N in 1..200");
    const KernelReport report = checked(kernel);
    EXPECT_THAT(report.faults, Contains(HasSubstr("gives different bits the second time")));
    EXPECT_THAT(report.faults, testing::Not(Contains(HasSubstr("is wrong")))) << "the sums are within tolerance";
}

TEST_F(OwnCudaKernels, ABarrierThatSomeThreadsDoNotReachIsFound) {
    const KernelReport report = checked(own_exp([](const Problem& problem) {
        return exp_code(problem, "if (i < count) { y[i] = expf(x[i]); named_barrier_wait(1, 64); }");
    }));
    EXPECT_THAT(report.faults, Contains(HasSubstr(" fails: ")));
}

TEST_F(OwnCudaKernels, AnIndexThatIsFollowedIsFound) {
    const std::string sample = "gather axis=(-1) | f32[7] i32[N] -> f32[N] where N in 1..70";
    const Kernel right = own_kernel(
        "gather",
        [](const Problem& problem) {
            return gather_code(problem, "return report_failure(status, 1, instruction, 1, i, index);");
        },
        sample);
    EXPECT_THAT(checked(right).faults, IsEmpty());
    const Kernel wrong = own_kernel(
        "gather", [](const Problem& problem) { return gather_code(problem, ";"); }, sample);
    EXPECT_THAT(checked(wrong).faults, Contains(HasSubstr("does not report an index out of range: input 1 has 7")));
}

TEST_F(OwnCudaKernels, ATextThatDoesNotCompileHasTheCompilersLog) {
    const KernelReport report =
        checked(own_exp([](const Problem& problem) { return exp_code(problem, "this_is_not_declared = 1;"); }));
    ASSERT_FALSE(report.faults.empty());
    EXPECT_THAT(report.faults[0],
                AllOf(HasSubstr("has no code: [cuda] own.exp.f32@1 for exp | f32[N,3] "), HasSubstr(": own_exp_"),
                      HasSubstr("does not compile"), HasSubstr("this_is_not_declared")));
}

TEST_F(OwnCudaKernels, AreVerifiedOnTheProblemsOfAProgram) {
    Graph g;
    g.output("y", exp(g.input("x", DType::f32, {g.symbol("N", 1, 300)})));
    const auto compiled = [&](KernelCode (*code)(const Problem&)) {
        return compile(g, context_with(own_exp(code)), {.verify = true});
    };
    {
        CompiledGraph right = compiled(right_exp);
        EXPECT_THAT(right.program(), HasSubstr("own.exp.f32@1"));
        const std::vector<float> x{-1, 0, 2};
        right.set("x", x.data(), {3});
        right.run();
        const auto y = right.output("y").as<float>();
        for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], std::exp(x[i]), 1e-6);
    }
    EXPECT_THAT(message([&] {
                    (void)compiled([](const Problem& problem) {
                        return exp_code(problem, "if (i < count) y[i] = i < 256 ? expf(x[i]) : 0.0f;");
                    });
                }),
                AllOf(HasSubstr("[verify] a kernel differs from its definition: own.exp.f32@1 is wrong"),
                      HasSubstr("exp | f32[300]")));
}

}  // namespace
}  // namespace cairn::test
