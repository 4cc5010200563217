#include "tests/gpu/gpu_check_folder.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

// scripts/gpu_check with fake programs.
namespace cairn::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr int no_device = 77;

std::vector<json> of_stage(const std::vector<json>& results, const std::string& stage) {
    std::vector<json> found;
    for (const json& result : results)
        if (result["stage"] == stage) found.push_back(result);
    return found;
}

/// True if a process has ended, although it may still have to be reaped.
bool has_ended(pid_t pid) {
    std::ifstream state("/proc/" + std::to_string(pid) + "/stat");
    const std::string text((std::istreambuf_iterator<char>(state)), {});
    return text.empty() || text.find(") Z ") != std::string::npos;
}

class GpuCheck : public testing::Test {
protected:
    /// Results of a run that must end with this code.
    std::vector<json> results(int code, const std::vector<std::string>& arguments) {
        outcome = folder.check(arguments);
        EXPECT_EQ(outcome.exit_code, code) << outcome.out.substr(0, 4000) << outcome.err.substr(0, 4000);
        EXPECT_EQ(outcome.err, "");
        return results_of(outcome.out);
    }

    GpuCheckFolder folder;
    Outcome outcome;
};

TEST_F(GpuCheck, QuickRunsItsStagesAndNamesCardAndDriver) {
    const std::vector<json> all = results(0, {"quick"});
    for (const json& result : all) {
        EXPECT_EQ(result["status"], "ok") << result;
        EXPECT_EQ(result["card"], "NVIDIA H100 80GB HBM3");
        EXPECT_EQ(result["driver"], "580.159.04");
        EXPECT_THAT(result["date"].get<std::string>(), testing::ContainsRegex("^[0-9]{4}-[0-9]{2}-[0-9]{2}T"));
    }
    EXPECT_THAT(statuses(all, "facts"), SizeIs(3));
    EXPECT_THAT(statuses(all, "tests", "Suite.One"), ElementsAre("ok"));
    EXPECT_THAT(statuses(all, "tests", "Suite.Two"), ElementsAre("ok"));
    EXPECT_THAT(statuses(all, "tests", "gpu_test"), ElementsAre("ok"));
    EXPECT_THAT(statuses(all, "tests", "kernels of cuBLASLt"), ElementsAre("ok"));
    EXPECT_THAT(statuses(all, "programs"), SizeIs(3));
    EXPECT_THAT(statuses(all, "sanitizer"), IsEmpty());
    ASSERT_THAT(statuses(all, "ceilings"), SizeIs(1));
    EXPECT_EQ(of_stage(all, "ceilings")[0]["rates"][0]["value"], "3.05 TB/s");
    const std::vector<json> bench = of_stage(all, "bench"), torch = of_stage(all, "torch");
    ASSERT_THAT(bench, SizeIs(13));
    EXPECT_THAT(torch, SizeIs(12));
    EXPECT_EQ(bench[0]["wall_us"], 250);
    EXPECT_NEAR(bench[0]["card_us"].get<double>(), 150, 1e-6);
    EXPECT_EQ(bench[0]["instructions"], 89);
    EXPECT_EQ(bench.back()["name"], "gpt2-step-128, no dependent launches");
    EXPECT_EQ(bench[0]["precision"], "f32");
    EXPECT_EQ(bench[1]["precision"], "f16");
    EXPECT_THAT(statuses(all, "measured"), SizeIs(12));
    EXPECT_EQ(all.back()["stage"], "measured") << "in what time is left";
    EXPECT_EQ(torch[0]["card_us"], 500);
    EXPECT_EQ(torch[0]["mode"], "captured");
}

