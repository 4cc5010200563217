#include "device/cuda/cuda_backend.hpp"

#include "device/cuda/cuda_compiler.hpp"
#include "tests/device/cuda/cuda_fixture.hpp"

#include <fmt/format.h>

namespace cairn::device::cuda {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using CudaBackendTest = CudaTest;

TEST(CudaBackends, WithoutDriverOrDeviceTheReasonIsGiven) {
    EXPECT_THAT(message_of(ErrorKind::unsupported, [] { cuda_backend(0, {"/absent/libcuda.so.1"}); }),
                AllOf(HasSubstr("[cuda] the CUDA driver cannot be opened"), HasSubstr("/absent/libcuda.so.1")));
    StandInDriver driver(1000, 2);
    const auto make = [&](int index) { return cuda_backend(index, driver.table(), nullptr); };
    EXPECT_EQ(message_of(ErrorKind::unsupported, [&] { make(2); }),
              "[cuda] there is no device cuda:2: the CUDA driver finds 2 devices");
    EXPECT_EQ(message_of(ErrorKind::unsupported, [&] { make(-1); }),
              "[cuda] there is no device cuda:-1: the CUDA driver finds 2 devices");
    EXPECT_THAT(driver.leaks(), IsEmpty());
    EXPECT_EQ(driver.count("cuDevicePrimaryCtxRetain"), 0);
    make(1);
    EXPECT_THAT(driver.leaks(), IsEmpty());
    EXPECT_THAT(driver.violations(), IsEmpty());
}

TEST(CudaBackends, RatesAreThoseOfGraphsOrOfSingleLaunches) {
    CudaOptions options;
    options.driver = CAIRN_FAKE_DRIVER;
    const OpenedDevice with_graphs = open_device(0, options);
    options.backend.graphs = false;
    const OpenedDevice without = open_device(0, options);
    EXPECT_THAT(with_graphs.backend->fingerprint({}), HasSubstr("| CUDA graphs"));
    EXPECT_THAT(without.backend->fingerprint({}), HasSubstr("| single launches"));
    EXPECT_LT(with_graphs.rates.launch_seconds, without.rates.launch_seconds);
}

TEST_F(CudaBackendTest, DescribesTheDevice) {
    EXPECT_EQ(backend->threads(), 1);
    EXPECT_EQ(backend->page_bytes(), 256U);
    EXPECT_EQ(backend->features(), FeatureSet());
    EXPECT_EQ(backend->caches().private_bytes, 0);
    EXPECT_EQ(backend->caches().shared_bytes, 50 << 20);
    EXPECT_EQ(backend->free_memory(), std::int64_t{1} << 30);
    const auto memory = backend->reserve(1000, MemoryUse::arena);
    EXPECT_EQ(backend->free_memory(), (std::int64_t{1} << 30) - 1000);
    EXPECT_EQ(backend->fingerprint({}),
              "Stand-in | compute capability 9.0 | multiprocessors 132 L2 52428800 | driver 13.0 | NVRTC 13.0 | CUDA "
              "graphs with dependent launches");
    const auto without =
        cuda_backend(0, driver.table(), std::make_shared<Nvrtc>(LibraryFolders{"/absent", ""}), {.graphs = false});
    EXPECT_THAT(without->fingerprint({}), HasSubstr("| NVRTC none | single launches"));
    const auto in_order = cuda_backend(0, driver.table(), nvrtc.nvrtc(), {.dependent_launches = false});
    EXPECT_THAT(in_order->fingerprint({}), ::testing::EndsWith("| CUDA graphs"));
}

TEST_F(CudaBackendTest, TellsFactsForDiagnoses) {
    const auto memory = backend->reserve(1000, MemoryUse::arena);
    const DeviceInfo info = backend->info();
    EXPECT_EQ(info.name, "Stand-in");
    EXPECT_EQ(info.compute_capability, 90);
    EXPECT_EQ(info.multiprocessors, 132);
    EXPECT_EQ(info.cache_bytes, 50 << 20);
    EXPECT_EQ(info.memory_bytes, 1 << 30);
    EXPECT_EQ(info.free_bytes, (1 << 30) - 1000);
    EXPECT_EQ(info.driver, "13.0");
    EXPECT_EQ(info.compiler, "13.0");
    EXPECT_THAT(info.compiler_path, HasSubstr("cuda_test")) << "the functions of the stand-in are in the test";
    const auto without = cuda_backend(0, driver.table(), std::make_shared<Nvrtc>(LibraryFolders{"/absent", ""}));
    EXPECT_EQ(without->info().compiler, "");
    EXPECT_THAT(without->info().compiler_path, HasSubstr("/absent/libnvrtc.so.13"));
}

TEST_F(CudaBackendTest, TheHostsContextStaysCurrent) {
    const auto table = driver.table();
    // The context of the host program; retaining makes it known to the driver, as the backend has done already.
    ASSERT_EQ(table->context_push(driver.other_context()), Result::success);
    driver.add_kernel("k", {3, [](const StandInLaunch&) {}});
    std::vector<KernelLaunch> launches(1);
    const auto expect_unchanged = [&](const char* after) {
        ContextHandle current = nullptr;
        table->context_current(&current);
        EXPECT_EQ(current, driver.other_context()) << after;
        EXPECT_EQ(driver.context_depth(), 1U) << after;
    };
    {
        const auto second = cuda_backend(0, table, nvrtc.nvrtc());
        expect_unchanged("creation");
        const auto memory = upload(std::vector<int>(100));
        download<int>(*memory);
        expect_unchanged("copies");
        backend->free_memory();
        const auto code = compile({"k", "k"});
        expect_unchanged("compilation");
        launches[0].code = code.get();
        Submission submission;
        backend->record(launches, {})->run(submission);
        EXPECT_EQ(submission.thrown, nullptr);
        message_of(ErrorKind::memory, [&] { backend->reserve(std::size_t{1} << 40, MemoryUse::arena); });
    }
    expect_unchanged("everything");
    ContextHandle popped = nullptr;
    table->context_pop(&popped);
    for (const std::string& call : driver.calls())
        EXPECT_THAT(call, Not(::testing::AnyOf(HasSubstr("Reset"), HasSubstr("Limit"), HasSubstr("CtxSynchronize"))));
}

TEST_F(CudaBackendTest, OutOfMemoryNamesTheBytesAndLeavesTheDeviceUsable) {
    const std::size_t most = std::size_t{1} << 30;
    EXPECT_EQ(message_of(ErrorKind::memory, [&] { backend->reserve(most + 1, MemoryUse::arena); }),
              "[cuda] 1073741825 bytes are needed on cuda:0, but 1073741824 of 1073741824 bytes are free");
    EXPECT_THAT(download<int>(*upload(std::vector{1, 2})), ElementsAre(1, 2));
}

TEST_F(CudaBackendTest, ALostDeviceSaysSoFromThenOnAndFreesNothing) {
    is_lost = true;
    driver.add_kernel("k", {3, [](const StandInLaunch&) {}});
    std::vector<KernelLaunch> launches(1);
    std::string first;
    {
        const auto code = compile({"k", "k"});
        launches[0].code = code.get();
        const auto commands = backend->record(launches, {});
        const auto memory = upload(std::vector<int>(10));
        driver.fail("cuMemcpyDtoHAsync_v2", 1, Result::illegal_address);
        first = message_of(ErrorKind::unsupported, [&] { download<int>(*memory); });
        EXPECT_THAT(first, HasSubstr("cuda:0 is lost: cuMemcpyDtoHAsync_v2 failed with CUDA_ERROR_ILLEGAL_ADDRESS"));
        const auto expect_same = [&](const auto& call) { EXPECT_EQ(message_of(ErrorKind::unsupported, call), first); };
        expect_same([&] { download<int>(*memory); });
        expect_same([&] { memory->clear({0, 4, 1, 4}); });
        expect_same([&] { backend->reserve(10, MemoryUse::arena); });
        expect_same([&] { backend->free_memory(); });
        expect_same([&] { backend->record(launches, {}); });
        expect_same([&] { compile({"k", "k"}); });
        std::optional<Failure> failure;
        TimedCalls timed;
        expect_same([&] { backend->time(timed, failure); });
        Submission submission;
        commands->run(submission);
        expect_same([&] { std::rethrow_exception(submission.thrown); });
    }
    backend.reset();
    for (const char* freeing :
         {"cuMemFree_v2", "cuMemFreeHost", "cuModuleUnload", "cuStreamDestroy_v2", "cuDevicePrimaryCtxRelease_v2"})
        EXPECT_EQ(driver.count(freeing), 0) << freeing;
}

class CudaCompilation : public CudaTest {
protected:
    CudaCompilation() {
        for (const char* name : {"a", "b", "c", "d"}) driver.add_kernel(name, {3, [](const StandInLaunch&) {}});
    }
    std::vector<std::shared_ptr<const void>> compile_all(const std::vector<DeviceCode>& codes) {
        std::vector<const DeviceCode*> texts;
        for (const DeviceCode& code : codes) texts.push_back(&code);
        return backend->compile(texts);
    }
};

TEST_F(CudaCompilation, ManyTextsAreOneProgramAndEqualOnesCompiledOnce) {
    const auto kernels = compile_all({{"text a", "a"}, {"text b", "b", 64, 4, 2000}, {"text a", "a"}});
    ASSERT_EQ(kernels.size(), 3U);
    EXPECT_THAT(nvrtc.texts, ElementsAre("#line 1 \"a\"\ntext a\n#line 1 \"b\"\ntext b\n"));
    EXPECT_THAT(nvrtc.architectures, ElementsAre("--gpu-architecture=sm_90a"));
    EXPECT_EQ(driver.count("cuModuleLoadData"), 1);
    const auto& b = *static_cast<const CudaKernel*>(kernels[1].get());
    EXPECT_EQ(b.block, 64U);
    EXPECT_EQ(b.cluster, 4U);
    EXPECT_EQ(b.shared_bytes, 2000U);
    compile_all({{"text b", "b"}, {"text c", "c"}});
    EXPECT_EQ(nvrtc.texts.size(), 2U);
    EXPECT_THAT(nvrtc.texts[1], Not(HasSubstr("text b"))) << "it is loaded";
}

TEST_F(CudaCompilation, SharedMemoryBesideStaticOneNeedsAHigherLimitBelow48KilobytesAlready) {
    constexpr int kilobytes_48 = 48 << 10;
    driver.add_kernel("fixed", {3, [](const StandInLaunch&) {}, {}, 64});
    compile_all({{"text a", "a", 64, 1, kilobytes_48}, {"text fixed", "fixed", 64, 1, kilobytes_48 - 64}});
    EXPECT_EQ(driver.count("cuFuncSetAttribute"), 0);
    compile_all({{"text fixed", "fixed", 64, 1, kilobytes_48}});
    EXPECT_EQ(driver.count("cuFuncSetAttribute"), 1);
    compile_all({{"text a", "a", 64, 1, kilobytes_48 + 16}});
    EXPECT_EQ(driver.count("cuFuncSetAttribute"), 2);
}

TEST_F(CudaCompilation, ModulesAreKeptAsLongAsTheirKernels) {
    auto kernels = compile_all({{"text a", "a"}, {"text b", "b"}});
    kernels.pop_back();
    EXPECT_EQ(driver.count("cuModuleUnload"), 0);
    kernels.clear();
    EXPECT_EQ(driver.count("cuModuleUnload"), 1);
    compile_all({{"text a", "a"}});
    EXPECT_EQ(nvrtc.texts.size(), 2U) << "it is compiled again";
    EXPECT_THAT(compile_all({}), IsEmpty());
}

TEST_F(CudaCompilation, TheTextThatFailsIsNamed) {
    EXPECT_EQ(message_of(ErrorKind::unsupported,
                         [&] {
                             compile_all({{"text a", "a"}, {"text b", "b"}, {"#error", "c"}, {"text d", "d"}});
                         }),
              "[cuda] c does not compile for sm_90a: NVRTC_ERROR_COMPILATION, with the log\nan error of the stand-in");
    EXPECT_EQ(compile_all({{"text a", "a"}}).size(), 1U);
    DeviceCode labelled = {"#error", "c"};
    labelled.label = "own.exp@1 for exp | f32[4] -> f32[4]";
    EXPECT_EQ(message_of(ErrorKind::unsupported,
                         [&] {
                             compile_all({{"text a", "a"}, {"text b", "b"}, labelled});
                         }),
              "[cuda] own.exp@1 for exp | f32[4] -> f32[4]: c does not compile for sm_90a: "
              "NVRTC_ERROR_COMPILATION, with the log\nan error of the stand-in");
}

TEST_F(CudaCompilation, InvalidCodesAreRefused) {
    EXPECT_THAT(message_of(ErrorKind::internal,
                           [&] {
                               compile_all({{"text a", "a", 0}});
                           }),
                HasSubstr("blocks of 0 threads"));
    EXPECT_THAT(message_of(ErrorKind::unsupported,
                           [&] {
                               compile_all({{"text a", "a", 32, 1, 1 << 20}});
                           }),
                HasSubstr("the kernel a needs 1048576 bytes of shared memory a block, but Stand-in has 232448"));
    EXPECT_THAT(message_of(ErrorKind::internal,
                           [&] {
                               compile_all({{"text e", "e"}});
                           }),
                HasSubstr("cuModuleGetFunction failed"));
    EXPECT_THAT(nvrtc.texts, ElementsAre(HasSubstr("text e")));
}

TEST_F(CudaCompilation, MoreSharedMemoryAndLargerClustersAreAllowedForTheFunction) {
    const auto kernels = compile_all({{"text a", "a", 32, 16, 200 << 10}, {"text a", "a", 32, 1, 100 << 10}});
    std::vector<KernelLaunch> launches(2);
    for (std::size_t i = 0; i < 2; ++i) launches[i].code = kernels[i].get();
    launches[0].grid = {16, 1, 1};
    Submission submission;
    backend->record(launches, {})->run(submission);
    EXPECT_EQ(submission.thrown, nullptr);
}

TEST_F(CudaCompilation, WithoutNvrtcTheReasonIsGiven) {
    backend = cuda_backend(0, driver.table(), std::make_shared<Nvrtc>(LibraryFolders{"/absent", ""}));
    DeviceCode a = {"text a", "a"}, b = {"text b", "b"};
    a.label = b.label = "a kernel";
    EXPECT_THAT(message_of(ErrorKind::unsupported,
                           [&] {
                               compile_all({a, b});
                           }),
                AllOf(HasSubstr("[cuda] NVRTC, the compiler of CUDA kernels, cannot be opened: "),
                      HasSubstr("/absent/libnvrtc.so.13"), Not(HasSubstr("a kernel"))));
}

/// A kernel with the parameters of DeviceCode that doubles its operand, and uses a type of the preamble.
DeviceCode real_code(const std::string& entry) {
    return {fmt::format(R"(#ifndef CAIRN_TEST_RECORD
#define CAIRN_TEST_RECORD
struct Report {{ unsigned code, instruction, input, unused; long long position, value; }};
#endif
extern "C" __global__ void {}(float* x, void* workspace, const long long* symbols, Report* status,
                              unsigned instruction) {{
    const long long i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < symbols[0]) x[i] *= 2;
    else if (atomicCAS(&status->code, 0u, 1u) == 0u) status->position = i;
}}
)",
                        entry),
            entry};
}

