#include "cairn/cairn.hpp"
#include "cairn/models/gpt2.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/driver/emulated_device.hpp"
#include "tests/errors/message.hpp"
#include "tests/graph/ir/random_graph.hpp"
#include "tests/graph/ir/reference_results.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Programmatic dependent launches of captured graphs, on an emulated device that checks each access of a kernel against
// those of all earlier launches that may still run.
namespace cairn::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr EmulatedDeviceOptions checked{.checks_accesses = true};

ContextOptions without_dependent_launches() {
    ContextOptions options;
    options.cuda_dependent_launches = false;
    return options;
}

struct Text {
    std::vector<float> logits;
    std::int64_t launches = 0, dependent_launches = 0, graph_launches = 0;
};

/// Of a prompt of two tokens and of one more.
Text gpt2_text(const EmulatedDeviceOptions& emulated, const ContextOptions& options) {
    EmulatedDevice device(emulated);
    Text text;
    {
        models::Gpt2 model = models::Gpt2::load(CAIRN_SOURCE_DIR "/examples/models/shakespeare-gpt2",
                                                device.context(options), {}, {.seconds_per_kept_byte = 0});
        const std::int64_t bound = device.launches(), graphs_before = device.graph_launches();
        model.forward(std::vector<std::int32_t>{5, 17});
        const std::span<const float> last = model.forward(std::vector<std::int32_t>{42});
        text.logits.assign(last.begin(), last.end());
        text.launches = device.launches() - bound;
        text.dependent_launches = device.dependent_launches();
        text.graph_launches = device.graph_launches() - graphs_before;
    }
    EXPECT_THAT(device.faults(), IsEmpty());
    return text;
}

TEST(DependentLaunches, AllKernelsOfAGraphButTheFirstAreAndComputeTheSameBits) {
    const Text dependent = gpt2_text(checked, {}), after_one_another = gpt2_text({}, without_dependent_launches());
    EXPECT_EQ(dependent.logits, after_one_another.logits);
    EXPECT_EQ(after_one_another.dependent_launches, 0);
    EXPECT_EQ(dependent.launches, after_one_another.launches);
    EXPECT_GT(dependent.dependent_launches, 20);
    EXPECT_EQ(dependent.dependent_launches, dependent.launches - dependent.graph_launches);
}

void expect_computed_in_order(const Graph& graph, const Context& context, std::uint64_t seed) {
    const runtime::ProgramSet set =
        runtime::parse_program_set(compile(graph, context, {.seconds_per_kept_byte = 0}).program());
    for (const auto& sizes : random_sizes(*graph.data(), 2, seed)) {
        const interpreter::Inputs inputs = random_inputs(*graph.data(), sizes, seed + 17);
        EXPECT_EQ(difference(CompiledRun(set, context, inputs).run(inputs), reference_results(*graph.data(), inputs)),
                  "")
            << "seed " << seed << '\n'
            << to_string(graph) << program::to_string(set.buckets[0].program);
    }
}

TEST(DependentLaunches, RandomGraphsAreComputedInOrder) {
    EmulatedDevice device(checked);
    const Context context = device.context();
    for (std::uint64_t seed = 100; seed < 110 && !testing::Test::HasFailure(); ++seed) {
        const Graph graph = random_graph(seed, {.devices = seed % 2 == 0});
        try {
            expect_computed_in_order(graph, context, seed);
        } catch (const std::exception& error) {
            ADD_FAILURE() << "seed " << seed << ": " << error.what() << '\n' << to_string(graph);
        }
    }
    EXPECT_GT(device.dependent_launches(), 10);
}

constexpr std::string_view waits = "dependency_wait();\n    trigger_dependents();";

