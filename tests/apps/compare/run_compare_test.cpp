#include "cairn/ops.hpp"
#include "cairn/weights.hpp"
#include "tests/apps/compare/fake_command.hpp"
#include "tests/apps/compare/json_schema.hpp"
#include "tests/examples/run_program.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>

/// The command, run as a process on the embedded models.
namespace cairn::compare {
namespace {

using nlohmann::json;
using test::Outcome;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string source = CAIRN_SOURCE_DIR;
const std::string classifier = source + "/examples/models/sst2-distilbert",
                  writer = source + "/examples/models/shakespeare-gpt2",
                  words = source + "/examples/models/lexicon.tsv";

std::string entry(const std::string& name, const std::string& kind, const std::string& rest) {
    return "[[implementation]]\nname = \"" + name + "\"\nkind = \"" + kind + "\"\n" + rest + "\n";
}

std::string command_entry(const std::string& name, const std::vector<std::string>& command) {
    return entry(name, "command", "command = " + json(command).dump());
}

class RunCompare : public testing::Test {
protected:
    /// Runs a comparison of the reviews, or of `data`.
    Outcome run(const std::string& task, const std::string& measure, const std::string& implementations,
                std::vector<std::string> options = {},
                const std::string& data = source + "/tests/apps/compare/reviews.jsonl") {
        const std::string config =
            temp.write("c.toml", "task = \"" + task + "\"\n[data]\nfile = \"" + data + "\"\n[measure]\nthreads = 1\n" +
                                     measure + "\n" + implementations)
                .string();
        options.insert(options.begin(), config);
        options.insert(options.end(), {"--json", (temp / "r.json").string()});
        return test::run(CAIRN_COMPARE, options);
    }

    json report() const {
        const json made = json::parse(test::read_file(temp / "r.json"));
        const json schema = json::parse(test::read_file(source + "/docs/compare-report.schema.json"));
        EXPECT_THAT(test::schema_faults(made, schema), IsEmpty());
        return made;
    }

    std::string path(const char* name) const { return (temp / name).string(); }

