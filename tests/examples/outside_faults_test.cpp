#include "cairn/timing_db.hpp"
#include "tests/apps/models/tiny_model.hpp"
#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

#include <csignal>
#include <limits>

/// Faults in a program's environment: its output, its timing database, the folder of --dump-stages.
namespace cairn::test {
namespace {

class OutsideFaults : public testing::Test {
protected:
    OutsideFaults() {
        tiny_gpt2().write(temp / "gpt2");
        tiny_distilbert().write(temp / "distilbert");
    }
    std::vector<std::string> gpt2(const std::vector<std::string>& more) const {
        return with({"--model", (temp / "gpt2").string(), "--prompt", "ab", "--tokens", "4", "--greedy",
                     "--no-progress", "--threads", "1"},
                    more);
    }
    /// Runs gpt2 in mode normal, which writes the database.
    Outcome tuned(const std::filesystem::path& database, const std::vector<std::string>& more = {}) const {
        return run(CAIRN_GPT2, gpt2(with({"--tune-seconds", "0.2", "--timing-db", database.string()}, more)));
    }
    static std::vector<std::string> with(std::vector<std::string> list, const std::vector<std::string>& more) {
        list.insert(list.end(), more.begin(), more.end());
        return list;
    }
    static Problem problem() {
        const auto symbols = Symbols::create();
        return parse_problem("exp | f32[4] -> f32[4]", *symbols);
    }
    static void record_one(const std::filesystem::path& database) {
        Timing failed;
        failed.status = TimingStatus::failed;
        TimingDb(database).record(problem(), "kernel@1", {}, {}, failed);
    }
    static bool holds_it(const std::filesystem::path& database) {
        return TimingDb(database).find(problem(), "kernel@1", {}, {}).has_value();
    }
    /// Success, with one line on standard error that contains `word`.
    static testing::AssertionResult warns(const Outcome& outcome, const std::string& word) {
        if (lines_of(outcome.err).size() != 1 || outcome.err.find(word) == std::string::npos)
            return testing::AssertionFailure() << outcome.err;
        return succeeds(outcome, outcome.err);
    }
    TempFolder temp;
};

TEST_F(OutsideFaults, TheReaderClosesThePipeAfterTheFirstLine) {
    std::string texts;
    for (int i = 0; i < 5000; ++i) texts += "\"some words to be tokenized\"\n";
    const std::vector<std::string> tokenize{"--tokenizer", (temp / "gpt2").string(), "--input", "-"};
    const Outcome quiet = run(CAIRN_TOKENIZE, tokenize, {.input = texts, .output = Output::first_line});
    EXPECT_EQ(quiet.signal, SIGPIPE);
    EXPECT_EQ(quiet.err, "");
    EXPECT_FALSE(quiet.out.empty());
    Outcome failed =
        run(CAIRN_TOKENIZE, tokenize, {.input = texts, .output = Output::first_line, .ignores_sigpipe = true});
    EXPECT_TRUE(refuses(failed, {"the output cannot be written"}, quiet.out));

    std::string ids;
    for (int i = 0; i < 40; ++i) ids += "[1, 2, 3]\n";
    std::vector<std::string> arguments{"--model",
                                       (temp / "gpt2").string(),
                                       "--mode",
                                       "off",
                                       "--no-progress",
                                       "--threads",
                                       "1",
                                       "--print-logits",
                                       "--prompt-ids",
                                       temp.write("ids", ids).string()};
    const Outcome killed = run(CAIRN_GPT2, arguments, {.output = Output::first_line});
    EXPECT_EQ(killed.signal, SIGPIPE);
    EXPECT_EQ(killed.err, "");
    failed = run(CAIRN_GPT2, arguments, {.output = Output::first_line, .ignores_sigpipe = true});
    EXPECT_TRUE(refuses(failed, {"the output cannot be written"}, killed.out));
}

TEST_F(OutsideFaults, TheDiskIsFull) {
    const RunOptions full{.input = "\"a\"\n", .output = Output::full_disk};
    EXPECT_TRUE(refuses(run(CAIRN_GPT2, gpt2({"--mode", "off"}), full), {"the output cannot be written"}));
    const std::vector<std::string> distilbert{
        "--model", (temp / "distilbert").string(), "--mode", "off", "--no-progress", "a"};
    EXPECT_TRUE(refuses(run(CAIRN_DISTILBERT, distilbert, full), {"the output cannot be written"}));
    const std::vector<std::string> tokenize{"--tokenizer", (temp / "distilbert").string(), "--input", "-"};
    EXPECT_TRUE(refuses(run(CAIRN_TOKENIZE, tokenize, full), {"the output cannot be written"}));
}

TEST_F(OutsideFaults, TimingDatabasesThatCannotBeUsed) {
    const Outcome good = tuned(temp / "good.db");
    EXPECT_TRUE(succeeds(good));
    record_one(temp / "good.db");
    std::filesystem::create_directory(temp / "folder.db");
    temp.write("folder.db/mine", "kept");
    Outcome result = tuned(temp / "folder.db");
    EXPECT_TRUE(warns(result, "folder.db"));
    EXPECT_EQ(result.out, good.out);
    EXPECT_EQ(read_file(temp / "folder.db/mine"), "kept");

    temp.write("file", "kept");
    EXPECT_TRUE(warns(tuned(temp / "file/timings.db"), "file/timings.db"));
    EXPECT_EQ(read_file(temp / "file"), "kept");
    EXPECT_TRUE(refuses(tuned(temp / "missing/timings.db"), {"--timing-db", "missing does not exist"}));
    EXPECT_FALSE(std::filesystem::exists(temp / "missing"));

    const std::string damaged = read_file(temp / "good.db").substr(0, 5000);
    for (const std::string& bytes :
         {std::string("no database at all, but a text of more than one hundred bytes, which is what a header takes, "
                      "so that it is looked at as a whole"),
          damaged}) {
        std::filesystem::remove(temp / "bad.db");
        temp.write("bad.db", bytes);
        EXPECT_TRUE(warns(tuned(temp / "bad.db"), "set aside"));
        EXPECT_EQ(read_file(temp / "bad.db.corrupt"), bytes);
        EXPECT_TRUE(succeeds(tuned(temp / "bad.db"))) << "it was created again";
    }
}

TEST_F(OutsideFaults, FailedRunsStoreTheirTimings) {
    const std::filesystem::path database = temp / "timings.db";
    record_one(database);
    ASSERT_TRUE(holds_it(database));
    EXPECT_TRUE(refuses(tuned(database, {"--nonsense"}), {"--nonsense"}));
    EXPECT_TRUE(refuses(tuned(database, {"--ignore-eos", "--repetition-penalty", "0"}), {"repetition_penalty"}));
    TinyModel damaged = tiny_gpt2();
    damaged.tensor("transformer.ln_f.bias").values[0] = std::numeric_limits<float>::quiet_NaN();
    damaged.write(temp / "gpt2");
    EXPECT_TRUE(refuses(tuned(database), {"weights are damaged"}));
    damaged.erase("transformer.ln_f.bias");
    damaged.write(temp / "gpt2");
    EXPECT_TRUE(refuses(tuned(database), {"transformer.ln_f.bias is missing"}));
    tiny_gpt2().write(temp / "gpt2");
    EXPECT_TRUE(succeeds(tuned(database)));
    EXPECT_TRUE(holds_it(database));
}

TEST_F(OutsideFaults, DumpsThatCannotBeWritten) {
    const std::string file = temp.write("file", "kept").string();
    EXPECT_TRUE(refuses(run(CAIRN_GPT2, gpt2({"--mode", "off", "--dump-stages", file})), {"cannot write", file}));
    EXPECT_TRUE(
        refuses(run(CAIRN_GPT2, gpt2({"--mode", "off", "--dump-stages", "/dev/full"})), {"cannot write", "/dev/full"}));
    EXPECT_EQ(read_file(temp / "file"), "kept");
}

}  // namespace
}  // namespace cairn::test