TEST_F(GpuCheck, TheTableComesLast) {
    results(0, {"quick"});
    const std::string table = table_of(outcome.out);
    EXPECT_THAT(table, HasSubstr("tests     gpu_test"));
    EXPECT_THAT(table,
                testing::ContainsRegex(
                    "gpt2-step-128 +150 \\(250\\)( measured)? +150 \\(250\\)( measured)? +500 \\(700\\) captured +- "
                    "+500 \\(700\\)"));
    EXPECT_THAT(table, HasSubstr("2.80x")) << "700 / 250";
    EXPECT_THAT(table, Not(HasSubstr("bench "))) << "what succeeds has a time";
    EXPECT_EQ(read_file(folder.path("build/gpu_check/out/table.txt")), table);
    EXPECT_EQ(read_file(folder.path("build/gpu_check/out/results.jsonl")) + "\n" + table, outcome.out);
    EXPECT_THAT(read_file(folder.path("build/gpu_check/out/log.txt")),
                AllOf(HasSubstr("==== gpu_test\nran --gtest_brief=1"), HasSubstr("==== bench gpt2-step-128 f32\n")));
}

TEST_F(GpuCheck, FullTakesTurnsWithPyTorchAndSanitizes) {
    const std::vector<json> all = results(0, {"full"});
    EXPECT_THAT(statuses(all, "sanitizer"), ElementsAre("ok", "ok"));
    EXPECT_THAT(statuses(all, "bench"), SizeIs(26));
    EXPECT_THAT(statuses(all, "torch"), SizeIs(6 * 9 * 2));
    std::set<std::string> rows;
    std::vector<std::string> turns;  // of one work: engine and turn, where it changes
    for (const json& result : all) {
        if (result["stage"] == "torch")
            rows.insert(result["name"].get<std::string>() + ' ' + result["precision"].get<std::string>() + ' ' +
                        result["mode"].get<std::string>());
        if (result["name"] != "distilbert-8x128" || result["stage"] == "measured") continue;
        const std::string turn = result["engine"].get<std::string>() + ' ' + std::to_string(result["turn"].get<int>());
        if (turns.empty() || turns.back() != turn) turns.push_back(turn);
    }
    EXPECT_THAT(rows, SizeIs(54));
    EXPECT_THAT(turns, ElementsAre("Cairn 1", "PyTorch 1", "Cairn 2", "PyTorch 2"));
    EXPECT_THAT(read_file(folder.path("build/gpu_check/out/log.txt")), HasSubstr("sanitized --tool racecheck"));
}

TEST_F(GpuCheck, WithoutADeviceStagesAreSkippedAndNothingRuns) {
    const std::string marker = folder.path("ran");
    for (const char* program :
         {"tests/gpu/gpu_test", "examples/gpt2", "examples/distilbert", "bench/model_bench", "bin/cairn"})
        folder.program(program, "touch '" + marker + "'");
    folder.file("bench/peers/torch_gpu.py", "open(" + json(marker).dump() + ", 'w')\n");
    ASSERT_TRUE(succeeds(folder.run({"pack"})));
    for (const char* body : {"echo 'no devices were found'; exit 6", "exit 0", "echo; exit 0", "echo 'a line'", ""}) {
        folder.tool("nvidia-smi", body);
        if (*body == '\0') std::filesystem::remove(folder.root / "tools/nvidia-smi");
        for (const char* command : {"quick", "full"}) {
            outcome = folder.run({command});
            EXPECT_EQ(outcome.exit_code, no_device) << body;
            const std::vector<json> all = results_of(outcome.out);
            EXPECT_EQ(all.size(), command == std::string("full") ? 8U : 7U);
            for (const json& result : all) {
                EXPECT_EQ(result["status"], "skipped") << result;
                EXPECT_THAT(result["detail"].get<std::string>(), HasSubstr("there is no GPU"));
                EXPECT_TRUE(result["card"].is_null());
            }
            EXPECT_THAT(table_of(outcome.out), AllOf(HasSubstr("skipped"), Not(HasSubstr(" ok "))));
        }
    }
    EXPECT_FALSE(std::filesystem::exists(marker));
}

struct Fault {
    const char *program, *body, *stage, *name, *status;
};

// What a test does wrong is told by the exit code, and the other stages run.
TEST_F(GpuCheck, EachFaultOfATestIsTheExitCode) {
    const std::string report =
        R"(for word in "$@"; do case $word in --gtest_output=json:*) r=${word#--gtest_output=json:};; esac; done
)";
    const std::string one_failed = report + R"(cat >"$r" <<'END'
{"testsuites": [{"testsuite": [{"name": "N", "classname": "C", "time": "0s",
    "failures": [{"failure": "a \"quoted\"\nreason"}]}]}]}
