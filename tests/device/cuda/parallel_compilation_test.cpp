#include "cairn/error.hpp"
#include "device/cpu/thread_pool.hpp"
#include "device/cuda/cuda_compiler.hpp"
#include "tests/device/cuda/cuda_fixture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

// Texts are cut into one program for each thread, or are a program each with a cache.
namespace cairn::device::cuda {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StoredKernels final : public KernelCache {
public:
    std::shared_ptr<const KernelBinary> find(const std::string&) override { return nullptr; }
    void store(const KernelBinary& binary) override {
        EXPECT_THAT(binary.keys, SizeIs(1));
        keys.insert(binary.keys.begin(), binary.keys.end());
    }
    std::multiset<std::string> keys;
};

/// `count` texts with entries a00, a01, ...
std::vector<DeviceCode> texts_of(int count) {
    std::vector<DeviceCode> codes;
    for (int i = 0; i < count; ++i) codes.push_back({fmt::format("text {:02}", i), fmt::format("a{:02}", i)});
    return codes;
}

/// The parameter is the number of threads; 0: none are given.
class ParallelCompilation : public CudaTest, public ::testing::WithParamInterface<int> {
protected:
    ParallelCompilation() {
        for (const DeviceCode& code : texts_of(40)) driver.add_kernel(code.entry, {3, [](const StandInLaunch&) {}});
    }
    void TearDown() override {
        EXPECT_EQ(nvrtc.open_programs(), 0U);
        CudaTest::TearDown();
    }
    std::vector<std::shared_ptr<const void>> compile_all(const std::vector<DeviceCode>& codes,
                                                         CompileRequest request = {}) {
        std::vector<const DeviceCode*> texts;
        for (const DeviceCode& code : codes) texts.push_back(&code);
        request.threads = pool_.get();
        return backend->compile(texts, request);
    }
    void use_cache(std::shared_ptr<KernelCache> cache) {
        backend = cuda_backend(0, driver.table(), nvrtc.nvrtc(), {.cache = std::move(cache)});
    }
    /// The texts of the programs that were compiled, each without its name, sorted.
    std::vector<std::vector<std::string>> programs() const {
        std::vector<std::vector<std::string>> all;
        for (const std::string& program : nvrtc.texts) {
            std::vector<std::string>& texts = all.emplace_back();
            for (std::size_t at = program.find("\ntext "); at != program.npos; at = program.find("\ntext ", at + 1))
                texts.push_back(program.substr(at + 6, 2));
        }
        std::sort(all.begin(), all.end());
        return all;
    }
    static std::size_t threads() { return static_cast<std::size_t>(std::max(GetParam(), 1)); }

