#include "cairn/cairn.hpp"
#include "runtime/compiled_graph.hpp"
#include "runtime/digest_line.hpp"
#include "runtime/kernel_binary_text.hpp"
#include "tests/driver/cuda_test_device.hpp"
#include "tests/errors/message.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// Machine code is kept with a saved program or in a folder: on a CUDA device, emulated, or in gpu_test a GPU.
namespace cairn::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Graph layer() {
    Graph g("layer");
    const Dim n = g.symbol("N", 1, 12);
    const Tensor x = g.input("x", DType::f32, {n, 32});
    g.output("y", softmax(gelu(matmul(x, g.weight("w", DType::f32, {32, 16})))));
    return g;
}

std::string read_whole(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class SavedCode : public testing::Test {
protected:
    /// Options of a process that may have no NVRTC.
    ContextOptions process(bool has_nvrtc, const std::filesystem::path& kernel_cache = {}) {
        log.clear();
        ContextOptions options;
        options.threads = threads;
        if (!has_nvrtc) options.cuda_libraries = folder / "no_libraries";
        options.kernel_cache = kernel_cache;
        options.log = [this](LogLevel, std::string_view line) { log.emplace_back(line); };
        return options;
    }
    static std::vector<float> run(CompiledGraph& compiled) {
        const std::vector<float> w(std::size_t{32} * 16, 0.01F);
        InputView view;
        view.data = w.data();
        view.shape = {32, 16};
        compiled.bind([&](std::string_view) { return view; });
        std::vector<float> x(std::size_t{7} * 32);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
        compiled.set("x", x.data(), {7, 32});
        compiled.run();
        const auto y = compiled.output("y").as<float>();
        return {y.begin(), y.end()};
    }
    /// Compiles on a device of its own, saves, and gives what a run computes.
    std::vector<float> save(const std::filesystem::path& path) {
        TestDevice device;
        CompiledGraph made = compile(layer(), device.process_context(process(true)));
        made.save(path);
        EXPECT_THAT(made.program(), AllOf(HasSubstr("on cuda"), Not(HasSubstr("# code"))));
        return run(made);
    }
    /// Loads on a device of its own and runs.
    std::vector<float> load(const std::filesystem::path& path, bool has_nvrtc) {
        TestDevice device;
        const Context context = device.process_context(process(has_nvrtc));
        CompiledGraph loaded = CompiledGraph::load(path, context);
        return run(loaded);
    }

    const TempFolder folder;
    int threads = 1;  // of each process
    std::vector<std::string> log;
};

TEST_F(SavedCode, IsLoadedWithoutNvrtc) {
    const std::vector<float> wanted = save(folder / "m");
    EXPECT_THAT(read_whole(folder / "m"), HasSubstr("\n# code sm_"));
    EXPECT_THAT(verify_checksums(folder / "m"), IsEmpty());
    EXPECT_EQ(load(folder / "m", false), wanted);
    EXPECT_THAT(log, IsEmpty());
    TestDevice device;
    const CompiledGraph loaded = CompiledGraph::load(folder / "m", device.process_context(process(false)));
    loaded.save(folder / "again");
    EXPECT_EQ(read_whole(folder / "again"), read_whole(folder / "m")) << "what was loaded is saved";
}

TEST_F(SavedCode, MayBeOfSeveralPrograms) {
    const std::vector<float> wanted = save(folder / "one");
    threads = 2;
    EXPECT_EQ(save(folder / "two"), wanted);
    const auto programs = [&](const char* file) {
        const std::string saved = read_whole(folder / file);
        std::size_t count = 0;
        for (std::size_t at = saved.find("\n# code sm_"); at != saved.npos; at = saved.find("\n# code sm_", at + 1))
            ++count;
        return count;
    };
    EXPECT_EQ(programs("one"), 1U);
    EXPECT_EQ(programs("two"), 2U);
    EXPECT_EQ(load(folder / "two", false), wanted);
    EXPECT_THAT(log, IsEmpty());
    TestDevice device;
    const CompiledGraph loaded = CompiledGraph::load(folder / "two", device.process_context(process(false)));
    loaded.save(folder / "again");
    EXPECT_EQ(read_whole(folder / "again"), read_whole(folder / "two"));
}

TEST_F(SavedCode, IsCompiledAgainIfItIsDamaged) {
    const std::vector<float> wanted = save(folder / "m");
    const std::string whole = read_whole(folder / "m");
    const std::size_t code = runtime::parts_of_saved(whole).programs.size();
    ASSERT_LT(code + 200, whole.size());
    const auto damage = [&](std::size_t at) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 1);
        return damaged;
    };
    for (const std::string& bytes : {damage(code), damage(code + 3), damage(code + 150), damage(whole.size() - 1),
                                     whole.substr(0, code + 100), whole.substr(0, code)}) {
        const std::filesystem::path path = folder.write("damaged", bytes);
        EXPECT_THAT(verify_checksums(path), testing::SizeIs(bytes.size() == code ? 0 : 1));
        EXPECT_EQ(load(path, true), wanted);
        EXPECT_THAT(log, ElementsAre(HasSubstr("holds no machine code of ")));
        EXPECT_THAT(message([&] { load(path, false); }),
                    HasSubstr("NVRTC, the compiler of CUDA kernels, cannot be opened"));
    }
    EXPECT_THAT(message([&] { load(folder.write("damaged", damage(code - 2)), true); }),
                HasSubstr("is damaged or not a compiled graph"))
        << "programs are needed";
}