/// Code for exp of f32[N] that begins with `first`, in blocks of 64 threads.
KernelCode exp_code(const Problem& problem, std::string_view first) {
    KernelCode code;
    code.entry = "own_exp_" + to_string(digest(to_string(problem)));
    code.text = "extern \"C\" __global__ void " + code.entry +
                "(void* in, void* out, void* workspace, const i64* symbols, FailureReport* status, u32 instruction) {\n"
                "    ";
    code.text += first;
    code.text +=
        "\n    const i64 i = i64(blockIdx.x) * 64 + threadIdx.x;\n"
        "    if (i < symbols[0]) ((float*)out)[i] = expf(((const float*)in)[i]);\n}\n";
    code.grid = {max(ceildiv(problem.outputs[0].shape[0], 64), 1)};
    code.block = 64;
    return code;
}

/// A kernel that promises to wait for its dependencies.
Kernel own_exp(KernelCode (*code)(const Problem&)) {
    Kernel kernel;
    kernel.id = "own.exp.f32@1";
    kernel.definition = "exp";
    kernel.device = Device::cuda();
    kernel.accepts = [](const Problem& problem) -> Refusal {
        return problem.inputs[0].shape.size() == 1 && problem.inputs[0].is_dense() && problem.outputs[0].is_dense()
                   ? ""
                   : "needs dense vectors";
    };
    kernel.code = code;
    kernel.cost = [](const Problem&) { return Cost{1, 1, 1}; };
    kernel.waits_for_dependencies = true;
    return kernel;
}

KernelCode waiting_code(const Problem& problem) { return exp_code(problem, waits); }
KernelCode early_code(const Problem& problem) { return exp_code(problem, ""); }
/// Without elements it has no blocks.
KernelCode code_of_no_blocks(const Problem& problem) {
    KernelCode code = waiting_code(problem);
    code.grid = {ceildiv(problem.outputs[0].shape[0], 64)};
    return code;
}

/// Launches an own kernel between two of the library.
class OwnDependentKernels : public testing::Test {
protected:
    void TearDown() override { EXPECT_THAT(device.faults(), IsEmpty()); }
    /// Dependent launches of a run with `n` elements.
    std::int64_t run(const Kernel& kernel, std::int64_t n = 100) {
        Graph g("g");
        const Dim symbol = g.symbol("N", 0, 100);
        const Tensor x = g.input("x", DType::f32, {symbol});
        g.output("y", softmax(exp(softmax(x))));
        ContextOptions options;
        options.extra.kernels = {kernel};
        CompiledGraph compiled = compile(g, device.context(std::move(options)));
        EXPECT_THAT(compiled.program(), HasSubstr("run own.exp.f32@1")) << compiled.program();
        const std::vector<float> data(static_cast<std::size_t>(n), 0.01F);
        const std::int64_t before = device.dependent_launches();
        compiled.set("x", data.data(), {n});
        compiled.run();
        // All elements are equal.
        for (const float element : compiled.output("y").as<float>())
            EXPECT_NEAR(element, 1.0 / static_cast<double>(n), 1e-6);
        return device.dependent_launches() - before;
    }

    EmulatedDevice device{checked};
};

TEST_F(OwnDependentKernels, OverlapIfTheyWaitAndHaveBlocks) {
    EXPECT_EQ(run(own_exp(waiting_code)), 2);
    EXPECT_EQ(run(own_exp(waiting_code), 0), 2);
    EXPECT_EQ(run(own_exp(code_of_no_blocks)), 0) << "neither edge of a node that may be disabled is programmatic";
    EXPECT_EQ(run(own_exp(code_of_no_blocks), 0), 0);
}

TEST_F(OwnDependentKernels, DoNotOverlapUnlessTheyWait) {
    Kernel kernel = own_exp(early_code);
    kernel.waits_for_dependencies = false;
    EXPECT_EQ(run(kernel), 0) << "nor does what follows them";
}

TEST_F(OwnDependentKernels, AReadBeforeTheWaitIsFound) {
    EXPECT_THAT(message([&] { run(own_exp(early_code)); }),
                HasSubstr("reads before dependency_wait() what an earlier launch writes"));
}

}  // namespace
}  // namespace cairn::test
