#include "device/cuda/nvrtc.hpp"

#include "tests/device/cuda/expect_error.hpp"

#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace cairn::device::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* reverse = R"(extern "C" __global__ void reverse(float* x, const float* y) {
    __shared__ float tile[64];
    tile[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[63 - threadIdx.x];
}
)";

/// The toolkit's NVRTC, if there is one: without, the tests that compile see that compile() says so.
#if defined(CAIRN_NVRTC_FOLDER)
constexpr bool has_nvrtc = true;
const LibraryFolders folders = {CAIRN_NVRTC_FOLDER, ""};
#else
constexpr bool has_nvrtc = false;
const LibraryFolders folders = {"/absent", ""};
#endif

void expect_unavailable() {
    Nvrtc nvrtc(folders);
    EXPECT_THAT(message_of(ErrorKind::unsupported, [&] { nvrtc.compile(reverse, "reverse.cu", "sm_80"); }),
                HasSubstr("/absent/libnvrtc.so.13"));
}

TEST(Nvrtc, CompilesForSeveralArchitectures) {
    if (!has_nvrtc) return expect_unavailable();
    Nvrtc nvrtc(folders);
    for (const char* architecture : {"sm_80", "sm_90a"}) {
        const CompiledText code = nvrtc.compile(reverse, "reverse.cu", architecture);
        ASSERT_GT(code.cubin.size(), 4U) << architecture;
        EXPECT_EQ(std::memcmp(code.cubin.data(), "\177ELF", 4), 0) << architecture;
        EXPECT_THAT(code.log, HasSubstr(architecture));
        ASSERT_EQ(code.kernels.size(), 1U) << code.log;
        EXPECT_EQ(code.kernels[0].entry, "reverse");
        EXPECT_EQ(code.kernels[0].shared_bytes, 256);
        EXPECT_GT(code.kernels[0].registers, 0);
        EXPECT_EQ(code.kernels[0].spill_store_bytes, 0);
        EXPECT_EQ(code.kernels[0].barriers, 1);
    }
    EXPECT_EQ(nvrtc.version().major, 13);
}

TEST(Nvrtc, CodeIsTheSameInEveryCompilation) {
    if (!has_nvrtc) return expect_unavailable();
    Nvrtc nvrtc(folders);
    EXPECT_EQ(nvrtc.compile(reverse, "reverse.cu", "sm_90a").cubin,
              nvrtc.compile(reverse, "reverse.cu", "sm_90a").cubin);
}

TEST(Nvrtc, ReportsSpills) {
    if (!has_nvrtc) return expect_unavailable();
    const std::string text = R"(extern "C" __global__ void __launch_bounds__(1024, 2) heavy(float* x) {
        float v[64];
        for (int i = 0; i < 64; ++i) v[i] = x[i * threadIdx.x];
        __syncthreads();
        for (int i = 0; i < 64; ++i) x[i * threadIdx.x] = v[i] * v[63 - i];
    })";
    Nvrtc nvrtc(folders);
    const CompiledText code = nvrtc.compile(text, "heavy.cu", "sm_80");
    ASSERT_EQ(code.kernels.size(), 1U) << code.log;
    EXPECT_EQ(code.kernels[0].registers, 32);
    EXPECT_GT(code.kernels[0].spill_store_bytes, 0) << code.log;
    EXPECT_GT(code.kernels[0].spill_load_bytes, 0) << code.log;
}

