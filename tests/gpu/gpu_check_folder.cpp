#include "tests/gpu/gpu_check_folder.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

// gpu_test writes its report where it is told to, as GoogleTest does.
constexpr char gpu_test[] = R"(
for word in "$@"; do case $word in --gtest_output=json:*) report=${word#--gtest_output=json:};; esac; done
[ -z "$report" ] || echo '{"testsuites": [{"testsuite": [
    {"name": "One", "classname": "Suite", "time": "0.25s"}, {"name": "Two", "classname": "Suite", "time": "1s"}]}]}' >"$report"
echo "ran $*"
)";
// The logits of the GPU differ a little from those of the CPU.
constexpr char gpt2[] = R"(
case "$*" in
    *--synthetic*cuda*) echo '[1.00001, -2, 3]'; echo 'ids: 5 6';;
    *--synthetic*) echo '[1, -2, 3]'; echo 'ids: 5 6';;
    *) echo 'ROMEO:'; echo 'ids: 1 2 3';;
esac
)";
constexpr char distilbert[] = R"(
case "$*" in
    *cuda*) echo '{"text": "a", "label": "good", "logits": [1.5, -0.50001]}';;
    *) echo '{"text": "a", "label": "good", "logits": [1.5, -0.5]}';;
esac
)";
constexpr char model_bench[] = R"(
echo '{"median_ns": 250000, "profile": [{"seconds": 1e-4}, {"seconds": 5e-5}], "error": 1e-7, "instructions": 89,
    "first_logits_ns": 2e9}' | tr -d '\n'
)";
constexpr char torch_gpu[] = R"(import json, sys
print("a warning")
print(json.dumps({"ready": True, "prepared_s": 1.0}), flush=True)
for line in sys.stdin:
    print(json.dumps({"card_us": 500.0, "wall_us": 700.0, "error": 0.0, "torch": "2.11.0"}), flush=True)
)";

void copy_in(const std::string& name, const fs::path& root) {
    fs::create_directories((root / name).parent_path());
    fs::copy_file(fs::path(CAIRN_SOURCE_DIR) / name, root / name);
}

}  // namespace

GpuCheckFolder::GpuCheckFolder() : root(folder_ / "a repository") {
    copy_in("scripts/gpu_check", root);
    for (const auto& entry : fs::directory_iterator(fs::path(CAIRN_SOURCE_DIR) / "bench/gpu"))
        if (entry.path().extension() == ".py") copy_in("bench/gpu/" + entry.path().filename().string(), root);
    append("bench/gpu/models.py", "\n\ndef make(model, folder):\n    folder.mkdir()\n    return folder\n");
    file("bench/peers/torch_gpu.py", torch_gpu);
    file("modules/torch.py", "__version__ = '2.11.0'\n");
    program("tests/gpu/gpu_test", gpu_test);
    program("examples/gpt2", gpt2);
    program("examples/distilbert", distilbert);
    program("bench/model_bench", model_bench);
    program("bin/cairn", R"(echo '{"kind": "doctor", "name": "read", "value": "3.05 TB/s"}')");
    tool("nvidia-smi", "echo 'NVIDIA H100 80GB HBM3, 580.159.04, 81559 MiB, 1980 MHz'");
    tool("compute-sanitizer", "echo \"sanitized $*\"");
    for (const char* name : {"tr", "sleep", "head", "touch", "cat", "wc"}) {
        const fs::path system =
            fs::exists(fs::path("/bin") / name) ? fs::path("/bin") / name : fs::path("/usr/bin") / name;
        fs::create_symlink(system, root / "tools" / name);
    }
}

void GpuCheckFolder::script(const fs::path& path, const std::string& body) {
    fs::create_directories(path.parent_path());
    fs::remove(path);
    std::ofstream(path) << "#!/bin/sh\n" << body << '\n';
    fs::permissions(path, fs::perms::owner_all);
}

void GpuCheckFolder::file(const std::string& name, std::string_view text) const {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
}

void GpuCheckFolder::append(const std::string& name, std::string_view text) const {
    std::ofstream(root / name, std::ios::app) << text;
}

Outcome GpuCheckFolder::run(std::vector<std::string> arguments, std::vector<std::string> variables) const {
    arguments.insert(arguments.begin(), path("scripts/gpu_check"));
    variables.push_back("PATH=" + path("tools"));
    variables.push_back("PYTHONPATH=" + path("modules"));
    return test::run(CAIRN_PYTHON, arguments, {.variables = std::move(variables)});
}

Outcome GpuCheckFolder::check(std::vector<std::string> arguments) const {
    const Outcome packed = run({"pack"});
    EXPECT_TRUE(succeeds(packed)) << "pack";
    fs::remove_all(root / "build/release");
    return run(std::move(arguments));
}

std::vector<nlohmann::json> results_of(const std::string& output) {
    std::vector<nlohmann::json> results;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line) && !line.empty();) {
        results.push_back(nlohmann::json::parse(line, nullptr, false));
        const nlohmann::json& result = results.back();
        EXPECT_TRUE(result.is_object()) << line.substr(0, 500);
        for (const char* field : {"stage", "name", "status", "seconds", "card", "driver", "date", "detail"})
            EXPECT_TRUE(result.is_object() && result.contains(field)) << field << " in " << line.substr(0, 500);
        EXPECT_LE(line.size(), 12000U);
    }
    return results;
}

std::string table_of(const std::string& output) {
    const auto at = output.find("\n\n");
    return at == output.npos ? std::string() : output.substr(at + 2);
}

std::vector<std::string> statuses(const std::vector<nlohmann::json>& results, const std::string& stage,
                                  const std::string& name) {
    std::vector<std::string> found;
    for (const nlohmann::json& result : results)
        if (result.value("stage", "") == stage && (name.empty() || result.value("name", "") == name))
            found.push_back(result.value("status", ""));
    return found;
}

}  // namespace cairn::test