    std::unique_ptr<ThreadPool> pool_ = GetParam() > 0 ? std::make_unique<ThreadPool>(GetParam()) : nullptr;
};
INSTANTIATE_TEST_SUITE_P(Threads, ParallelCompilation, ::testing::Values(0, 1, 2, 3, 8),
                         [](const auto& threads) { return std::to_string(threads.param); });

TEST_P(ParallelCompilation, ThereIsAProgramForEachThreadAndEachTextIsInOne) {
    const std::vector<DeviceCode> codes = texts_of(20);
    const auto kernels = compile_all(codes);
    const auto all = programs();
    EXPECT_THAT(all, SizeIs(threads()));
    std::vector<std::string> texts;
    for (const auto& program : all) {
        EXPECT_TRUE(std::is_sorted(program.begin(), program.end()));
        EXPECT_LE(program.size(), 20 / threads() + 1);
        texts.insert(texts.end(), program.begin(), program.end());
    }
    std::sort(texts.begin(), texts.end());
    EXPECT_EQ(std::unique(texts.begin(), texts.end()), texts.end());
    EXPECT_THAT(texts, SizeIs(20));
    // What a kernel was loaded from has its text.
    std::set<std::string> keys;
    for (const auto& kernel : kernels)
        for (const std::string& key : backend->binary(kernel.get())->keys) keys.insert(key);
    EXPECT_THAT(keys, SizeIs(20));
    EXPECT_EQ(driver.count("cuModuleLoadData"), static_cast<std::int64_t>(threads()));

    // The same texts are the same programs, in whatever order they are given and whichever thread is faster.
    backend = cuda_backend(0, driver.table(), nvrtc.nvrtc());
    nvrtc.texts.clear();
    compile_all({codes.rbegin(), codes.rend()});
    EXPECT_EQ(programs(), all);
}

TEST_P(ParallelCompilation, FewTextsAreFewPrograms) {
    const auto kept = compile_all(texts_of(2));
    EXPECT_THAT(programs(), SizeIs(std::min<std::size_t>(threads(), 2)));
    EXPECT_THAT(compile_all({}), IsEmpty());
    compile_all(texts_of(3));
    EXPECT_THAT(nvrtc.texts, SizeIs(std::min<std::size_t>(threads(), 2) + 1)) << "two are loaded";
}

TEST_P(ParallelCompilation, AsManyThreadsCompileAtOnce) {
    std::barrier<> all(static_cast<std::ptrdiff_t>(threads()));
    nvrtc.on_compile = [&](const std::string&) { all.arrive_and_wait(); };
    compile_all(texts_of(20));
    EXPECT_THAT(nvrtc.texts, SizeIs(threads()));
}

TEST_P(ParallelCompilation, WithACacheEachTextIsAProgramAndStored) {
    const auto cache = std::make_shared<StoredKernels>();
    use_cache(cache);
    const auto kernels = compile_all(texts_of(20));
    EXPECT_THAT(programs(), AllOf(SizeIs(20), Each(SizeIs(1))));
    EXPECT_EQ(cache->keys.size(), 20U);
    EXPECT_EQ(std::set<std::string>(cache->keys.begin(), cache->keys.end()).size(), 20U);
}

TEST_P(ParallelCompilation, TextsOfOneEntryAreInDifferentPrograms) {
    std::vector<DeviceCode> codes = texts_of(4);
    for (const char* text : {"text x", "text y", "text z"}) codes.push_back({text, "a02"});
    const auto kernels = compile_all(codes);
    ASSERT_THAT(kernels, SizeIs(7));
    EXPECT_THAT(programs(), SizeIs(std::clamp<std::size_t>(threads(), 4, 7)));
    std::set<const KernelBinary*> binaries;
    std::set<FunctionHandle> functions;
    for (const std::size_t i : {2, 4, 5, 6}) {
        binaries.insert(backend->binary(kernels[i].get()).get());
        functions.insert(static_cast<const CudaKernel*>(kernels[i].get())->function);
    }
    EXPECT_THAT(binaries, SizeIs(4));
    EXPECT_THAT(functions, SizeIs(4));
}

// Of several the first, whatever the number of threads.
TEST_P(ParallelCompilation, ATextThatFailsIsNamed) {
    const std::string reason =
        "does not compile for sm_90a: NVRTC_ERROR_COMPILATION, with the log\nan error of the "
        "stand-in";
    for (const bool with_cache : {false, true}) {
        if (with_cache) use_cache(std::make_shared<StoredKernels>());
        for (const std::size_t wrong : {0U, 7U, 19U}) {
            std::vector<DeviceCode> codes = texts_of(20);
            codes[wrong].text = "#error";
            EXPECT_EQ(message_of(ErrorKind::unsupported, [&] { compile_all(codes); }),
                      fmt::format("[cuda] {} {}", codes[wrong].entry, reason));
        }
        std::vector<DeviceCode> codes = texts_of(20);
        codes[1].text = codes[2].text = codes[18].text = "#error";
        codes[1].label = "own.exp@1 for exp | f32[4] -> f32[4]";
        for (int repeat = 0; repeat < 5; ++repeat)
            EXPECT_EQ(message_of(ErrorKind::unsupported, [&] { compile_all(codes); }),
                      "[cuda] own.exp@1 for exp | f32[4] -> f32[4]: a01 " + reason);
    }
    EXPECT_THAT(compile_all(texts_of(20)), SizeIs(20));
}

TEST_P(ParallelCompilation, OutOfMemoryIsThrownAndNothingIsSplit) {
    std::vector<DeviceCode> codes = texts_of(20);
    codes[5].text = "#memory";
    EXPECT_THAT(message_of(ErrorKind::memory, [&] { compile_all(codes); }), HasSubstr("nvrtcCompileProgram failed"));
    EXPECT_LE(nvrtc.texts.size(), threads());
    EXPECT_THAT(compile_all(texts_of(20)), SizeIs(20));
}

TEST_P(ParallelCompilation, AfterAStopNoFurtherProgramBegins) {
    use_cache(std::make_shared<StoredKernels>());
    std::stop_source stop;
    nvrtc.on_compile = [&](const std::string&) { stop.request_stop(); };
    EXPECT_THROW(compile_all(texts_of(20), {.stop = stop.get_token()}), Cancelled);
    EXPECT_GE(nvrtc.texts.size(), 1U);
    EXPECT_LE(nvrtc.texts.size(), threads()) << "what had begun";
    nvrtc.on_compile = nullptr;
    EXPECT_THAT(compile_all(texts_of(20)), SizeIs(20));
}

}  // namespace
}  // namespace cairn::device::cuda