TEST(Nvrtc, ErrorsHaveTheLogWithTheLine) {
    if (!has_nvrtc) return expect_unavailable();
    Nvrtc nvrtc(folders);
    EXPECT_THAT(message_of(ErrorKind::unsupported,
                           [&] { nvrtc.compile("__global__ void f() {\n    nonsense;\n}\n", "wrong.cu", "sm_90a"); }),
                AllOf(HasSubstr("[cuda] wrong.cu does not compile for sm_90a: NVRTC_ERROR_COMPILATION"),
                      HasSubstr("wrong.cu(2): error: identifier \"nonsense\" is undefined")));
    EXPECT_THAT(message_of(ErrorKind::unsupported, [&] { nvrtc.compile(reverse, "reverse.cu", "sm_10"); }),
                AllOf(HasSubstr("reverse.cu does not compile for sm_10"), HasSubstr("--gpu-architecture")));
    const std::vector<std::string> options = {"--no-such-option"};
    EXPECT_THAT(message_of(ErrorKind::unsupported, [&] { nvrtc.compile(reverse, "reverse.cu", "sm_80", options); }),
                HasSubstr("--no-such-option"));
    EXPECT_THAT(message_of(ErrorKind::unsupported, [&] { nvrtc.compile(reverse, "reverse.cu", "compute_80"); }),
                HasSubstr("compute_80 is not an architecture like sm_90a"));
    // The compiler is usable afterwards.
    EXPECT_FALSE(nvrtc.compile(reverse, "reverse.cu", "sm_80").cubin.empty());
}

TEST(Nvrtc, TakesOptions) {
    if (!has_nvrtc) return expect_unavailable();
    Nvrtc nvrtc(folders);
    const std::string text = "#if N != 5\n#error N\n#endif\n";
    const std::vector<std::string> options = {"-DN=5"};
    EXPECT_TRUE(nvrtc.compile(text, "n.cu", "sm_80", options).kernels.empty());
    EXPECT_THAT(message_of(ErrorKind::unsupported, [&] { nvrtc.compile(text, "n.cu", "sm_80"); }),
                HasSubstr("n.cu(2): "));
}

void on_interrupt(int) {}

TEST(Nvrtc, ManyThreadsCompileAtOnce) {
    if (!has_nvrtc) return expect_unavailable();
    // NVRTC replaces handlers of signals while it assembles; the host's must be back afterwards.
    struct sigaction own = {}, before = {}, after = {};
    own.sa_handler = on_interrupt;
    ASSERT_EQ(sigaction(SIGINT, &own, &before), 0);
    Nvrtc nvrtc(folders);
    std::vector<CompiledText> codes(4);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < codes.size(); ++i)
        threads.emplace_back([&, i] {
            const std::string name = "kernel_" + std::to_string(i);
            const std::string text = "extern \"C\" __global__ void " + name +
                                     "(float* x) { x[threadIdx.x] *= " + std::to_string(i) + ".5f; }";
            codes[i] = nvrtc.compile(text, name, i % 2 == 0 ? "sm_80" : "sm_90a");
        });
    for (std::thread& thread : threads) thread.join();
    sigaction(SIGINT, &before, &after);
    EXPECT_EQ(after.sa_handler, on_interrupt);
    for (std::size_t i = 0; i < codes.size(); ++i) {
        ASSERT_EQ(codes[i].kernels.size(), 1U);
        EXPECT_EQ(codes[i].kernels[0].entry, "kernel_" + std::to_string(i));
        EXPECT_FALSE(codes[i].cubin.empty());
    }
}

TEST(Nvrtc, IsOpenedWhenFirstUsed) {
    Nvrtc nvrtc(LibraryFolders{"/absent", ""});
    const std::string first = message_of(ErrorKind::unsupported, [&] { nvrtc.version(); });
    EXPECT_THAT(first, AllOf(HasSubstr("[cuda] NVRTC, the compiler of CUDA kernels, cannot be opened: "),
                             HasSubstr("/absent/libnvrtc.so.13")));
    EXPECT_EQ(message_of(ErrorKind::unsupported, [&] { nvrtc.compile(reverse, "reverse.cu", "sm_80"); }), first);
}

/// What the functions of the table below return.
struct NvrtcAnswers {
    NvrtcResult create = NvrtcResult::success, compile = NvrtcResult::success, log_size = NvrtcResult::success,
                log = NvrtcResult::success, cubin_size = NvrtcResult::success, cubin = NvrtcResult::success;
    int destroyed = 0;
    std::vector<std::string> options = {};
};
NvrtcAnswers* nvrtc_answers = nullptr;