END
exit 1)";
    const std::vector<Fault> faults = {
        {"tests/gpu/gpu_test", one_failed.c_str(), "tests", "C.N", "failed"},
        {"tests/gpu/gpu_test", "exit 1", "tests", "gpu_test", "failed"},
        {"tests/gpu/gpu_test", "kill -9 $$", "tests", "gpu_test", "failed"},
        {"tests/gpu/gpu_test", "exit 0", "tests", "gpu_test", "failed"},  // and no test ran
        {"bin/cairn", "exit 1", "tests", "kernels of cuBLASLt", "failed"},
        {"examples/gpt2", "exit 2", "programs", "text of the bundled GPT-2", "failed"},
        {"examples/gpt2", "exit 0", "programs", "text of the bundled GPT-2", "failed"},  // and printed nothing
        {"examples/gpt2", "case \"$*\" in *cuda*) echo a;; *) echo b;; esac", "programs", "text of the bundled GPT-2",
         "failed"},
        {"examples/gpt2", "case \"$*\" in *cuda*) echo '[1, NaN]';; *) echo '[1, 2]';; esac", "programs",
         "logits and 16 tokens of GPT-2 124M", "failed"},
        {"examples/gpt2", "echo '[1, 2]'; case \"$*\" in *cuda*) echo 'ids: 1';; *) echo 'ids: 2';; esac", "programs",
         "logits and 16 tokens of GPT-2 124M", "failed"},
        {"examples/distilbert",
         "case \"$*\" in *cuda*) echo '{\"logits\": [1.1]}';; *) echo '{\"logits\": [1]}';; esac", "programs",
         "logits of the bundled DistilBERT", "failed"},
        {"examples/distilbert",
         "case \"$*\" in *cuda*) echo '{\"logits\": [1, 2]}';; *) echo '{\"logits\": [1]}';; esac", "programs",
         "logits of the bundled DistilBERT", "failed"},
    };
    for (const Fault& fault : faults) {
        const GpuCheckFolder own;
        own.program(fault.program, fault.body);
        const Outcome ended = own.check({"quick", "--only", "tests,programs,bench"});
        EXPECT_EQ(ended.exit_code, 1) << fault.body;
        const std::vector<json> all = results_of(ended.out);
        EXPECT_THAT(statuses(all, fault.stage, fault.name), ElementsAre(fault.status)) << fault.body << ended.out;
        EXPECT_THAT(statuses(all, "bench"), AllOf(SizeIs(13), Each("ok")));
        EXPECT_THAT(table_of(ended.out), HasSubstr(fault.status));
    }
}

TEST_F(GpuCheck, ASanitizerThatFindsFaultsFailsAndOneThatCannotRunDoesNot) {
    folder.tool("compute-sanitizer", "echo 'ERROR SUMMARY: 3 errors'; exit 9");
    std::vector<json> all = results(1, {"full", "--only", "sanitizer"});
    EXPECT_THAT(statuses(all, "sanitizer"), ElementsAre("failed", "failed"));
    EXPECT_THAT(all.back()["detail"].get<std::string>(), AllOf(HasSubstr("exit code 9"), HasSubstr("3 errors")));
    folder.tool("compute-sanitizer", "echo '========= Error: Device not supported' >&2; exit 255");
    outcome = folder.run({"full", "--only", "sanitizer"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(statuses(results_of(outcome.out), "sanitizer"), ElementsAre("skipped", "skipped"));
}

// Benchmarks, ceilings and PyTorch do not decide on the exit code.
TEST_F(GpuCheck, ABenchmarkThatFailsIsNoFailedTest) {
    folder.file("bench/peers/torch_gpu.py", R"(import json, sys
if "f16" in sys.argv: sys.exit("cannot be imported")
if "gpt2-step-128" in sys.argv: print(json.dumps({"fault": "OutOfMemoryError: \"a\""}), flush=True)
else: print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin: print(json.dumps({"card_us": float("nan"), "wall_us": float("inf")}), flush=True)
)");
    for (const char* body : {"exit 3", "exit 0", "echo text", "echo '{\"median_ns\": \"text\"}'", "echo '[1]'"}) {
        const GpuCheckFolder own;
        own.program("bench/model_bench", body);
        const Outcome ended = own.check({"quick", "--only", "bench"});
        EXPECT_EQ(ended.exit_code, 0) << body;
        EXPECT_THAT(statuses(results_of(ended.out), "bench"), AllOf(SizeIs(13), Each("failed"))) << body;
    }
    folder.program("bin/cairn", R"([ "$1" != doctor ])");
    const std::vector<json> all = results(0, {"quick"});
    EXPECT_THAT(statuses(all, "ceilings"), ElementsAre("failed"));
    std::size_t failed = 0;
    for (const json& row : of_stage(all, "torch")) {
        const bool fails = row["precision"] == "f16" || row["name"] == "gpt2-step-128";
        EXPECT_EQ(row["status"], fails ? "failed" : "ok") << row;
        if (!fails) { EXPECT_EQ(row["card_us"], "nan"); }
        failed += fails ? 1 : 0;
    }
    EXPECT_EQ(failed, 7U);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("cannot be imported"), HasSubstr("OutOfMemoryError")));
}

