#include "device/compiled_kernel.hpp"

#include "tests/device/text_backend.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

namespace cairn::device {
namespace {

using test::text_code;
using test::text_kernel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

KernelCode good(const Problem& problem) { return text_code(problem, "good"); }
KernelCode broken(const Problem& problem) { return text_code(problem, "broken"); }
KernelCode throwing(const Problem&) { throw std::runtime_error("no text today"); }
KernelCode fine_as_e(const Problem& problem) {
    KernelCode code = text_code(problem, "fine");
    code.entry = "e";
    code.grid = {problem.inputs[0].shape[0]};
    return code;
}

class CompiledKernelTest : public ::testing::Test {
protected:
    CompiledKernelTest() {
        for (const char* text : {"good", "fine"}) backend.add(text, [](const Args&, auto) { return std::nullopt; });
    }
    std::vector<CompiledKernel> compile(std::vector<KernelCode (*)(const Problem&)> codes) {
        kernels.clear();
        for (const auto code : codes) kernels.push_back(text_kernel("own.k@1", "exp", code));
        std::vector<KernelToCompile> calls;
        for (const Kernel& kernel : kernels) calls.push_back({&kernel, &problem});
        return compile_kernels(calls, backend);
    }
    static std::string fault_of(const CompiledKernel& kernel) {
        if (!kernel.fault) return kernel.code != nullptr ? "" : "neither code nor a fault";
        try {
            std::rethrow_exception(kernel.fault);
        } catch (const std::exception& error) { return error.what(); }
    }

    std::shared_ptr<Symbols> symbols = Symbols::create();
    Problem problem = parse_problem("exp | f32[N] -> f32[N] where N in 1..9", *symbols);
    std::vector<Kernel> kernels;
    test::TextBackend backend;
};

TEST_F(CompiledKernelTest, AllTextsAreOneCompilation) {
    const auto compiled = compile({good, good, fine_as_e});
    EXPECT_THAT(backend.compilations, ElementsAre(ElementsAre("good", "good", "fine")));
    for (const CompiledKernel& each : compiled) EXPECT_EQ(fault_of(each), "");
    EXPECT_EQ(compiled[0].grid, std::vector<Dim>{1});
    EXPECT_EQ(compiled[2].grid, std::vector<Dim>{problem.inputs[0].shape[0]}) << "in the symbols of the Problem";
    EXPECT_THAT(compile({}), IsEmpty());
}

TEST_F(CompiledKernelTest, ATextThatFailsHasALogAndTheOthersHaveCode) {
    const auto compiled = compile({good, broken, throwing, fine_as_e});
    EXPECT_EQ(fault_of(compiled[0]), "");
    EXPECT_THAT(fault_of(compiled[1]), HasSubstr("does not compile, with the log\nno broken"));
    EXPECT_EQ(fault_of(compiled[2]), "no text today");
    EXPECT_EQ(fault_of(compiled[3]), "");
    EXPECT_THAT(backend.compilations, ElementsAre(ElementsAre("good", "broken", "fine"), ElementsAre("good"),
                                                  ElementsAre("broken"), ElementsAre("fine")));
    backend.compilations.clear();
    EXPECT_THAT(fault_of(compile({broken})[0]), HasSubstr("no broken"));
    EXPECT_EQ(backend.compilations.size(), 1U) << "alone it is tried once";
}

TEST_F(CompiledKernelTest, WhatConcernsNoTextIsThrown) {
    backend.has_compiler = false;
    EXPECT_EQ(test::message([&] { compile({good, fine_as_e}); }), "[device] there is no compiler");
    backend.lost = true;
    EXPECT_EQ(test::message([&] { compile({good}); }), "[device] the device is lost");
}

}  // namespace
}  // namespace cairn::device
