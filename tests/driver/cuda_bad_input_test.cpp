#include "cairn/cairn.hpp"
#include "device/cuda/cuda_backend.hpp"
#include "tests/driver/emulated_device.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

// Bad input and faults of a CUDA device as a program meets them: one Error each, and what goes on afterwards.
namespace cairn::test {
namespace {

using device::cuda::Result;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t depth = 32;

/// A product with a body, by a weight of `width` columns, of up to `rows` rows.
Graph product_graph(std::int64_t width, std::int64_t rows) {
    Graph g("product");
    const Dim n = g.symbol("N", 1, rows);
    const Tensor x = g.input("x", DType::f32, {n, depth});
    g.output("y", gelu(matmul(x, g.weight("w", DType::f32, {depth, width}))));
    return g;
}

/// That graph, compiled so that it runs on the device of the Context if there is one.
class Product {
public:
    explicit Product(const Context& context, std::int64_t width = 64, std::int64_t rows = 8)
        : width_(width),
          weight_(static_cast<std::size_t>(depth * width)),
          values_(static_cast<std::size_t>(depth * rows)),
          compiled(compile(product_graph(width, rows), context, {.seconds_per_kept_byte = 0})) {
        for (std::size_t i = 0; i < weight_.size(); ++i) weight_[i] = std::sin(static_cast<float>(i));
        for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = std::cos(static_cast<float>(i));
    }
    void bind() {
        compiled.bind([this](std::string_view) {
            InputView view;
            view.data = weight_.data();
            view.shape = {depth, width_};
            return view;
        });
    }
    std::vector<float> run(std::int64_t rows = 3) {
        compiled.set("x", values_.data(), {rows, depth});
        compiled.run();
        const auto found = compiled.output("y").as<float>();
        return {found.begin(), found.end()};
    }

private:
    std::int64_t width_;
    std::vector<float> weight_, values_;

public:
    CompiledGraph compiled;
};

std::vector<float> on_the_cpu(std::int64_t rows = 3) {
    Product product{Context()};
    product.bind();
    return product.run(rows);
}

testing::Matcher<std::vector<float>> nearly(const std::vector<float>& wanted) {
    return testing::Pointwise(testing::FloatNear(1e-4F), wanted);
}

TEST(CudaBadInput, EachAllocationThatFailsIsAnErrorAndTheSameWorkThenSucceeds) {
    EmulatedDevice device;
    const std::vector<float> wanted = on_the_cpu();
    std::set<std::string> phases;
    {
        const Context context = device.context();
        const Product loaded(context);  // its code stays loaded, so that nothing is compiled again
        for (const char* call : {"cuMemAlloc_v2", "cuMemHostAlloc"})
            for (std::int64_t nth = 1;; ++nth) {
                device.driver().fail(call, nth, Result::out_of_memory);
                std::string phase = "compile";
                const std::string fault = message([&] {
                    Product product(context);
                    phase = "bind";
                    product.bind();
                    phase = "run";
                    product.run();
                });
                if (device.driver().failed_call().empty()) break;
                phases.insert(phase);
                EXPECT_THAT(fault, AnyOf(testing::ContainsRegex("[0-9]+ bytes are needed on cuda:0, but [0-9]+ of "
                                                                "1073741824 bytes are free"),
                                         testing::ContainsRegex("cannot pin [0-9]+ bytes of host memory")))
                    << call << ' ' << nth << " in " << phase;
                Product again(context);
                again.bind();
                EXPECT_THAT(again.run(), nearly(wanted)) << call << ' ' << nth;
            }
        device.driver().fail("", 0, Result::success);
    }
    EXPECT_THAT(phases, testing::ElementsAre("bind", "compile")) << "a run allocates nothing";
    EXPECT_THAT(device.faults(), IsEmpty());
}

TEST(CudaBadInput, ABindWithoutMemoryMayBeTriedAgain) {
    EmulatedDevice device;
    {
        Product product(device.context());
        device.driver().fail("cuMemAlloc_v2", 1, Result::out_of_memory);
        EXPECT_THAT(message([&] { product.bind(); }), HasSubstr("bytes are needed on cuda:0"));
        product.bind();
        EXPECT_THAT(product.run(), nearly(on_the_cpu()));
    }
    EXPECT_THAT(device.faults(), IsEmpty());
}

TEST(CudaBadInput, WhatDoesNotFitNamesTheBytesAndASmallerSizeRuns) {
    EmulatedDevice device({.memory_bytes = 1 << 16});
    {
        const Context context = device.context();
        for (const auto& [width, rows] : {std::pair{64, 1000}, {4096, 8}}) {
            EXPECT_THAT(message([&, width = width, rows = rows] {
                            Product product(context, width, rows);
                            product.bind();
                        }),
                        testing::ContainsRegex("[0-9]+ bytes are needed on cuda:0, but [0-9]+ of 65536 bytes are free"))
                << width << ' ' << rows;
            Product small(context);
            small.bind();
            EXPECT_THAT(small.run(), nearly(on_the_cpu()));
        }
    }
    EXPECT_THAT(device.faults(), IsEmpty());
}

TEST(CudaBadInput, NeitherReserveNorARunAllocates) {
    EmulatedDevice device;
    {
        Product product(device.context());
        product.bind();
        device.driver().clear_calls();
        const std::pair<std::string_view, std::int64_t> sizes[] = {{"N", 8}};
        product.compiled.reserve(sizes);
        for (const std::int64_t rows : {1, 8, 3}) product.run(rows);
        for (const char* call : {"cuMemAlloc_v2", "cuMemHostAlloc", "cuModuleLoadData", "cuEventCreate"})
            EXPECT_EQ(device.driver().count(call), 0) << call;
    }
    EXPECT_THAT(device.faults(), IsEmpty());
}

TEST(CudaBadInput, MemoryOfTheDeviceIsRefusedWhereThatOfTheHostIsExpected) {
    EmulatedDevice device;
    {
        const Context context = device.context();
        Graph g("state");
        State level = g.state("level", DType::f32, {4}, std::vector<float>(4));
        const Tensor x = g.input("x", DType::f32, {4}), w = g.weight("w", DType::f32, {4});
        g.output("y", level.assign(level.read() + x * w));
        CompiledGraph compiled = compile(g, context);
        // As another part of the program gets it from the driver.
        const auto theirs = device::cuda::cuda_backend(0, device.driver().table(), nullptr);
        const auto memory = theirs->reserve(16, device::MemoryUse::arena);
        auto* const there = reinterpret_cast<float*>(memory->data());
        std::vector<float> here{1, 2, 3, 4};
        const auto given = [&](const float* data, Device where) {
            InputView view;
            view.data = data;
            view.shape = {4};
            view.device = where;
            return view;
        };
        const auto expected = [](const std::string& what) {
            return what + " is given memory of the device cuda, expected memory of the host";
        };
        EXPECT_EQ(message([&] { compiled.set("x", there, {4}); }), expected("[set] input \"x\""));
        EXPECT_EQ(message([&] { compiled.set("x", static_cast<const void*>(there), {4}); }),
                  expected("[set] input \"x\""));
        EXPECT_EQ(message([&] { compiled.set("x", given(there, Device::cpu)); }), expected("[set] input \"x\""));
        EXPECT_EQ(message([&] { compiled.set_output("y", there, 16); }), expected("[set_output] output \"y\""));
        EXPECT_EQ(message([&] { compiled.set_state("level", there, {4}); }), expected("[set_state] state \"level\""));
        EXPECT_EQ(message([&] { compiled.bind([&](std::string_view) { return given(there, Device::cpu); }); }),
                  "[bind] weight \"w\": is not in host memory");
        // What a view says of its memory counts.
        EXPECT_EQ(message([&] { compiled.set("x", given(here.data(), Device::cuda())); }),
                  "[set] input \"x\" is f32[4], in memory of cpu, got memory of cuda");
        EXPECT_THAT(message([&] { compiled.set_state("level", given(here.data(), Device::cuda())); }),
                    HasSubstr("memory that is not the host's"));
        EXPECT_EQ(message([&] { compiled.bind([&](std::string_view) { return given(here.data(), Device::cuda()); }); }),
                  "[bind] weight \"w\": is not in host memory");
        compiled.bind([&](std::string_view) { return given(here.data(), Device::cpu); });
        compiled.set("x", here.data(), {4});
        compiled.run();
        EXPECT_THAT(compiled.output("y").as<float>(), testing::ElementsAre(1, 4, 9, 16));
    }
    EXPECT_THAT(device.faults(), IsEmpty());
}

TEST(CudaBadInput, AKernelThatDoesNotCompileIsNamedWithItsProblem) {
    EmulatedDevice device;
    {
        Kernel broken;
        broken.id = "cuda.own.exp.f32@1";
        broken.definition = "exp";
        broken.device = Device::cuda();
        broken.accepts = [](const Problem&) { return Refusal(); };
        broken.code = [](const Problem&) {
            KernelCode code;
            code.text =
                "extern \"C\" __global__ void own_exp(void* x, void* y, void*, const i64*, FailureReport*, u32) {"
                " undeclared(x, y); }\n";
            code.entry = "own_exp";
            return code;
        };
        broken.cost = [](const Problem&) { return Cost(); };
        ContextOptions options;
        options.extra.kernels.push_back(broken);
        Graph g("exp");
        g.output("y", exp(copy_to(g.input("x", DType::f32, {5}), Device::cuda())));
        const std::string fault = message([&] { compile(g, device.context(options)); });
        EXPECT_THAT(fault, HasSubstr("cuda.own.exp.f32@1 for exp"));
        EXPECT_THAT(fault, HasSubstr("f32[5]"));
        EXPECT_THAT(fault, HasSubstr("own_exp does not compile for sm_90a"));
        EXPECT_THAT(fault, HasSubstr("undeclared")) << "of the compiler's log";
    }
    EXPECT_THAT(device.faults(), IsEmpty());
}

TEST(CudaBadInput, ACopyToAnAbsentDeviceIsRefused) {
    EmulatedDevice device;
    Graph g("absent");
    g.output("y", exp(copy_to(g.input("x", DType::f32, {5}), Device::cuda(1))));
    EXPECT_THAT(message([&] { compile(g, device.context()); }),
                HasSubstr("[copy_to] this Context has no device cuda:1 (cuda_bad_input_test.cpp:"));
}

TEST(CudaBadInput, AfterALostDeviceTheCpuGoesOn) {
    EmulatedDevice device;
    {
        const Context context = device.context();
        Product there(context);
        there.bind();
        EXPECT_THAT(there.run(), nearly(on_the_cpu()));
        Graph g("exp");
        g.output("y", exp(g.input("x", DType::f32, {2})));
        CompiledGraph here = compile(g, context, {.disable = {"search"}});
        ASSERT_EQ(here.program().find("on cuda"), std::string::npos);

        device.driver().fail("cuStreamSynchronize", 1, Result::illegal_address);
        const std::string lost =
            "the device cuda:0 is lost: cuStreamSynchronize failed with CUDA_ERROR_ILLEGAL_ADDRESS (of the stand-in); "
            "only a new process can use it again";
        EXPECT_EQ(message([&] { there.run(); }), "[run] [cuda] " + lost);
        device.driver().clear_calls();
        EXPECT_EQ(message([&] { there.run(); }), "[run] [cuda] " + lost);
        EXPECT_THAT(message([&] { Product another(context); }), HasSubstr(lost));
        here.set("x", {0.0F, 1.0F}, {2});
        here.run();
        EXPECT_THAT(here.output("y").as<float>(), testing::ElementsAre(1, testing::FloatNear(std::exp(1.0F), 1e-6F)));
        EXPECT_THAT(on_the_cpu(), testing::SizeIs(3 * 64));
    }
    // Names of results are asked for; nothing is freed.
    EXPECT_THAT(device.driver().calls(), testing::Each(testing::StartsWith("cuGetError")));
    EXPECT_THAT(device.driver().violations(), IsEmpty());
}

// ThreadSanitizer does not follow a child of a program with threads.
#if !defined(__SANITIZE_THREAD__)
TEST(CudaBadInput, AForkedChildIsToldSoAndComputesOnTheCpu) {
    EmulatedDevice device;
    const std::vector<float> wanted = on_the_cpu();
    {
        std::optional<Context> context = device.context();
        std::optional<Product> product(std::in_place, *context);
        product->bind();
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            const std::string reason =
                "the device cuda:0 was opened before fork(): a child process cannot use the CUDA devices of its parent";
            device.driver().clear_calls();
            int code = message([&] { product->run(); }) == "[run] [cuda] " + reason ? 0 : 1;
            if (message([&] { Product another(*context); }).find(reason) == std::string::npos) code += 2;
            product.reset();
            context.reset();
            if (!device.driver().calls().empty()) code += 4;
            if (on_the_cpu() != wanted) code += 8;
            _exit(code);
        }
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), 0);
        EXPECT_THAT(product->run(), nearly(wanted)) << "the parent goes on";
    }
    EXPECT_THAT(device.faults(), IsEmpty());
}
#endif

TEST(CudaBadInput, ASavedProgramNeedsTheDeviceAndItsKernels) {
    const std::filesystem::path path = std::filesystem::path(CAIRN_BINARY_DIR) / "cuda_bad_input.cairn";
    const std::vector<float> wanted = on_the_cpu();
    {
        EmulatedDevice device;
        Product(device.context()).compiled.save(path);
    }
    EXPECT_EQ(message([&] { CompiledGraph::load(path, Context()); }),
              "[program] it uses device cuda, which this context does not have");
    {
        EmulatedDevice older({.compute_capability = 70});
        EXPECT_THAT(message([&] { CompiledGraph::load(path, older.context()); }),
                    HasSubstr("[program] kernels that are not in this library, or that its CPU and devices cannot run: "
                              "cuda."));
        EXPECT_THAT(older.faults(), IsEmpty());
    }
    EmulatedDevice another;
    {
        Product product(another.context());
        product.compiled = CompiledGraph::load(path, another.context());
        product.bind();
        EXPECT_THAT(product.run(), nearly(wanted));
    }
    EXPECT_THAT(another.faults(), IsEmpty());
}

}  // namespace
}  // namespace cairn::test
