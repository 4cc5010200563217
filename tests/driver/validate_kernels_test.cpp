#include "driver/validate_kernels.hpp"

#include "cairn/cairn.hpp"
#include "cairn/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

namespace cairn {
namespace {

Refusal yes(const Problem&) { return {}; }
void nothing(const Args&, Team&) {}
Dim no_bytes(const TensorDesc&) { return 0; }
std::vector<Tensor> first(std::span<const Tensor> operands, const Attributes&) { return {operands[0]}; }

Kernel floor_kernel(std::string id) {
    Kernel kernel;
    kernel.id = std::move(id);
    kernel.definition = "floor";
    kernel.accepts = yes;
    kernel.run = nothing;
    return kernel;
}

/// A valid set: a definition of two inputs, a layout, kernels.
KernelSet good() {
    KernelSet set;
    set.definitions.push_back({"my_first", first, {"my_first | f32[N] f32[N]"}});
    set.layouts.push_back({"my_rows", no_bytes, "my_columns"});
    set.kernels.push_back(floor_kernel("my.floor@1"));
    set.kernels[0].samples = {"floor | f32[8] -> f32[8]"};
    set.kernels[0].in_place = {{0, 0}};
    set.kernels[0].error = [](const Problem&) { return 1e-3; };
    Kernel kernel = floor_kernel("my.first@1");
    kernel.definition = "my_first";
    kernel.in_place = {{1, 0}};
    kernel.packed_inputs = {{1, "my_columns"}};
    set.kernels.push_back(kernel);
    return set;
}

std::string refusal(const KernelSet& extra) {
    ContextOptions options;
    options.extra = extra;
    try {
        const Context context(options);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::argument);
        return error.what();
    }
    return "";
}

TEST(ValidateKernels, AcceptsAValidSetAndTheBuiltInSet) {
    EXPECT_EQ(refusal(good()), "");
    EXPECT_NO_THROW(driver::validate_kernels(cpu_kernels(), {}));
}

TEST(ValidateKernels, InvalidKernelsAreRefusedByName) {
    struct Case {
        std::function<void(KernelSet&)> spoil;
        std::string message;
    };
    const Case cases[] = {
        {[](KernelSet& s) { s.definitions[0].build = nullptr; }, "definition my_first lacks build"},
        {[](KernelSet& s) { s.definitions[0].name = "add"; },
         "the name \"add\" of a definition is ill-formed or taken"},
        {[](KernelSet& s) { s.definitions[0].name = "pack"; }, "\"pack\" of a definition is ill-formed or taken"},
        {[](KernelSet& s) { s.definitions[0].name = ""; }, "\"\" of a definition is ill-formed or taken"},
        {[](KernelSet& s) { s.definitions.push_back(s.definitions[0]); }, "\"my_first\" of a definition is ill-formed"},
        {[](KernelSet& s) { s.definitions[0].patterns = {"my_first | f32[N"}; },
         "a pattern of my_first does not parse: "},
        {[](KernelSet& s) { s.definitions[0].patterns = {"other | f32[N]"}; }, "a pattern of my_first is for other"},
        {[](KernelSet& s) {
             s.definitions[0].required_ops = {"matmul", "softmax"};
         },
         "definition my_first requires the unknown op softmax"},
        {[](KernelSet& s) { s.layouts[0].bytes = nullptr; }, "layout my_rows lacks bytes"},
        {[](KernelSet& s) { s.layouts[0].name = ""; }, "the name \"\" of a layout is ill-formed or taken"},
        {[](KernelSet& s) { s.layouts[0].transposed = "my_rows"; },
         "layout my_rows cannot have the transposed form \"my_rows\""},
        {[](KernelSet& s) { s.kernels[0].id = "my floor"; }, "the kernel id \"my floor\" is empty or holds"},
        {[](KernelSet& s) { s.kernels[0].id = ""; }, "the kernel id \"\" is empty or holds"},
        {[](KernelSet& s) { s.kernels[1].id = "my.floor@1"; }, "two kernels have the id my.floor@1"},
        {[](KernelSet& s) { s.kernels[0].id = cpu_kernels().kernels[0].id; }, "two kernels have the id cpu."},
        {[](KernelSet& s) { s.kernels[0].run = nullptr; }, "kernel my.floor@1 lacks accepts, or run, code and enqueue"},
        {[](KernelSet& s) { s.kernels[0].accepts = nullptr; },
         "kernel my.floor@1 lacks accepts, or run, code and enqueue"},
        {[](KernelSet& s) { s.kernels[0].enqueue = [](const Args&, const DeviceStream&) {}; },
         "kernel my.floor@1 has more than one of run, code and enqueue"},
        {[](KernelSet& s) {
             s.kernels[0].run = nullptr;
             s.kernels[0].enqueue = [](const Args&, const DeviceStream&) {};
         },
         "kernel my.floor@1 has enqueue, but the CPU has no stream"},
        {[](KernelSet& s) { s.kernels[0].definition = "flor"; }, "my.floor@1 is for the unknown definition flor"},
        {[](KernelSet& s) { s.kernels[0].samples = {"floor | f32[8"}; }, "a sample of my.floor@1 does not parse: "},
        {[](KernelSet& s) { s.kernels[0].samples = {"ceil | f32[8] -> f32[8]"}; },
         "a sample of my.floor@1 is for ceil, the kernel for floor"},
        {[](KernelSet& s) { s.kernels[0].id = "my.floor@1{depth=2}"; }, "\"my.floor@1{depth=2}\" is empty or holds"},
        {[](KernelSet& s) {
             s.kernels[0].knobs = {{"a=b", {1}}};
         },
         "the name \"a=b\" of a knob of my.floor@1 is ill-formed or taken"},
        {[](KernelSet& s) {
             s.kernels[0].knobs = {{"a,b", {1}}};
         },
         "the name \"a,b\" of a knob of my.floor@1 is ill-formed or taken"},
        {[](KernelSet& s) {
             s.kernels[0].knobs = {{"a", {1}}, {"a", {2}}};
         },
         "the name \"a\" of a knob of my.floor@1 is ill-formed or taken"},
        {[](KernelSet& s) {
             s.kernels[0].knobs = {{"a", {}}};
         },
         "the knob a of my.floor@1 needs values that are all different"},
        {[](KernelSet& s) {
             s.kernels[0].knobs = {{"a", {1, 2, 1}}};
         },
         "the knob a of my.floor@1 needs values that are all different"},
        {[](KernelSet& s) {
             s.kernels[0].knobs = {{"a", {1, 2, 3}}, {"b", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}};
         },
         "the knobs of my.floor@1 have more than 32 settings"},
        {[](KernelSet& s) {
             s.kernels[0].knobs = {{"a", {1, 2}}};
             s.kernels[0].error = [](const Problem&, const Setting& setting) { return setting["a"] == 2 ? -1.0 : 0; };
         },
         "the error of my.floor@1{a=2} is -1: it must be finite and not below 0"},
        {[](KernelSet& s) { s.kernels[0].error = [](const Problem&) { return std::nan(""); }; },
         "the error of my.floor@1 is nan: it must be finite and not below 0"},
        {[](KernelSet& s) { s.kernels[0].error = [](const Problem&) { return -1e-3; }; },
         "the error of my.floor@1 is -0.001: it must be finite and not below 0"},
        {[](KernelSet& s) {
             s.kernels[0].error = [](const Problem&) -> double { throw std::runtime_error("no idea"); };
         },
         "the error of my.floor@1 fails: no idea"},
        {[](KernelSet& s) {
             s.kernels[0].in_place = {{1, 0}};
         },
         "kernel my.floor@1 works in place of input 1, which floor does not have"},
        {[](KernelSet& s) {
             s.kernels[0].in_place = {{0, -1}};
         },
         "kernel my.floor@1 works in place with output -1, which floor does not have"},
        {[](KernelSet& s) {
             s.kernels[1].in_place = {{0, 1}};
         },
         "kernel my.first@1 works in place with output 1, which my_first does not have"},
        {[](KernelSet& s) {
             s.kernels[1].widened_inputs = {0, 2};
         },
         "kernel my.first@1 widens input 2, which my_first does not have"},
        {[](KernelSet& s) {
             s.kernels[1].packed_inputs = {{2, "my_rows"}};
         },
         "kernel my.first@1 wants input 2 packed, which my_first does not have"},
        {[](KernelSet& s) {
             s.kernels[1].packed_inputs = {{0, "rows"}};
         },
         "kernel my.first@1 wants the unknown layout \"rows\""},
        {[](KernelSet& s) {
             s.kernels[1].packed_inputs = {{0, "my_rows"}, {0, "my_columns"}, {0, "my_rows"}};
         },
         "kernel my.first@1 names the layout \"my_rows\" for input 0 twice"},
        {[](KernelSet& s) {
             s.kernels[1].packed_inputs = {{0, "my_rows"}, {1, "my_rows"}, {0, "my_columns"}};
         },
         "kernel my.first@1 names layouts of input 0 before and after those of another"},
    };
    for (const Case& spoilt : cases) {
        KernelSet set = good();
        spoilt.spoil(set);
        const std::string text = refusal(set);
        EXPECT_EQ(text.rfind("[context] ", 0), 0U) << text;
        EXPECT_NE(text.find(spoilt.message), std::string::npos) << spoilt.message << " expected, came " << text;
    }
}

TEST(ValidateKernels, NeededFeaturesAreNamedWithTheirPrerequisites) {
    KernelSet set = good();
    set.kernels[0].needs = {Feature::avx2, Feature::avx512_vnni};
    EXPECT_EQ(refusal(set), "[context] kernel my.floor@1 needs avx2+avx512_vnni without avx512, which that requires");
    set.kernels[0].needs = {Feature::amx_tile, Feature::amx_int8};
    EXPECT_EQ(refusal(set), "") << "it may need what this CPU lacks";
}

TEST(ValidateKernels, APatternMayOmitOperands) {
    KernelSet set = good();
    set.definitions[0].patterns = {"my_first | f32[N] f32[N]?"};
    EXPECT_EQ(refusal(set), "");
    set.definitions[0].patterns = {"my_first|f32[N]?"};
    EXPECT_NE(refusal(set).find("a pattern of my_first does not parse"), std::string::npos);
}

/// Explanation of a compiled floor with `kernel` before the library's.
std::string explained(const Kernel& kernel, Mode mode = Mode::off) {
    Graph g;
    g.output("y", floor(g.input("x", DType::f32, {8, 8})));
    ContextOptions options;
    options.extra.kernels = {kernel};
    CompileOptions compiling;
    compiling.mode = mode;
    compiling.disable = {"elementwise"};
    return details(compile(g, Context(options), compiling).explain());
}

TEST(ValidateKernels, AnExceptionOfAKernelIsItsRefusal) {
    Kernel kernel = floor_kernel("my.floor@1");
    const auto refused = [&](const std::string& reason) {
        for (const Mode mode : {Mode::off, Mode::normal}) {
            const std::string text = explained(kernel, mode);
            EXPECT_NE(text.find("refused: " + reason), std::string::npos) << text;
            EXPECT_EQ(text.find("  my.floor@1 "), text.find("    my.floor@1 ") + 2) << "it was chosen: " << text;
        }
    };
    kernel.accepts = [](const Problem&) -> Refusal { throw std::runtime_error("boom"); };
    refused("its accepts failed: boom");
    kernel.accepts = yes;
    kernel.cost = [](const Problem&) -> Cost { throw 1; };
    refused("its cost threw an exception that is not a std::exception");
    kernel.cost = [](const Problem&) -> Cost { return {1, 1, 1}; };
    kernel.workspace = [](const Problem&, int) -> Dim { throw std::runtime_error("boom"); };
    refused("its workspace failed: boom");
    kernel.workspace = [](const Problem&, int) -> Dim { return -1; };
    refused("its workspace is negative: -1");
    kernel.workspace = nullptr;
    kernel.prepare = [](const Problem&, int) -> std::shared_ptr<const void> { throw std::runtime_error("boom"); };
    refused("its prepare failed: boom");
}

TEST(ValidateKernels, AnInvalidCostIsReplaced) {
    Kernel kernel = floor_kernel("my.floor@1");
    constexpr double nan = NAN, infinity = INFINITY;
    static Cost stated_cost;
    kernel.cost = [](const Problem&) { return stated_cost; };
    for (const Cost& cost : {Cost{nan, 1, 1}, Cost{1, nan, 1}, Cost{1, 1, nan}, Cost{-1e12, 1, 1}, Cost{1, -1e12, 1},
                             Cost{infinity, 1, 1}, Cost{1, 1, 0}, Cost{1, 1, -1}, Cost{1, 1, 1e9}}) {
        stated_cost = cost;
        const std::string text = explained(kernel);
        EXPECT_NE(text.find("its cost is invalid"), std::string::npos) << text;
    }
    stated_cost = {1, 1, 1};
    EXPECT_EQ(explained(kernel).find("its cost is invalid"), std::string::npos);
}

TEST(ValidateKernels, AKernelThatThrowsWhenMeasuredIsNotChosen) {
    Kernel kernel = floor_kernel("my.floor@1");
    kernel.cost = [](const Problem&) -> Cost { return {1, 1, 1}; };
    kernel.run = [](const Args&, Team&) { throw std::runtime_error("boom"); };
    const std::string text = explained(kernel, Mode::normal);
    EXPECT_EQ(text.find("  my.floor@1 "), text.find("    my.floor@1 ") + 2) << text;
}

}  // namespace
}  // namespace cairn
