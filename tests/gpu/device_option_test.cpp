#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

// The programs with `--device`: on drivers that cannot be used, and on the emulated device.
namespace cairn::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

struct Program {
    const char* path;
    std::vector<std::string> arguments;
};

const std::vector<Program> programs = {
    {CAIRN_GPT2, {"--prompt", "ROMEO:", "--greedy", "--tokens", "2", "--no-progress", "--mode", "off"}},
    {CAIRN_DISTILBERT, {"A film.", "--no-progress", "--mode", "off"}},
    {CAIRN_MODEL_BENCH,
     {"--model", "gpt2", "--length", "3", "--iterations", "1", "--mode", "off", "--references", "1",
      "--no-dependent-launches"}},
    {CAIRN_COMMAND, {"doctor"}},
};

Outcome run_on(const std::string& device, const Program& program, std::vector<std::string> variables) {
    std::vector<std::string> arguments = program.arguments;
    arguments.insert(arguments.end(), {"--device", device});
    return run(program.path, arguments, {.variables = std::move(variables)});
}

/// A folder in which the loader finds a file as the driver.
class DriverFolder {
public:
    explicit DriverFolder(const fs::path& driver) { fs::create_symlink(driver, folder_ / "libcuda.so.1"); }
    std::string variable() const { return "LD_LIBRARY_PATH=" + folder_.path().string(); }

private:
    TempFolder folder_;
};

const std::string emulated = std::string("LD_LIBRARY_PATH=") + CAIRN_EMULATED_LIBRARIES;

TEST(DeviceOption, ADriverThatCannotBeUsedIsRefusedInOneSentence) {
    const TempFolder folder;
    const DriverFolder text(folder.write("text", "no library")), fake(CAIRN_FAKE_DRIVER),
        lacking(CAIRN_FAKE_DRIVER_WITHOUT_LAUNCH);
    struct Case {
        const DriverFolder& folder;
        std::string variable, device;
        std::vector<std::string> words;
    };
    const std::vector<Case> cases = {
        {text, "A=", "cuda", {"[cuda] the CUDA driver cannot be opened", "libcuda.so.1"}},
        {fake, "CAIRN_FAKE_INIT_RESULT=34", "cuda", {"is the stub library of a CUDA toolkit"}},
        {fake, "CAIRN_FAKE_INIT_RESULT=100", "cuda", {"[cuda] the CUDA driver finds no device"}},
        {fake, "CAIRN_FAKE_DEVICES=0", "cuda", {"[cuda] the CUDA driver finds no device"}},
        {fake, "CAIRN_FAKE_VERSION=12080", "cuda", {"supports CUDA 12.8, but 13.0 or later is needed"}},
        {fake, "CAIRN_FAKE_DEVICES=2", "cuda:2", {"there is no device cuda:2: the CUDA driver finds 2 devices"}},
        {lacking, "A=", "cuda", {"lacks the function cuLaunchKernelEx"}},
        {text, "A=", "gpu", {"there is no device \"gpu\""}},
    };
    for (const Program& program : programs)
        for (const Case& each : cases)
            EXPECT_TRUE(refuses(run_on(each.device, program, {each.folder.variable(), each.variable}), each.words))
                << program.path << ' ' << each.variable;
}

TEST(DeviceOption, AutoTakesTheCpuThen) {
    const DriverFolder fake(CAIRN_FAKE_DRIVER);
    const Program& gpt2 = programs[0];
    const Outcome on_cpu = run_on("cpu", gpt2, {}),
                  chosen = run_on("auto", gpt2, {fake.variable(), "CAIRN_FAKE_DEVICES=0"});
    EXPECT_TRUE(succeeds(on_cpu));
    EXPECT_TRUE(succeeds(chosen));
    EXPECT_EQ(chosen.out, on_cpu.out);
}

TEST(DeviceOption, ProgramsRunOnTheEmulatedDevice) {
    for (const Program& program : programs) EXPECT_TRUE(succeeds(run_on("cuda", program, {emulated}))) << program.path;
}

TEST(DeviceOption, AModelThatDoesNotFitNamesTheBytes) {
    const TempFolder folder;
    const Program gpt2{CAIRN_GPT2,
                       {"--synthetic", "--prompt-ids", folder.write("ids", "[1, 2]\n").string(), "--tokens", "1",
                        "--no-progress", "--mode", "off"}};
    EXPECT_TRUE(refuses(run_on("cuda", gpt2, {emulated, "CAIRN_EMULATED_BYTES=1000000"}),
                        {"bytes are needed on cuda:0, but ", " of 1000000 bytes are free"}));
}

#if !defined(CAIRN_SANITIZED)  // its programs are larger than a pack may be
// The script with the programs themselves: they understand its options, and pass.
TEST(DeviceOption, GpuCheckRunsThePrograms) {
    const TempFolder folder;
    const fs::path root = folder / "repository", source = CAIRN_SOURCE_DIR;
    for (const char* copied : {"scripts", "bench"}) {
        fs::create_directories(root / copied);
        fs::copy(source / copied, root / copied, fs::copy_options::recursive);
    }
    for (const char* linked : {"examples", "tests"}) fs::create_symlink(source / linked, root / linked);
    const fs::path smi = folder.write("nvidia-smi", "#!/bin/sh\necho 'emulated, 13.0, 1024 MiB, 1 MHz'\n");
    fs::permissions(smi, fs::perms::owner_all);
    const char* const path = std::getenv("PATH");
    const auto gpu_check = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), (root / "scripts/gpu_check").string());
        return run(
            CAIRN_PYTHON, arguments,
            {.variables = {emulated, "CAIRN_EMULATED_CUBLASLT=1", "GTEST_FILTER=*ABlockOfATransformer*",
                           "PATH=" + folder.path().string() + ":" + (path != nullptr ? path : "/usr/bin:/bin")}});
    };
    ASSERT_TRUE(succeeds(gpu_check({"pack", "--build", CAIRN_BINARY_DIR})));
    EXPECT_LT(fs::file_size(root / "build/gpu_check/programs.tar.xz"), 20'000'000U);
    // The limits of the stages are for a GPU; the emulator is slower.
    const Outcome outcome =
        gpu_check({"quick", "--small", "--limit", "2000", "--only", "tests,programs,ceilings,bench"});
    EXPECT_TRUE(succeeds(outcome));
    std::vector<std::string> passed;
    for (const std::string& line : lines_of(outcome.out.substr(0, outcome.out.find("\n\n")))) {
        const json result = json::parse(line, nullptr, false);
        ASSERT_TRUE(result.is_object()) << line;
        EXPECT_EQ(result["status"], "ok") << line;
        passed.push_back(result["stage"].get<std::string>());
    }
    EXPECT_EQ(std::count(passed.begin(), passed.end(), "tests"), 3);
    EXPECT_EQ(std::count(passed.begin(), passed.end(), "programs"), 2);
    EXPECT_EQ(std::count(passed.begin(), passed.end(), "bench"), 3);
}
#endif

}  // namespace
}  // namespace cairn::test