/// Compiles with a table of functions that yield the code "code" and the log "log".
class NvrtcCall : public ::testing::Test {
protected:
    NvrtcCall() {
        nvrtc_answers = &answers_;
        table_->create = [](NvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*) {
            return nvrtc_answers->create;
        };
        table_->compile = [](NvrtcProgram, int count, const char* const* options) {
            nvrtc_answers->options.assign(options, options + count);
            return nvrtc_answers->compile;
        };
        table_->destroy = [](NvrtcProgram*) {
            ++nvrtc_answers->destroyed;
            return NvrtcResult::success;
        };
        table_->log_size = [](NvrtcProgram, std::size_t* bytes) {
            *bytes = 5;
            return nvrtc_answers->log_size;
        };
        table_->log = [](NvrtcProgram, char* log) {
            std::memcpy(log, "log\n", 5);
            return nvrtc_answers->log;
        };
        table_->cubin_size = [](NvrtcProgram, std::size_t* bytes) {
            *bytes = 4;
            return nvrtc_answers->cubin_size;
        };
        table_->cubin = [](NvrtcProgram, char* cubin) {
            std::memcpy(cubin, "code", 4);
            return nvrtc_answers->cubin;
        };
        table_->error_name = [](NvrtcResult result) {
            return result == NvrtcResult::out_of_memory ? "NVRTC_ERROR_OUT_OF_MEMORY" : "NVRTC_ERROR_OTHER";
        };
    }
    ~NvrtcCall() override { nvrtc_answers = nullptr; }

    CompiledText compile() {
        const std::vector<std::string> options = {"-DN=5"};
        return Nvrtc(table_).compile("text", "a.cu", "sm_90a", options);
    }

    NvrtcAnswers answers_;
    const std::shared_ptr<NvrtcTable> table_ = std::make_shared<NvrtcTable>();
};

TEST_F(NvrtcCall, GivesCodeAndLog) {
    const CompiledText code = compile();
    ASSERT_EQ(code.cubin.size(), 4U);
    EXPECT_EQ(std::memcmp(code.cubin.data(), "code", 4), 0);
    EXPECT_EQ(code.log, "log");
    EXPECT_THAT(answers_.options,
                ::testing::ElementsAre("--gpu-architecture=sm_90a", "--no-cache", "--ptxas-options=-v", "-DN=5"));
    EXPECT_EQ(answers_.destroyed, 1);
}

TEST_F(NvrtcCall, EveryFailureIsAnError) {
    struct Case {
        NvrtcResult NvrtcAnswers::*call;
        const char* symbol;
    };
    for (const Case& one : {Case{&NvrtcAnswers::create, "nvrtcCreateProgram"},
                            {&NvrtcAnswers::log_size, "nvrtcGetProgramLogSize"},
                            {&NvrtcAnswers::log, "nvrtcGetProgramLog"},
                            {&NvrtcAnswers::cubin_size, "nvrtcGetCUBINSize"},
                            {&NvrtcAnswers::cubin, "nvrtcGetCUBIN"}}) {
        answers_ = {};
        answers_.*one.call = NvrtcResult::internal_error;
        EXPECT_EQ(message_of(ErrorKind::internal, [&] { compile(); }),
                  std::string("[cuda] ") + one.symbol + " failed: NVRTC_ERROR_OTHER");
        // What was not created is not destroyed.
        EXPECT_EQ(answers_.destroyed, one.call == &NvrtcAnswers::create ? 0 : 1) << one.symbol;
    }
}

TEST_F(NvrtcCall, MemoryAndBuiltins) {
    answers_.compile = NvrtcResult::out_of_memory;
    EXPECT_EQ(message_of(ErrorKind::memory, [&] { compile(); }),
              "[cuda] nvrtcCompileProgram failed: NVRTC_ERROR_OUT_OF_MEMORY");
    answers_.compile = NvrtcResult::builtin_operation_failure;
    EXPECT_EQ(message_of(ErrorKind::unsupported, [&] { compile(); }),
              "[cuda] a.cu does not compile for sm_90a: NVRTC_ERROR_OTHER, with the log\nlog");
}

}  // namespace
}  // namespace cairn::device::cuda