TEST_F(GpuCheck, WithoutPyTorchItsRowsAreLeftOut) {
    folder.file("modules/torch.py", "raise ImportError('none here')\n");
    const std::vector<json> all = results(0, {"quick"});
    EXPECT_THAT(statuses(all, "facts", "PyTorch"), ElementsAre("skipped"));
    EXPECT_THAT(statuses(all, "torch"), IsEmpty());
    EXPECT_THAT(statuses(all, "bench"), SizeIs(13));
}

TEST_F(GpuCheck, WhateverAProgramPrintsIsOneLineOfJson) {
    const char* const texts[] = {
        R"(printf 'a "quoted" text\\ with \\n and \t tabs\nand lines\r\n')",
        R"(printf '\377\376 no UTF-8 \000\001\033[31m')",
        R"(i=0; while [ $i -lt 2000 ]; do echo "line $i of a text that is longer than what is kept of it"; i=$((i+1)); done)",
        "head -c 300000 /dev/zero",
        "",
    };
    for (const char* text : texts)
        for (const char* redirected : {"", " >&2"}) {
            const GpuCheckFolder own;
            own.program("bin/cairn", "{ " + std::string(*text == '\0' ? ":" : text) + "\n}" + redirected + "; exit 5");
            const Outcome ended = own.check({"quick", "--only", "ceilings"});
            EXPECT_EQ(ended.exit_code, 0);
            const std::vector<json> all = results_of(ended.out);
            ASSERT_THAT(statuses(all, "ceilings"), ElementsAre("failed")) << text;
            const auto detail = all.back()["detail"].get<std::string>();
            EXPECT_THAT(detail, HasSubstr("exit code 5"));
            EXPECT_LE(detail.size(), 6000U) << "bytes of at most 1500 characters";
        }
}

// The limits are in proportion to that of the whole: 3 s here.
TEST_F(GpuCheck, WhatHangsIsEndedWithAllThatItHasStarted) {
    const std::string pids = folder.path("pids");
    const std::string hangs = "sleep 1000 & echo $! >>'" + pids + "'; echo $$ >>'" + pids + "'; sleep 1000";
    for (const char* program : {"tests/gpu/gpu_test", "examples/gpt2", "examples/distilbert"})
        folder.program(program, hangs);
    folder.file("bench/peers/torch_gpu.py",
                "import os, time\nopen(" + json(pids).dump() + ", 'a').write(f'{os.getpid()}\\n')\ntime.sleep(1000)\n");
    const std::vector<json> all = results(1, {"quick", "--limit", "3"});
    EXPECT_THAT(statuses(all, "tests", "gpu_test"), ElementsAre("timeout"));
    EXPECT_THAT(statuses(all, "programs"), Not(Contains("ok")));
    EXPECT_THAT(statuses(all, "bench"), SizeIs(13));
    EXPECT_THAT(statuses(all, "torch"), AllOf(SizeIs(12), Not(Contains("ok"))));
    std::ifstream file(pids);
    int started = 0;
    for (pid_t pid = 0; file >> pid; ++started) EXPECT_TRUE(has_ended(pid)) << pid;
    EXPECT_GE(started, 3);
}

