#include "device/cuda/cuda_compiler.hpp"
#include "tests/device/cuda/cuda_fixture.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

// Machine code that is saved or in a cache is not compiled again.
namespace cairn::device::cuda {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Binary = std::shared_ptr<const KernelBinary>;

class MapCache final : public KernelCache {
public:
    Binary find(const std::string& key) override {
        const auto found = files.find(key);
        return found == files.end() ? nullptr : found->second;
    }
    void store(const KernelBinary& binary) override {
        ASSERT_EQ(binary.keys.size(), 1U);
        files[binary.keys[0]] = std::make_shared<const KernelBinary>(binary);
    }

    std::map<std::string, Binary> files;
};

/// A device with compute capability 8.0 in place of 9.0, by the functions of another.
std::shared_ptr<const DriverTable> older_device(const DriverTable& table) {
    static decltype(DriverTable::device_attribute) original = nullptr;
    original = table.device_attribute;
    auto older = std::make_shared<DriverTable>(table);
    older->device_attribute = [](int* value, DeviceAttribute attribute, DeviceHandle device) {
        const Result result = original(value, attribute, device);
        if (attribute == DeviceAttribute::compute_capability_major) *value = 8;
        return result;
    };
    return older;
}

class CudaBinaries : public CudaTest {
protected:
    CudaBinaries() {
        for (const char* name : {"a", "b", "c"}) driver.add_kernel(name, {3, [](const StandInLaunch&) {}});
        driver.on_module_load([this](const void* image, StandInKernels&) {
            images.emplace_back(static_cast<const char*>(image));
            return refused.contains(images.size()) ? Result::invalid_image : Result::success;
        });
    }

    static std::shared_ptr<Nvrtc> no_nvrtc() { return std::make_shared<Nvrtc>(LibraryFolders{"/absent", ""}); }
    static std::vector<std::shared_ptr<const void>> compile_all(Backend& backend, const std::vector<DeviceCode>& codes,
                                                                KernelBinaries saved = {}) {
        std::vector<const DeviceCode*> texts;
        for (const DeviceCode& code : codes) texts.push_back(&code);
        return backend.compile(texts, {.saved = saved});
    }
    /// The binary of texts that a device of their own compiles.
    Binary binary_of(const std::vector<DeviceCode>& codes) {
        const auto other = cuda_backend(0, driver.table(), nvrtc.nvrtc());
        Binary binary = other->binary(compile_all(*other, codes).front().get());
        images.clear();
        nvrtc.texts.clear();
        nvrtc.calls = 0;
        return binary;
    }
    static std::string image_of(const KernelBinary& binary) {
        return reinterpret_cast<const char*>(binary.image.data());
    }