TEST_F(SavedCode, ForAnotherDeviceIsCompiledAgain) {
    const std::vector<float> wanted = save(folder / "m");
    const std::string whole = read_whole(folder / "m");
    const runtime::SavedText parts = runtime::parts_of_saved(whole);
    std::string changed(parts.programs);
    for (const auto& binary : runtime::parse_kernel_binaries(parts.code).binaries) {
        device::KernelBinary other = *binary;
        for (std::string& key : other.keys) key.assign(32, '0');
        other.architecture = "sm_70";
        other.device = "Another card";
        changed += runtime::to_string(other);
    }
    const std::filesystem::path path = folder.write("other", changed);
    EXPECT_EQ(load(path, true), wanted);
    EXPECT_THAT(log, ElementsAre(HasSubstr("holds no machine code of ")));
    EXPECT_THAT(message([&] { load(path, false); }), HasSubstr("saved with code for Another card (sm_70); NVRTC"));
}

TEST_F(SavedCode, IsWithACachedGraphToo) {
    const CompileOptions options{.cache_file = folder / "m"};
    std::vector<float> wanted;
    {
        TestDevice device;
        CompiledGraph made = compile(layer(), device.process_context(process(true)), options);
        wanted = run(made);
    }
    const std::string whole = read_whole(folder / "m");
    const std::size_t code = runtime::parts_of_saved(whole).programs.size();
    const auto start = [&](bool has_nvrtc) {
        TestDevice device;
        CompiledGraph kept = compile(layer(), device.process_context(process(has_nvrtc)), options);
        EXPECT_EQ(run(kept), wanted);
    };
    start(false);
    EXPECT_THAT(log, IsEmpty());
    // Without code, or with damaged code, it is compiled and the file is written again.
    for (const std::string& bytes : {whole.substr(0, code), whole.substr(0, whole.size() - 50)}) {
        folder.write("m", bytes);
        start(true);
        EXPECT_THAT(log, ElementsAre(HasSubstr("holds no machine code of ")));
        EXPECT_EQ(read_whole(folder / "m"), whole);
        start(false);
        EXPECT_THAT(log, IsEmpty());
    }
}

TEST_F(SavedCode, OfAProgramOfTheCpuIsNone) {
    const CompiledGraph compiled = compile(layer(), Context());
    compiled.save(folder / "m");
    EXPECT_EQ(read_whole(folder / "m"), runtime::with_digest_line(compiled.program()));
}

TEST_F(SavedCode, AFolderServesProcessesThatCompileTheSameKernels) {
    const std::filesystem::path cache = folder / "kernels";
    std::filesystem::create_directory(cache);
    const auto start = [&](bool has_nvrtc) {
        TestDevice device;
        CompiledGraph compiled = compile(layer(), device.process_context(process(has_nvrtc, cache)));
        return run(compiled);
    };
    const std::vector<float> wanted = start(true);
    const auto files = std::distance(std::filesystem::directory_iterator(cache), {});
    EXPECT_GT(files, 0);
    EXPECT_EQ(start(false), wanted);
    EXPECT_THAT(log, IsEmpty());
    // One damaged file costs one kernel.
    const std::filesystem::path file = std::filesystem::directory_iterator(cache)->path();
    std::filesystem::resize_file(file, 100);
    EXPECT_THAT(message([&] { start(false); }), HasSubstr("cannot be opened"));
    EXPECT_EQ(start(true), wanted);
    EXPECT_EQ(start(false), wanted);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(cache), {}), files);
}

}  // namespace
}  // namespace cairn::test
