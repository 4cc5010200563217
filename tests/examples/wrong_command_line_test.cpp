#include "tests/examples/run_program.hpp"

/// Wrong options are reported before a model is read, with nothing on standard output.
namespace cairn::test {
namespace {

struct Case {
    std::vector<std::string> arguments;
    std::vector<std::string> words;
};

void refuse_all(const std::string& program, const std::vector<std::string>& always, const std::vector<Case>& cases) {
    for (const Case& c : cases) {
        std::vector<std::string> arguments = always;
        arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
        const Outcome result = run(program, arguments);
        EXPECT_TRUE(refuses(result, c.words)) << testing::PrintToString(c.arguments);
        EXPECT_LT(result.err.size(), 200U) << result.err;
    }
}

TEST(WrongCommandLine, OptionsOfAllModelPrograms) {
    const std::vector<Case> cases = {
        {{"--nonsense"}, {"--nonsense"}},
        {{"--two\nlines"}, {"--two"}},
        {{"--threads"}, {"--threads"}},
        {{"--threads", "0"}, {"--threads", "at least 1, got 0"}},
        {{"--threads", "-3"}, {"at least 1, got -3"}},
        {{"--threads", "two"}, {"at least 1, got two"}},
        {{"--threads", "1.5"}, {"at least 1, got 1.5"}},
        {{"--threads", ""}, {"--threads"}},
        {{"--threads", "100000"}, {"4096 threads, got 100000"}},
        {{"--threads", "99999999999999999999"}, {"--threads", "99999999999999999999"}},
        {{"--mode", "fastest"}, {"--mode", "fastest"}},
        {{"--tune-seconds", "-1"}, {"--tune-seconds", "got -1"}},
        {{"--tune-seconds", "nan"}, {"--tune-seconds", "got nan"}},
        {{"--tune-seconds", "inf"}, {"--tune-seconds", "got inf"}},
        {{"--tune-seconds", "soon"}, {"--tune-seconds", "got soon"}},
        {{"--disable", "everything"}, {"no stage called \"everything\""}},
        {{"--model", "/no/such/folder"}, {"/no/such/folder"}},
        {{"--model", ""}, {}},
    };
    refuse_all(CAIRN_GPT2, {"--prompt", "a"}, cases);
    refuse_all(CAIRN_DISTILBERT, {"a"}, cases);
}

TEST(WrongCommandLine, Gpt2) {
    const std::string model = std::string(CAIRN_SOURCE_DIR) + "/examples/models/shakespeare-gpt2";
    refuse_all(CAIRN_GPT2, {},
               {{{}, {"prompt is empty"}},
                {{"--prompt", ""}, {"prompt is empty"}},
                {{"--score", "/no/such/file"}, {"/no/such/file"}},
                {{"--prompt", "a", "--synthetic"}, {"--synthetic has no tokenizer"}},
                {{"--prompt-ids", ""}, {"prompt is empty"}}});
    refuse_all(CAIRN_GPT2, {"--prompt", "a", "--model", model},
               {{{"--tokens", "-1"}, {"--tokens", "at least 0, got -1"}},
                {{"--tokens", "many"}, {"at least 0, got many"}},
                {{"--tokens", "1e3"}, {"at least 0, got 1e3"}},
                {{"--tokens", "99999999999999999999"}, {"--tokens", "99999999999999999999"}},
                {{"--temperature", "-0.5"}, {"temperature", "got -0.5"}},
                {{"--temperature", "nan"}, {"temperature", "got nan"}},
                {{"--temperature", "inf"}, {"temperature", "got inf"}},
                {{"--temperature", "hot"}, {"--temperature", "hot"}},
                {{"--top-p", "1.5"}, {"top_p", "got 1.5"}},
                {{"--top-p", "0"}, {"top_p", "got 0"}},
                {{"--top-p", "nan"}, {"top_p", "got nan"}},
                {{"--top-k", "-1"}, {"top_k", "got -1"}},
                {{"--top-k", "99999999999"}, {"--top-k", "99999999999"}},
                {{"--repetition-penalty", "0"}, {"repetition_penalty", "got 0"}},
                {{"--seed", "now"}, {"--seed", "now"}},
                {{"--prompt-ids", "/dev/null"}, {"not both"}},
                {{"a stray word"}, {"a stray word"}}});
}

TEST(WrongCommandLine, DistilBert) {
    refuse_all(CAIRN_DISTILBERT, {},
               {{{}, {"give one of"}},
                {{"a", "--input", "b"}, {"give one of"}},
                {{"--input", "a", "--input-ids", "b"}, {"give one of"}},
                {{"--synthetic", "a"}, {"--synthetic has no tokenizer"}},
                {{"one", "two"}, {"two"}},
                {{"a", "--batch", "0"}, {"--batch", "at least 1, got 0"}},
                {{"a", "--batch", "all"}, {"at least 1, got all"}},
                {{"a", "--batch", "99999999999999999999"}, {"--batch", "99999999999999999999"}}});
}

TEST(WrongCommandLine, OptionsWithoutEffect) {
    const std::vector<Case> shared = {
        {{"--mode", "cached", "--tune-seconds", "1"}, {"--tune-seconds has no effect", "mode cached"}},
        {{"--mode", "off", "--timing-db", "t.db"}, {"--timing-db has no effect", "mode off"}},
        {{"--explain", "--cache-dir", "k"}, {"--cache-dir has no effect"}},
        {{"--save-graph", "g", "--threads", "2"}, {"--threads has no effect", "compiles nothing"}},
        {{"--synthetic", "--model", "m"}, {"--model has no effect"}},
        {{"--synthetic", "--cache-dir", "k"}, {"--cache-dir has no effect"}},
    };
    refuse_all(CAIRN_GPT2, {}, shared);
    refuse_all(CAIRN_DISTILBERT, {}, shared);
    refuse_all(CAIRN_GPT2, {},
               {{{"--score", "f", "--prompt", "a"}, {"--prompt has no effect"}},
                {{"--score", "f", "--temperature", "2"}, {"--temperature has no effect"}},
                {{"--report", "--tokens", "3"}, {"--tokens has no effect"}},
                {{"--report", "--explain"}, {"--explain has no effect"}},
                {{"--explain", "--prompt", "a"}, {"--prompt has no effect"}},
                {{"--save-graph", "g", "--report"}, {"--report has no effect"}},
                {{"--prompt", "a", "--greedy", "--temperature", "0.5"}, {"--temperature has no effect"}},
                {{"--prompt", "a", "--greedy", "--seed", "1"}, {"--seed has no effect"}},
                {{"--prompt", "a", "--temperature", "0", "--top-k", "5"}, {"--top-k has no effect"}}});
    refuse_all(CAIRN_DISTILBERT, {},
               {{{"a", "--lines"}, {"--lines has no effect"}},
                {{"--input-ids", "f", "--json"}, {"--json has no effect"}},
                {{"--input-ids", "f", "--batch", "2"}, {"--batch has no effect"}},
                {{"--input-ids", "f", "--max-length", "9"}, {"--max-length has no effect"}},
                {{"a", "--explain"}, {"text has no effect"}},
                {{"a", "--max-length", "1"}, {"--max-length", "at least 2, got 1"}},
                {{"a", "--max-length", "129"}, {"--max-length 129", "the 128 positions of the model"}}});
    refuse_all(CAIRN_TOKENIZE, {},
               {{{"--tokenizer", "t", "--input", "-", "--decode", "--no-special"}, {"--no-special"}}});
}

TEST(WrongCommandLine, Tokenize) {
    const std::string folder = std::string(CAIRN_SOURCE_DIR) + "/tests/data/gpt2";
    refuse_all(CAIRN_TOKENIZE, {},
               {{{}, {"--tokenizer is required"}},
                {{"--tokenizer", folder}, {"--input is required"}},
                {{"--tokenizer", folder, "--input", "-", "--backwards"}, {"--backwards"}},
                {{"--tokenizer", "/no/such/folder", "--input", "-"}, {"/no/such/folder"}},
                {{"--tokenizer", folder, "--input", "/no/such/file"}, {"/no/such/file"}},
                {{"--tokenizer", folder, "--input", "/tmp"}, {"/tmp"}}});
}

TEST(WrongCommandLine, HelpIsNotAnError) {
    for (const char* program : {CAIRN_GPT2, CAIRN_DISTILBERT, CAIRN_TOKENIZE}) {
        const Outcome result = run(program, {"--help"});
        EXPECT_TRUE(succeeds(result)) << program;
        EXPECT_NE(result.out.find("--"), std::string::npos);
    }
}

}  // namespace
}  // namespace cairn::test