TEST_F(CudaCompilation, TheRealCompilerTakesSeveralTextsAtOnce) {
#if defined(CAIRN_NVRTC_FOLDER)
    const LibraryFolders folders = {CAIRN_NVRTC_FOLDER, ""};
    backend = cuda_backend(0, driver.table(), std::make_shared<Nvrtc>(folders));
    EXPECT_EQ(compile_all({real_code("a"), real_code("b")}).size(), 2U);
    EXPECT_EQ(driver.count("cuModuleLoadData"), 1);
    // Each compiles alone, but not with the other.
    const std::string helper = "__device__ int help() { return 1; }\n";
    DeviceCode c = real_code("c"), d = real_code("d");
    c.text += helper;
    d.text += helper;
    EXPECT_EQ(compile_all({c, d}).size(), 2U);
    EXPECT_EQ(driver.count("cuModuleLoadData"), 3);
    d.text += "error here;";
    EXPECT_THAT(message_of(ErrorKind::unsupported,
                           [&] {
                               compile_all({real_code("a"), real_code("b"), c, d});
                           }),
                AllOf(HasSubstr("d does not compile for sm_90a"), HasSubstr("d(12): error"), Not(HasSubstr("help"))));
#else
    EXPECT_EQ(real_code("a").entry, "a");
#endif
}

}  // namespace
}  // namespace cairn::device::cuda