TEST_F(GpuCheck, TestsThatHangLeaveTimeForBenchmarksAndPyTorch) {
    for (const char* program : {"tests/gpu/gpu_test", "examples/gpt2", "examples/distilbert"})
        folder.program(program, "sleep 1000");
    const std::vector<json> all = results(1, {"quick", "--limit", "15"});
    EXPECT_THAT(statuses(all, "tests"), ElementsAre("timeout", "ok"));
    EXPECT_THAT(statuses(all, "programs"), AllOf(SizeIs(3), Each("timeout")));
    EXPECT_THAT(statuses(all, "bench"), AllOf(SizeIs(13), Each("ok")));
    EXPECT_THAT(statuses(all, "torch"), AllOf(SizeIs(12), Each("ok")));
}

// The test ends when all rows have been started, of which only some are prepared at once.
TEST_F(GpuCheck, RowsOfPyTorchArePreparedWhileTestsRun) {
    const std::string started = folder.path("started");
    folder.file("started", "");
    folder.file("bench/peers/torch_gpu.py", "import json, sys, time\nopen(" + json(started).dump() +
                                                R"(, 'a').write('row\n')
time.sleep(0.1)
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin: print(json.dumps({"card_us": 5.0, "wall_us": 7.0}), flush=True)
)");
    folder.program("tests/gpu/gpu_test", "while [ $(wc -l <'" + started + R"(') -lt 12 ]; do sleep 0.02; done
for word in "$@"; do case $word in --gtest_output=json:*) report=${word#--gtest_output=json:};; esac; done
echo '{"testsuites": [{"testsuite": [{"name": "One", "classname": "Suite"}]}]}' >"$report")");
    const std::vector<json> all = results(0, {"quick", "--only", "tests,torch"});
    EXPECT_THAT(statuses(all, "tests"), ElementsAre("ok", "ok", "ok"));
    EXPECT_THAT(statuses(all, "torch"), AllOf(SizeIs(12), Each("ok")));
}

TEST_F(GpuCheck, ARowOfPyTorchThatHangsCostsOnlyItsLimit) {
    folder.file("bench/peers/torch_gpu.py", R"(import json, sys, time
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    if sys.argv[1:3] == ["gpt2-prompt-128", "f32"]: time.sleep(1000)
    print(json.dumps({"card_us": 5.0, "wall_us": 7.0}), flush=True)
)");
    const std::vector<json> all = results(0, {"quick", "--only", "torch", "--limit", "30"});
    for (const json& row : of_stage(all, "torch")) {
        const bool hangs = row["name"] == "gpt2-prompt-128" && row["precision"] == "f32";
        EXPECT_EQ(row["status"], hangs ? "failed" : "ok") << row;
        if (hangs) { EXPECT_THAT(row["detail"].get<std::string>(), HasSubstr("gave no answer within")); }
    }
    EXPECT_THAT(statuses(all, "torch"), SizeIs(12));
}

TEST_F(GpuCheck, SigtermEndsWhatRuns) {
    const std::string pid = folder.path("pid");
    folder.program("tests/gpu/gpu_test", "echo $$ >'" + pid + "'; sleep 1000");
    ASSERT_TRUE(succeeds(folder.run({"pack"})));
    const std::string script = "PATH='" + folder.path("tools") + "' '" + CAIRN_PYTHON + "' '" +
                               folder.path("scripts/gpu_check") + "' quick --only tests & p=$!\nwhile [ ! -s '" + pid +
                               "' ]; do /bin/sleep 0.05; done\nkill -TERM $p\nwait $p\necho \"code $?\"\n";
    const Outcome ended = run("/bin/sh", {"-c", script});
    EXPECT_THAT(ended.out, HasSubstr("code 143\n"));
    std::ifstream file(pid);
    pid_t started = 0;
    ASSERT_TRUE(file >> started);
    EXPECT_TRUE(has_ended(started));
}