    test::TempFolder temp;
};

TEST_F(RunCompare, ClassifiersAreTimedAndAgree) {
    const std::string rename =
        "rename_labels = { negative = \"NEGATIVE\", neutral = \"NEGATIVE\", positive = \"POSITIVE\" }";
    const Outcome outcome = run(
        "classify", "iterations = 10\nturns = 2\nbatch_sizes = [1, 3]",
        entry("encoder", "encoder", "model = \"" + classifier + "\"") +
            entry("lexicon", "lexicon", "model = \"" + words + "\"\n" + rename) +
            command_entry("command",
                          test::python_script(
                              temp, test::python_replies("{'id': request['id'], 'seconds': 0, 'answers': [{'label': "
                                                         "'POSITIVE'} for row in request.get('rows', [])]}"))) +
            command_entry("absent", {"no-such-program"}),
        {"--csv", path("r.csv"), "--markdown", path("r.md")});
    EXPECT_TRUE(test::succeeds(outcome));
    EXPECT_THAT(outcome.out, HasSubstr("absent failed: [command] no-such-program does not start"));
    EXPECT_EQ(test::lines_of(test::read_file(temp / "r.csv")).size(), 8U);
    EXPECT_THAT(test::read_file(temp / "r.md"), HasSubstr("| encoder | 3 |"));
    const json made = report();
    const json all = made["implementations"];
    ASSERT_EQ(all.size(), 4U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(all[i]["error"].is_null()) << all[i]["error"];
        ASSERT_EQ(all[i]["times"].size(), 2U) << i;
        EXPECT_EQ(all[i]["times"][1]["seconds"]["count"], 20);
        EXPECT_TRUE(all[i]["times"][1]["seconds"]["p95"].is_number());
        EXPECT_GT(all[i]["load_seconds"], 0);
        EXPECT_GT(all[i]["peak_bytes"], 0);
        EXPECT_EQ(all[i]["calibration"]["count"], 2);
    }
    EXPECT_GT(all[0]["compile_seconds"], 0);
    EXPECT_LE(all[0]["compile_seconds"], all[0]["load_seconds"]);
    EXPECT_GE(all[0]["accuracy"], 0.8);
    EXPECT_EQ(all[1]["accuracy"], 1) << "the lexicon has the words of these reviews";
    EXPECT_EQ(all[2]["accuracy"], 0.5);
    EXPECT_EQ(made["settings"]["data"]["rows"], 7);
    EXPECT_EQ(made["agreements"].size(), 3U);
    EXPECT_EQ(all[3]["error"], "[command] no-such-program does not start: No such file or directory");
    EXPECT_THAT(all[3]["times"], IsEmpty());
}

TEST_F(RunCompare, VectorsOfSentencesAreThoseOfTheHiddenStates) {
    const Outcome outcome = run(
        "embed", "iterations = 1\nturns = 1\nbatch_sizes = [2]",
        entry("a", "encoder", "model = \"" + classifier + "\"") +
            entry("b", "encoder", "model = \"" + classifier + "\"\nmode = \"off\"\ntolerance = 0.05") +
            command_entry(
                "c",
                test::python_script(
                    temp,
                    test::python_replies(
                        "{'id': request['id'], 'answers': [{'values': [1, 2]} for row in request.get('rows', [])]}"))));
    EXPECT_TRUE(test::succeeds(outcome));
    const json agreements = report()["agreements"];
    ASSERT_EQ(agreements.size(), 3U);
    EXPECT_EQ(agreements[0]["other"], "b");
    EXPECT_LT(agreements[0]["difference"], 0.05);
    EXPECT_EQ(agreements[1]["share"], 0);
    EXPECT_TRUE(agreements[1]["difference"].is_null());
}

TEST_F(RunCompare, DecodersContinueTexts) {
    const std::string model = "model = \"" + writer + "\"";
    const Outcome outcome =
        run("generate", "iterations = 2\nturns = 1\nbatch_sizes = [1, 2]\ntokens = 4\nmax_length = 6",
            entry("a", "decoder", model) + entry("b", "decoder", model));
    EXPECT_TRUE(test::succeeds(outcome));
    const json made = report();
    EXPECT_EQ(made["agreements"][0]["share"], 1);
    EXPECT_EQ(made["implementations"][1]["times"].size(), 2U);
    EXPECT_THAT(run("generate", "tokens = 300", entry("a", "decoder", model)).out,
                HasSubstr("a failed: [decoder] the model has 256 positions"));
}

/// A graph y[B] = sum over two elements of x w, its weights, and rows of its input.
TEST_F(RunCompare, GraphsRunOnNumbers) {
    Graph graph("g");
    const Dim batch = graph.symbol("B", 1, 8);
    const Tensor x = graph.input("x", DType::f32, {batch, 2});
    graph.output("y", x * graph.weight("w", DType::f32, {2}));
    temp.write("g.cairn", to_string(graph));
    const std::vector<float> w{2, 3};
    write_safetensors(temp / "w.safetensors", {{"w", {.data = w.data(), .dtype = DType::f32, .shape = {2}}}});
    const std::string data = temp.write("d.jsonl",
                                        "{\"inputs\": {\"x\": [1, 2]}, \"label\": \"right\"}\n{\"inputs\": {\"x\": [5, "
                                        "1]}, \"label\": \"left\"}\n")
                                 .string();
    const std::string graph_entry = "model = \"g.cairn\"\nweights = \"w.safetensors\"\n";
    const std::string measure = "iterations = 2\nturns = 1\nbatch_sizes = [1, 3]";
    const Outcome outcome = run(
        "run", measure,
        entry("graph", "graph", graph_entry + "labels = [\"left\", \"right\"]") +
            command_entry("python",
                          test::python_script(
                              temp, test::python_replies("{'id': request['id'], 'answers': [{'values': [2 * r['x'][0], "
                                                         "3 * r['x'][1]]} for r in request.get('rows', [])]}"))) +
            entry("two labels", "graph", graph_entry + "labels = [\"one\"]") +
            entry("unbatched", "graph", graph_entry + "batched = false") +
            entry("no weights", "graph", "model = \"g.cairn\"") + entry("no graph", "graph", "model = \"none.cairn\""),
        {}, data);
    EXPECT_TRUE(test::succeeds(outcome));
    const json made = report();
    EXPECT_EQ(made["implementations"][0]["accuracy"], 1);
    ASSERT_EQ(made["agreements"].size(), 1U);
    EXPECT_EQ(made["agreements"][0]["share"], 1);
    EXPECT_EQ(made["agreements"][0]["difference"], 0);
    for (const char* why :
         {"two labels failed: [graph] 1 labels are named, and a row has 2 values",
          "unbatched failed: [graph] batched = false permits batches of one row only",
          "no weights failed: [graph] the graph has weights, and weights is missing", "no graph failed: [read] "})
        EXPECT_THAT(outcome.out, HasSubstr(why));
    const std::string wrong = temp.write("e.jsonl", "{\"inputs\": {\"z\": [1, 2]}}\n").string();
    EXPECT_THAT(run("run", measure, entry("graph", "graph", graph_entry), {}, wrong).out,
                HasSubstr("graph failed: [graph] a row has no input \"x\""));
}

TEST_F(RunCompare, GraphsWithoutRowsTakeWholeInputs) {
    Graph graph("g");
    graph.output("y", sum(graph.input("x", DType::i32, {2, 2})));
    temp.write("g.cairn", to_string(graph));
    const std::string data =
        temp.write("d.jsonl", "{\"inputs\": {\"x\": [[1, 2], [3, 4]]}, \"label\": \"total\"}\n").string();
    const Outcome outcome = run("run", "iterations = 1\nturns = 1",
                                entry("whole", "graph", "model = \"g.cairn\"\nbatched = false\nlabels = [\"total\"]") +
                                    entry("rows", "graph", "model = \"g.cairn\""),
                                {}, data);
    EXPECT_TRUE(test::succeeds(outcome));
    EXPECT_EQ(report()["implementations"][0]["accuracy"], 1);
    EXPECT_FALSE(report()["implementations"][1]["error"].is_null()) << "x has no axis of rows";
}

TEST_F(RunCompare, AReportIsComparedWithAnEarlierOne) {
    const std::string measure = "iterations = 5\nturns = 1",
                      lexicon = entry("lexicon", "lexicon", "model = \"" + words + "\"");
    ASSERT_TRUE(test::succeeds(run("classify", measure, lexicon)));
    const json before = report();
    const auto against = [&](double factor) {
        json old = before;
        json& seconds = old["implementations"][0]["times"][0]["seconds"]["p50"];
        seconds = seconds.get<double>() * factor;
        return run("classify", measure, lexicon, {"--compare", temp.write("old.json", old.dump()).string()});
    };
    const Outcome slower = against(0.001), faster = against(1000);
    EXPECT_EQ(slower.exit_code, 1) << slower.err;
    EXPECT_THAT(slower.out, HasSubstr("  SLOWER\n"));
    EXPECT_TRUE(test::succeeds(faster));
    EXPECT_THAT(faster.out, HasSubstr("lexicon, batch 1: "));
    EXPECT_THAT(faster.out, testing::Not(HasSubstr("SLOWER")));
    const Outcome other = run("classify", "iterations = 6\nturns = 1", lexicon, {"--compare", path("old.json")});
    EXPECT_TRUE(test::refuses(other, {"[compare] measure.iterations was 5 and is 6: the reports cannot be compared"}));
    const Outcome fails = run("classify", measure, entry("lexicon", "lexicon", "model = \"none\""),
                              {"--compare", path("old.json"), "--allowed-slowdown", "1000"});
    EXPECT_EQ(fails.exit_code, 1);
    EXPECT_THAT(fails.out, HasSubstr("lexicon failed: [lexicon] "));
}

TEST_F(RunCompare, CtrlCReportsWhatWasMeasured) {
    const std::string signals = test::python_replies(
        "{'id': request['id'], 'answers': [{'label': 'x'} for row in request.get('rows', [])]} "
        "if request['id'] != 30 else os.kill(os.getppid(), signal.SIGINT) or time.sleep(60)");
    const Outcome outcome =
        run("classify", "iterations = 5\nturns = 4",
            entry("lexicon", "lexicon", "model = \"" + words + "\"") +
                command_entry("signals", test::python_script(temp, "import os, signal, time\n" + signals)));
    EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("The comparison was stopped"));
    const json made = report();
    EXPECT_EQ(made["complete"], false);
    // Request 30 is the first but 20 of the turns, behind loading, 3 for warm-up and 7 rows.
    EXPECT_EQ(made["implementations"][1]["times"][0]["seconds"]["count"], 30 - 1 - 3 - 7);
    EXPECT_GE(made["implementations"][0]["times"][0]["seconds"]["count"], 15);
}

TEST_F(RunCompare, FaultsAreOneSentence) {
    const std::string lexicon = entry("lexicon", "lexicon", "model = \"" + words + "\"");
    EXPECT_TRUE(test::refuses(run("classify", "turn = 1", lexicon),
                              {"c.toml:6: there is no key turn in [measure], the nearest is turns"}));
    EXPECT_TRUE(test::refuses(run("classify", "", lexicon, {}, "/no/such/data"), {"[read] /no/such/data"}));
    EXPECT_TRUE(test::refuses(run("classify", "", lexicon, {"--csv", "/no/such/folder/r.csv"}), {"[write] "}));
    EXPECT_TRUE(test::refuses(run("classify", "", lexicon, {"--compare", "/no/such/report"}), {"[read] "}));
    EXPECT_TRUE(test::refuses(test::run(CAIRN_COMPARE, {}), {"[command line] "}));
    EXPECT_TRUE(test::refuses(test::run(CAIRN_COMPARE, {"c", "--allowed-slowdown", "0.1"}), {"[command line] "}));
    EXPECT_FALSE(std::filesystem::exists(temp / "r.json"));
}

/// The adapters' Python module for the protocol.
TEST_F(RunCompare, PythonProgramsUseTheModuleOfTheProtocol) {
    const std::string adapter = "import sys\nsys.path.insert(0, \"" + source +
                                "/src/apps/compare/adapters\")\nimport protocol\n"
                                "class Model:\n"
                                "    versions = {\"none\": \"1\"}\n"
                                "    def __init__(self, request):\n"
                                "        print('noise that is no answer')\n"
                                "        self.task = request['task']\n"
                                "    def answer(self, rows):\n"
                                "        return [{'label': self.task, 'values': [len(row)]} for row in rows]\n"
                                "protocol.serve(Model)\n";
    const Outcome outcome = run("classify", "iterations = 2\nturns = 1\nbatch_sizes = [4]",
                                command_entry("adapter", test::python_script(temp, adapter)));
    EXPECT_TRUE(test::succeeds(outcome));
    const json adapted = report()["implementations"][0];
    EXPECT_TRUE(adapted["error"].is_null()) << adapted["error"];
    EXPECT_EQ(adapted["versions"], json({{"none", "1"}}));
    EXPECT_TRUE(adapted["times"][0]["overhead"].is_number());
    const std::string broken = "import sys\nsys.path.insert(0, \"" + source +
                               "/src/apps/compare/adapters\")\nimport protocol\nimport no_such_module\n";
    EXPECT_THAT(
        run("classify", "", command_entry("adapter", test::python_script(temp, broken))).out,
        HasSubstr("adapter failed: [command] it ended with exit code 1 before it answered: ModuleNotFoundError"));
}

}  // namespace
}  // namespace cairn::compare