    std::vector<std::string> images;  // that were loaded
    std::set<std::size_t> refused;    // loads, counted from 1
};

TEST_F(CudaBinaries, SayWhatTheyWereCompiledFor) {
    const auto kernels = compile_all(*backend, {{"text b", "b"}, {"text a", "a"}});
    const Binary binary = backend->binary(kernels[0].get());
    EXPECT_EQ(backend->binary(kernels[1].get()), binary) << "they were compiled together";
    EXPECT_THAT(binary->keys, SizeIs(2));
    EXPECT_THAT(binary->keys[0], SizeIs(32));
    EXPECT_EQ(binary->architecture, "sm_90a");
    EXPECT_EQ(binary->device, "Stand-in");
    EXPECT_EQ(binary->compiler, "NVRTC 13.0");
    EXPECT_THAT(images, ElementsAre(image_of(*binary)));
    EXPECT_EQ(*binary_of({{"text a", "a"}, {"text b", "b"}}), *binary) << "in whatever order the texts are";
}

TEST_F(CudaBinaries, SavedCodeIsLoadedAndNvrtcIsNotCalled) {
    const std::vector<Binary> saved = {binary_of({{"text a", "a"}, {"text b", "b"}}), binary_of({{"text c", "c"}})};
    const auto kernels = compile_all(*backend, {{"text c", "c"}, {"text b", "b", 64, 4, 2000}, {"text a", "a"}}, saved);
    EXPECT_EQ(nvrtc.calls, 0);
    EXPECT_THAT(images, ElementsAre(image_of(*saved[0]), image_of(*saved[1])));
    EXPECT_EQ(backend->binary(kernels[0].get()), saved[1]);
    EXPECT_EQ(backend->binary(kernels[2].get()), saved[0]);
    EXPECT_EQ(static_cast<const CudaKernel*>(kernels[1].get())->cluster, 4U) << "how it is launched is not in the code";
    compile_all(*backend, {{"text b", "b"}}, saved);
    EXPECT_THAT(images, SizeIs(2)) << "it is loaded";
    // Nor is any library opened.
    const auto without = cuda_backend(0, driver.table(), no_nvrtc());
    EXPECT_THAT(compile_all(*without, {{"text a", "a"}, {"text c", "c"}}, saved), SizeIs(2));
}

TEST_F(CudaBinaries, CodeThatIsNotUsedIsNotLoaded) {
    const std::vector<Binary> saved = {binary_of({{"text a", "a"}}), binary_of({{"text b", "b"}})};
    compile_all(*backend, {{"text b", "b"}}, saved);
    EXPECT_THAT(images, ElementsAre(image_of(*saved[1])));
}

TEST_F(CudaBinaries, CodeOfAnotherTextOrPreludeOrArchitectureIsCompiled) {
    const std::vector<Binary> saved = {binary_of({{"text a", "a"}, {"text b", "b"}})};
    compile_all(*backend, {{"text a2", "a"}, {"text b", "b"}}, saved);
    EXPECT_THAT(nvrtc.texts, ElementsAre("#line 1 \"a\"\ntext a2\n")) << "the other one is loaded";
    compile_all(*backend, {{"text b", "c"}}, saved);
    EXPECT_THAT(nvrtc.texts, SizeIs(2)) << "another entry";
    const auto with_prelude = cuda_backend(0, driver.table(), nvrtc.nvrtc(), {.prelude = "prelude\n"});
    compile_all(*with_prelude, {{"text a", "a"}}, saved);
    EXPECT_THAT(nvrtc.texts, SizeIs(3));
    const auto older = cuda_backend(0, older_device(*driver.table()), nvrtc.nvrtc());
    const auto kernels = compile_all(*older, {{"text a", "a"}}, saved);
    EXPECT_THAT(nvrtc.texts, SizeIs(4));
    EXPECT_EQ(older->binary(kernels[0].get())->architecture, "sm_80");
}

TEST_F(CudaBinaries, CodeThatTheDriverRefusesIsCompiledOnce) {
    const std::vector<Binary> saved = {binary_of({{"text a", "a"}, {"text b", "b"}}), binary_of({{"text c", "c"}})};
    refused = {1};
    compile_all(*backend, {{"text a", "a"}, {"text b", "b"}, {"text c", "c"}}, saved);
    EXPECT_THAT(nvrtc.texts, ElementsAre("#line 1 \"a\"\ntext a\n#line 1 \"b\"\ntext b\n"));
    EXPECT_THAT(images, ElementsAre(image_of(*saved[0]), image_of(*saved[1]), image_of(*saved[0])));

    backend = cuda_backend(0, driver.table(), nvrtc.nvrtc());
    nvrtc.texts.clear();
    images.clear();
    refused = {1, 2};
    EXPECT_THAT(message_of(ErrorKind::unsupported,
                           [&] {
                               compile_all(*backend, {{"text a", "a"}}, saved);
                           }),
                HasSubstr("cuModuleLoadData failed"));
    EXPECT_THAT(nvrtc.texts, SizeIs(1));
}

TEST_F(CudaBinaries, CodeWhoseFunctionIsMissingOrRefusedIsCompiled) {
    const std::vector<Binary> saved = {binary_of({{"text a", "a"}})};
    for (const char* call : {"cuModuleGetFunction", "cuFuncLoad"}) {
        nvrtc.texts.clear();
        driver.clear_calls();
        driver.fail(call, 1, static_cast<Result>(500));
        const auto kernels = compile_all(*backend, {{"text a", "a"}}, saved);
        EXPECT_THAT(nvrtc.texts, SizeIs(1)) << call;
        EXPECT_EQ(driver.count("cuModuleUnload"), 1) << "the saved code";
    }
}

TEST_F(CudaBinaries, AFullOrLostDeviceIsAnErrorAtOnce) {
    const std::vector<Binary> saved = {binary_of({{"text a", "a"}})};
    driver.fail("cuModuleLoadData", 1, Result::out_of_memory);
    message_of(ErrorKind::memory, [&] { compile_all(*backend, {{"text a", "a"}}, saved); });
    is_lost = true;
    driver.fail("cuModuleLoadData", 1, Result::illegal_address);
    EXPECT_THAT(message_of(ErrorKind::unsupported,
                           [&] {
                               compile_all(*backend, {{"text a", "a"}}, saved);
                           }),
                HasSubstr("cuda:0 is lost"));
    EXPECT_THAT(nvrtc.texts, IsEmpty());
}

TEST_F(CudaBinaries, WithoutNvrtcTheErrorNamesTheDeviceThatTheCodeIsFor) {
    const auto without = cuda_backend(0, driver.table(), no_nvrtc());
    KernelBinary other = *binary_of({{"text a", "a"}});
    other.keys = {std::string(32, '0')};
    const std::vector<Binary> of_texts = {std::make_shared<const KernelBinary>(other)};
    other.architecture = "sm_80";
    other.device = "Older card";
    const std::vector<Binary> of_device = {std::make_shared<const KernelBinary>(other)};
    const auto fault = [&](const std::vector<Binary>& saved) {
        return message_of(ErrorKind::unsupported, [&] { compile_all(*without, {{"text a", "a"}}, saved); });
    };
    EXPECT_THAT(fault(of_device),
                AllOf(HasSubstr("[cuda] 1 of the kernels have no machine code for Stand-in (sm_90a): the program was "
                                "saved with code for Older card (sm_80); NVRTC, the compiler of CUDA kernels, cannot "
                                "be opened: "),
                      HasSubstr("/absent/libnvrtc.so.13")));
    EXPECT_THAT(fault(of_texts), HasSubstr("saved with code for Stand-in (sm_90a) of other kernel texts; NVRTC"));
    EXPECT_THAT(fault({}), ::testing::StartsWith("[cuda] NVRTC, the compiler of CUDA kernels, cannot be opened"));
}

TEST_F(CudaBinaries, AKernelThatDoesNotCompileIsNamedWithItsProblem) {
    DeviceCode code = {"#error", "c"};
    code.label = "own.exp@1 for exp | f32[4] -> f32[4]";
    for (const bool cached : {false, true}) {
        backend =
            cuda_backend(0, driver.table(), nvrtc.nvrtc(), {.cache = cached ? std::make_shared<MapCache>() : nullptr});
        EXPECT_THAT(message_of(ErrorKind::unsupported,
                               [&] {
                                   compile_all(*backend, {{"text a", "a"}, code});
                               }),
                    AllOf(HasSubstr("own.exp@1 for exp | f32[4] -> f32[4]"), HasSubstr("c does not compile"),
                          HasSubstr("an error of the stand-in")));
    }
}

TEST_F(CudaBinaries, ACacheIsReadBeforeACompilationAndWrittenAfterIt) {
    const auto cache = std::make_shared<MapCache>();
    const auto first = cuda_backend(0, driver.table(), nvrtc.nvrtc(), {.cache = cache});
    compile_all(*first, {{"text a", "a"}, {"text b", "b"}});
    EXPECT_THAT(nvrtc.texts, SizeIs(2)) << "a program each";
    EXPECT_THAT(cache->files, SizeIs(2));
    images.clear();
    const auto second = cuda_backend(0, driver.table(), no_nvrtc(), {.cache = cache});
    const auto kernels = compile_all(*second, {{"text b", "b"}});
    EXPECT_THAT(images, SizeIs(1));
    EXPECT_EQ(second->binary(kernels[0].get()), cache->files.at(second->binary(kernels[0].get())->keys[0]));
    // A change of one kernel compiles that kernel.
    backend = cuda_backend(0, driver.table(), nvrtc.nvrtc(), {.cache = cache});
    nvrtc.texts.clear();
    compile_all(*backend, {{"text a2", "a"}, {"text b", "b"}});
    EXPECT_THAT(nvrtc.texts, ElementsAre("#line 1 \"a\"\ntext a2\n"));
    EXPECT_THAT(cache->files, SizeIs(3));
}

TEST_F(CudaBinaries, CachedCodeOfAnotherNvrtcIsReplacedOnceNvrtcIsOpen) {
    const auto cache = std::make_shared<MapCache>();
    const std::vector<DeviceCode> codes = {{"text a", "a"}};
    compile_all(*cuda_backend(0, driver.table(), nvrtc.nvrtc(), {.cache = cache}), codes);
    const std::vector<Binary> saved = {cache->files.begin()->second};
    nvrtc.minor_version = 1;
    nvrtc.texts.clear();
    compile_all(*cuda_backend(0, driver.table(), no_nvrtc(), {.cache = cache}), codes);
    compile_all(*cuda_backend(0, driver.table(), nvrtc.nvrtc(), {.cache = cache}), codes, saved);
    EXPECT_THAT(nvrtc.texts, IsEmpty()) << "a version that nobody knows, and a saved program, take any";
    compile_all(*cuda_backend(0, driver.table(), nvrtc.nvrtc(), {.cache = cache}), codes);
    EXPECT_THAT(nvrtc.texts, SizeIs(1));
    ASSERT_THAT(cache->files, SizeIs(1));
    EXPECT_EQ(cache->files.begin()->second->compiler, "NVRTC 13.1");
}

TEST_F(CudaBinaries, CachedCodeThatTheDriverRefusesIsReplaced) {
    const auto cache = std::make_shared<MapCache>();
    const std::vector<DeviceCode> codes = {{"text a", "a"}};
    compile_all(*cuda_backend(0, driver.table(), nvrtc.nvrtc(), {.cache = cache}), codes);
    const Binary before = cache->files.begin()->second;
    refused = {2};
    compile_all(*cuda_backend(0, driver.table(), nvrtc.nvrtc(), {.cache = cache}), codes);
    EXPECT_THAT(nvrtc.texts, SizeIs(2));
    EXPECT_NE(cache->files.begin()->second, before);
    compile_all(*cuda_backend(0, driver.table(), no_nvrtc(), {.cache = cache}), codes);
}

TEST_F(CudaBinaries, TheRealCompilerMakesTheSameCodeAgain) {
#if defined(CAIRN_NVRTC_FOLDER)
    const auto nvrtc_of_toolkit = [] { return std::make_shared<Nvrtc>(LibraryFolders{CAIRN_NVRTC_FOLDER, ""}); };
    const auto code = [](const char* entry) {
        return DeviceCode{fmt::format("extern \"C\" __global__ void {}(float* x) {{ x[threadIdx.x] *= 2; }}\n", entry),
                          entry};
    };
    driver.on_module_load([](const void*, StandInKernels&) { return Result::success; });
    const auto cache = std::make_shared<MapCache>();
    const auto first = cuda_backend(0, driver.table(), nvrtc_of_toolkit());
    const auto second = cuda_backend(0, driver.table(), nvrtc_of_toolkit());
    const auto third = cuda_backend(0, driver.table(), nvrtc_of_toolkit(), {.cache = cache});
    const Binary kept = first->binary(compile_all(*first, {code("a"), code("b")})[0].get());
    EXPECT_EQ(*second->binary(compile_all(*second, {code("b"), code("a")})[0].get()), *kept);
    EXPECT_THAT(kept->compiler, ::testing::StartsWith("NVRTC 13."));
    compile_all(*third, {code("a"), code("b")});
    const auto files = cache->files;
    cache->files.clear();
    compile_all(*cuda_backend(0, driver.table(), nvrtc_of_toolkit(), {.cache = cache}), {code("a"), code("b")});
    ASSERT_THAT(files, SizeIs(2));
    for (const auto& [key, binary] : files) EXPECT_EQ(*cache->files.at(key), *binary);
#else
    EXPECT_THAT(message_of(ErrorKind::unsupported, [] { no_nvrtc()->version(); }), HasSubstr("cannot be opened"));
#endif
}

}  // namespace
}  // namespace cairn::device::cuda