TEST_F(GpuCheck, AFaultOfTheScriptEndsOneStageAlone) {
    folder.append("bench/gpu/timings.py", "\n\ndef run_ceilings(programs):\n    raise KeyError('a fault')\n");
    const std::vector<json> all = results(0, {"quick"});
    EXPECT_THAT(statuses(all, "ceilings"), ElementsAre("failed"));
    EXPECT_THAT(of_stage(all, "ceilings")[0]["detail"].get<std::string>(), HasSubstr("KeyError: 'a fault'"));
    EXPECT_THAT(statuses(all, "bench"), AllOf(SizeIs(13), Each("ok")));
}

TEST_F(GpuCheck, ASecondRunReplacesTheResults) {
    const std::string results_file = folder.path("some where/results.jsonl");
    const std::vector<json> first = results(0, {"quick", folder.path("some where")});
    EXPECT_THAT(results_of(read_file(results_file)), SizeIs(first.size()));
    folder.append("some where/results.jsonl", "no JSON");
    outcome = folder.run({"quick", folder.path("some where"), "--only", "ceilings"});
    EXPECT_EQ(outcome.exit_code, 0);
    const std::vector<json> second = results_of(read_file(results_file));
    EXPECT_EQ(second.size(), results_of(outcome.out).size());
    EXPECT_THAT(statuses(second, "bench"), IsEmpty());
    EXPECT_THAT(read_file(folder.path("some where/table.txt")), Not(HasSubstr("gpu_test")));
}

TEST_F(GpuCheck, WhatCannotBeUsedIsOneSentence) {
    EXPECT_TRUE(refuses(folder.run({"quick"}), {"programs.tar.xz", "run 'scripts/gpu_check pack'"}));
    ASSERT_TRUE(succeeds(folder.run({"pack"})));
    folder.file("a file", "");
    EXPECT_TRUE(refuses(folder.run({"quick", folder.path("a file/out")}), {"the results cannot be written", "a file"}));
    if (geteuid() != 0) {
        std::filesystem::create_directory(folder.root / "read only");
        std::filesystem::permissions(folder.root / "read only",
                                     std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
        EXPECT_TRUE(refuses(folder.run({"quick", folder.path("read only")}), {"the results cannot be written"}));
    }
    const std::string pack = read_file(folder.path("build/gpu_check/programs.tar.xz"));
    for (const std::size_t bytes : {std::size_t{0}, pack.size() / 2, pack.size() - 1}) {
        folder.file("build/gpu_check/programs.tar.xz", pack.substr(0, bytes));
        EXPECT_TRUE(refuses(folder.run({"quick"}), {"programs.tar.xz", "cannot be read"})) << bytes;
    }
    for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                  {"slow"},
                                                  {"quick", "--only", "test"},
                                                  {"full", "--limit", "0"},
                                                  {"quick", "--limit", "-1"},
                                                  {"quick", "--limit", "text"},
                                                  {"pack", "quick", "more"}})
        EXPECT_EQ(folder.run(words).exit_code, 2);
}

TEST_F(GpuCheck, PackNamesAProgramThatIsNotBuilt) {
    std::filesystem::remove(folder.root / "build/release/bin/cairn");
    EXPECT_TRUE(refuses(folder.run({"pack"}), {"build/release/bin/cairn", "is not built"}));
    EXPECT_TRUE(refuses(folder.run({"pack", "--build", folder.path("elsewhere")}), {"elsewhere", "is not built"}));
}

TEST_F(GpuCheck, APackThatIsTooLargeIsRemoved) {
    folder.append("bench/gpu/pack.py", "\n\nMAX_BYTES = 100\n");
    EXPECT_TRUE(refuses(folder.run({"pack"}), {"the pack has", "more than 100"}));
    EXPECT_FALSE(std::filesystem::exists(folder.root / "build/gpu_check/programs.tar.xz"));
}

}  // namespace
}  // namespace cairn::test
